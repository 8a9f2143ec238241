// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/inventory_json.h"

namespace neuroncheck::trace {

/// Answers a `trace` request of docs/worker-protocol.md: every case in a sandboxed child of this
/// process, many in one child, each bounded in time and memory. A crash or a case without end costs
/// that case alone. Throws nlohmann::json exceptions for a request that is not as documented; the
/// answer is `{"error": text}` when the recorder cannot be loaded. The caller must be
/// single-threaded.
[[nodiscard]] Json answerTrace(const nlohmann::json& request);

}  // namespace neuroncheck::trace
