// SPDX-License-Identifier: Apache-2.0
#include "core/outcome.h"

#include <algorithm>
#include <array>

namespace neuroncheck {
namespace {

// Worst first. States that only an expectation or a comparison of runs gives stand last: they never
// meet another one.
constexpr std::array<CaseState, kCaseStateCount> kWorstFirst{CaseState::Crash,
                                                             CaseState::Timeout,
                                                             CaseState::Oom,
                                                             CaseState::Unsupported,
                                                             CaseState::CompileError,
                                                             CaseState::RunError,
                                                             CaseState::AliasLost,
                                                             CaseState::ShapeDtypeMismatch,
                                                             CaseState::NanInf,
                                                             CaseState::Mismatch,
                                                             CaseState::Degraded,
                                                             CaseState::AsUpstream,
                                                             CaseState::ReferenceError,
                                                             CaseState::Flake,
                                                             CaseState::OrderDependent,
                                                             CaseState::PassFallback,
                                                             CaseState::Mistrusted,
                                                             CaseState::NotComparable,
                                                             CaseState::PassWeak,
                                                             CaseState::Pass,
                                                             CaseState::UnexpectedPass,
                                                             CaseState::ExpectedFail,
                                                             CaseState::Skip,
                                                             CaseState::NotRun,
                                                             CaseState::Missing};

}  // namespace

Outcome begun(Outcome planned) {
  planned.state = CaseState::Crash;
  planned.stage = kBegunStage;
  planned.message = "begun, and the run ended before the case did";
  return planned;
}

bool isUnfinished(const Outcome& outcome) {
  // A case that came to the word not-run (a library is absent) was looked at in some process.
  return (outcome.state == CaseState::NotRun && outcome.runs == 0) ||
         (outcome.state == CaseState::Crash && outcome.stage == kBegunStage);
}

CaseState worse(CaseState a, CaseState b) {
  return std::min(a, b, [](CaseState left, CaseState right) {
    return std::ranges::find(kWorstFirst, left) < std::ranges::find(kWorstFirst, right);
  });
}

}  // namespace neuroncheck
