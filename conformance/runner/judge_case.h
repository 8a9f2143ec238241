// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "conformance/plan/fills.h"
#include "conformance/runner/random_case.h"
#include "core/inventory_json.h"
#include "core/outcome.h"
#include "core/result.h"
#include "core/schema.h"

namespace neuroncheck::conformance {

/// What the two workers said of one attempt, and the memory their tensors lie in. The members are
/// those of docs/worker-protocol.md.
struct AttemptEvidence {
  const Json* device = nullptr;     ///< its answer of "run_cases", with outputs
  const Json* reference = nullptr;  ///< its answer of "reference"
  std::span<const std::byte> memory;
  /// Where the storages of the root operands of the last step lie.
  std::span<const std::uint64_t> operands;
  /// Asks the reference for hypotheses, by name: its answer with their values, or an Error.
  std::function<Result<const Json*>(const std::string& hypothesis)> explain;
  /// Runs the operator again on the device, for what is judged by many results.
  Draw draw;
  Draw drawOnCpu;                         ///< the same on the CPU, whatever the device
  std::span<const std::byte> cotangents;  ///< of a gradient case, as fp32
};

/// How an attempt is judged.
struct AttemptPlan {
  const CaseSpec* spec = nullptr;
  const FunctionSchema* schema = nullptr;  ///< of the last step; null when the catalogue lacks it
  const numerics::OpRule* rule = nullptr;  ///< null: not comparable, by name
  FillChoice choice;
  std::uint64_t seed = 0;
};

/// Compares what came back with what should have: number, dtype and sizes of the results, which
/// operands they share storage with and which were written, then the numbers of each. Both
/// workers must have come to the end of the attempt.
[[nodiscard]] AttemptOutcome judgeAttempt(const AttemptPlan& plan, const AttemptEvidence& evidence);

}  // namespace neuroncheck::conformance
