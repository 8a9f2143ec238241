// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace neuroncheck::torch_host {

/// The first message of a worker: protocol, versions, what the kernel gives for isolation
/// (docs/worker-protocol.md).
[[nodiscard]] nlohmann::json handshake();

/// Answers one request. Whatever is wrong with it or with the file it names becomes
/// `{"error": text}`; never throws.
[[nodiscard]] nlohmann::json answer(const nlohmann::json& request);

}  // namespace neuroncheck::torch_host
