// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/plan/case_arguments.h"
#include "conformance/runner/random_case.h"
#include "numerics/random/random_finding.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::conformance {

/// Operands and results of one run of a random operator.
struct RandomSample {
  const RandomOp* op = nullptr;
  const CaseStep* step = nullptr;
  const FunctionSchema* schema = nullptr;
  const Json* answer = nullptr;  ///< of a worker
  std::span<const std::uint64_t> operands;
  std::span<const std::byte> memory;
  /// Numbers in fp32 that the first output was weighted with in the backward pass.
  std::span<const std::byte> cotangents;
};

/// First-stage findings, in an order that depends on the operator alone.
struct RandomFindings {
  std::vector<std::vector<numerics::RandomFinding>> outputs;
  std::optional<numerics::RandomFinding> gradient;
  std::string what;            ///< "uniform(0, 1)", "dropout of p = 0.5"
  bool deterministic = false;  ///< nothing is left to chance: p = 0, or no training
};

/// Input error for what is not judged, in words.
[[nodiscard]] Result<RandomFindings> findingsOf(const RandomSample& sample);

}  // namespace neuroncheck::conformance
