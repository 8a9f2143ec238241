// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/runner/judge_case.h"

namespace neuroncheck::conformance {

/// What the outputs of a factorisation, a solution or an inverse come to together.
struct FactorOutcome {
  std::vector<std::size_t> outputs;  ///< those that are judged by it
  CaseState state = CaseState::NotComparable;
  std::string cause;
  std::string reason;
  std::string rule;  ///< "I factorisation: A - Q R 0.1, Q^T Q - I 0.2"
  std::int64_t elements = 0;
  double ratio = 0;  ///< the largest residual over its limit
};

/// Judges the outputs of class I by what they multiply to (rule 26 of docs/verdicts.md), matrix by
/// matrix of a batch; the worst of them counts. nullopt for an operator that no residual is known
/// of. `not-comparable` with the reason where the operands are not of a kind that is judged.
[[nodiscard]] std::optional<FactorOutcome> judgeFactors(const AttemptPlan& plan,
                                                        const AttemptEvidence& evidence);

}  // namespace neuroncheck::conformance
