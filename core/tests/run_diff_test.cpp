// SPDX-License-Identifier: Apache-2.0
#include "core/run_diff.h"

#include <gmock/gmock.h>

namespace neuroncheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Outcome outcomeOf(const char* id, CaseState state) {
  Outcome out;
  out.id = id;
  out.text = std::string("case ") + id;
  out.state = state;
  out.attempts = {{.fill = "G3.0", .seed = 1, .state = state, .outputs = {OutputOutcome{}}}};
  out.attempts[0].outputs[0].what = "output 0";
  out.attempts[0].outputs[0].rule = "F";
  out.attempts[0].outputs[0].maxAbs = 1;
  return out;
}

RunRecord runOf(std::vector<Outcome> outcomes) {
  RunRecord record;
  record.device = "sim";
  record.outcomes = std::move(outcomes);
  return record;
}

TEST(RunDiff, OfARunWithItselfIsEmpty) {
  const RunRecord run = runOf({outcomeOf("a", CaseState::Pass), outcomeOf("b", CaseState::Crash)});
  const RunDiff diff = diffRuns(run, run);
  EXPECT_TRUE(diff.nothingChanged());
  EXPECT_EQ(diff.same, 2U);
  EXPECT_THAT(diff.unlike, IsEmpty());
  EXPECT_THAT(diff.drifted, IsEmpty());
}

TEST(RunDiff, StatesThatChangedAndCasesThatCameOrWent) {
  const RunDiff diff =
      diffRuns(runOf({outcomeOf("a", CaseState::Pass), outcomeOf("b", CaseState::Pass)}),
               runOf({outcomeOf("c", CaseState::Pass), outcomeOf("a", CaseState::Mismatch)}));
  ASSERT_EQ(diff.changed.size(), 1U);
  EXPECT_EQ(diff.changed[0].before, CaseState::Pass);
  EXPECT_EQ(diff.changed[0].after, CaseState::Mismatch);
  ASSERT_EQ(diff.gone.size(), 1U);
  EXPECT_EQ(diff.gone[0].id, "b");
  ASSERT_EQ(diff.added.size(), 1U);
  EXPECT_EQ(diff.added[0].id, "c");
  EXPECT_FALSE(diff.nothingChanged());
}

TEST(RunDiff, SaysWhy) {
  const auto whyOf = [](const Outcome& after) {
    const RunDiff diff = diffRuns(runOf({outcomeOf("a", CaseState::Pass)}), runOf({after}));
    return diff.drifted.empty() ? std::vector<std::string>() : diff.drifted[0].why;
  };
  Outcome after = outcomeOf("a", CaseState::Pass);
  after.attempts[0].outputs[0].rule = "A";
  EXPECT_THAT(whyOf(after), ElementsAre(HasSubstr("tolerance: output 0 was judged by 'F'")));
  after = outcomeOf("a", CaseState::Pass);
  after.attempts[0].outputs[0].maxAbs = 2;
  EXPECT_THAT(whyOf(after), ElementsAre(HasSubstr("error: ")));
  after = outcomeOf("a", CaseState::Pass);
  after.message = "other words";
  EXPECT_THAT(whyOf(after), ElementsAre("message: '', now 'other words'"));
}

TEST(RunDiff, EvidenceThatChangedIsNamed) {
  const auto claimed = [](Claim claim) {
    RunRecord run = runOf({outcomeOf("a", CaseState::Pass)});
    UseClaim use;
    use.claim = claim;
    use.caseIds = {"a"};
    run.inputs.emplace_back().assessment.models.emplace_back().uses = {use};
    return run;
  };
  const RunDiff diff = diffRuns(claimed(Claim::Native), claimed(Claim::CpuFallback));
  ASSERT_EQ(diff.drifted.size(), 1U);
  EXPECT_THAT(diff.drifted[0].why, ElementsAre("evidence: claimed native, now cpu-fallback"));
}

TEST(RunDiff, UnlikeRunsAreNamed) {
  RunRecord other = runOf({});
  other.environment.compiler = "2.21";
  other.simulated = true;
  EXPECT_THAT(diffRuns(runOf({}), other).unlike, ElementsAre("device: 'sim', now 'sim (simulated)'",
                                                             "compiler: 'unknown', now '2.21'"));
}

}  // namespace
}  // namespace neuroncheck
