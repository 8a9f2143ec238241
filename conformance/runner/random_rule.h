// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/runner/judge_case.h"
#include "numerics/random/random_finding.h"

namespace neuroncheck::conformance {

/// What the tests of one output, or of a gradient, come to.
struct RandomOutcome {
  CaseState state = CaseState::NotComparable;
  std::string cause;   ///< the test that fails
  std::string reason;  ///< one sentence
  std::string rule;    ///< "J random: uniform(0, 1), n = 65536"
  std::int64_t samples = 0;
};

/// How an attempt of a random operator (class J) is judged: one outcome for each output, and one
/// for the gradients of a gradient case. The results of the case itself are looked at for what no
/// chance excuses (values the distribution cannot take, survivors of dropout scaled wrongly); for
/// the rest the same operator is drawn on as many elements as a test needs, with three seeds, and
/// once more on four times as many where the first look asks for it (rule 24 of docs/verdicts.md).
struct RandomJudgement {
  std::vector<RandomOutcome> outputs;
  std::optional<RandomOutcome> gradient;
};
[[nodiscard]] RandomJudgement judgeRandom(const AttemptPlan& plan, const AttemptEvidence& evidence);

}  // namespace neuroncheck::conformance
