// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace neuroncheck::casework {

/// Answers of the requests "run_cases", "reference" and "dispatch_table" of
/// docs/worker-protocol.md. Throws what nlohmann throws when the request makes no sense.
[[nodiscard]] nlohmann::json answerRunCases(const nlohmann::json& request);
[[nodiscard]] nlohmann::json answerReference(const nlohmann::json& request);
[[nodiscard]] nlohmann::json answerDispatchTable(const nlohmann::json& request);

}  // namespace neuroncheck::casework
