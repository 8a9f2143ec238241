// SPDX-License-Identifier: Apache-2.0
#include "runstore/merge.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "runstore/tests/outcome_samples.h"

namespace neuroncheck::runstore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::outcomeOf;
using testing::runOf;
using testing::sameBits;

RunRecord mergedOf(const RunRecord& a, const RunRecord& b) {
  auto out = merge(a, b);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(out->record);
}

/// A run of few cases and few states, so that runs meet often.
RunRecord anyRun() {
  const auto count = *rc::gen::inRange<std::size_t>(0, 6);
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < count; ++i) {
    const int number = *rc::gen::inRange(0, 8);
    if (std::ranges::any_of(outcomes,
                            [&](const Outcome& each) { return each.id == outcomeOf(number).id; })) {
      continue;
    }
    Outcome outcome =
        outcomeOf(number, *rc::gen::element(CaseState::Pass, CaseState::Mismatch, CaseState::Crash,
                                            CaseState::NotRun, CaseState::UnexpectedPass));
    outcome.stage = *rc::gen::element<std::string>("judge", std::string(kBegunStage));
    outcome.runs = *rc::gen::inRange(0, 2);
    outcome.seconds = *rc::gen::inRange(0, 2);
    outcome.uses = *rc::gen::inRange(0, 3);
    outcome.models = *rc::gen::element(std::vector<std::string>{}, std::vector<std::string>{"b"},
                                       std::vector<std::string>{"c", "a"});
    outcomes.push_back(std::move(outcome));
  }
  RunRecord run = runOf(std::move(outcomes));
  run.environment.host = *rc::gen::element<std::string>("h1", "h2");
  run.tool = *rc::gen::element<std::string>("neuron-check 0.1.0", "neuron-check 0.2.0");
  run.command = {*rc::gen::element<std::string>("a", "b")};
  run.shard = *rc::gen::element<std::string>("1/3", "2/3", "3/3", "");
  run.started = *rc::gen::element<std::string>("2026-12-01", "2026-12-02");
  run.finished = *rc::gen::element<std::string>("2026-12-03", "2026-12-04", "");
  run.notRun = {{.what = *rc::gen::element<std::string>("x", "y"), .why = "w", .how = "h"}};
  run.target.chipDefaulted = *rc::gen::arbitrary<bool>();
  for (const std::string& path :
       *rc::gen::element(std::vector<std::string>{}, std::vector<std::string>{"m", "n"},
                         std::vector<std::string>{"o", "m"})) {
    run.inputs.emplace_back().inventory.path = path;
  }
  return run;
}

void expectSame(const RunRecord& a, const RunRecord& b, bool inputsInOrder = true) {
  RC_ASSERT(sameBits(a.outcomes, b.outcomes));
  RC_ASSERT(a.notRun == b.notRun);
  RC_ASSERT(a.environment == b.environment);
  RC_ASSERT(a.tool == b.tool);
  RC_ASSERT(a.command == b.command);
  RC_ASSERT(a.shard == b.shard);
  RC_ASSERT(a.started == b.started);
  RC_ASSERT(a.finished == b.finished);
  RC_ASSERT(a.target.chipDefaulted == b.target.chipDefaulted);
  const auto paths = [&](const RunRecord& run) {
    std::vector<std::string> out;
    for (const InputResult& input : run.inputs) {
      out.push_back(input.inventory.path);
    }
    if (!inputsInOrder) {
      std::ranges::sort(out);
    }
    return out;
  };
  RC_ASSERT(paths(a) == paths(b));
}

RC_GTEST_PROP(Merge, IsAssociative, ()) {
  const RunRecord a = anyRun();
  const RunRecord b = anyRun();
  const RunRecord c = anyRun();
  expectSame(mergedOf(mergedOf(a, b), c), mergedOf(a, mergedOf(b, c)));
}

RC_GTEST_PROP(Merge, IsIdempotent, ()) {
  const RunRecord a = anyRun();
  const RunRecord once = mergedOf(a, a);
  expectSame(mergedOf(once, a), once);
  expectSame(mergedOf(once, once), once);
  RC_ASSERT(once.outcomes.size() == a.outcomes.size());
}

RC_GTEST_PROP(Merge, DoesNotDependOnTheOrder, ()) {
  const RunRecord a = anyRun();
  const RunRecord b = anyRun();
  expectSame(mergedOf(a, b), mergedOf(b, a), false);
}

RC_GTEST_PROP(Merge, LosesNoCaseAndNoEndedOutcome, ()) {
  const RunRecord a = anyRun();
  const RunRecord b = anyRun();
  const RunRecord both = mergedOf(a, b);
  for (const RunRecord* run : {&a, &b}) {
    for (const Outcome& outcome : run->outcomes) {
      const auto found = std::ranges::find(both.outcomes, outcome.id, &Outcome::id);
      RC_ASSERT(found != both.outcomes.end());
      RC_ASSERT(isUnfinished(outcome) || !isUnfinished(*found));
      RC_ASSERT(isUnfinished(outcome) || worse(found->state, outcome.state) == found->state);
    }
  }
}

TEST(Merge, NamesDuplicatesAndKeepsTheWorse) {
  const auto out = merge(runOf({outcomeOf(1, CaseState::Pass), outcomeOf(2)}),
                         runOf({outcomeOf(1, CaseState::Mismatch), outcomeOf(2)}));
  ASSERT_TRUE(out);
  ASSERT_EQ(out->duplicates.size(), 2U);
  EXPECT_EQ(out->duplicates[0].text, "aten::relu(f32[1])");
  EXPECT_EQ(out->duplicates[0].kept, CaseState::Mismatch);
  EXPECT_EQ(out->duplicates[0].dropped, CaseState::Pass);
  EXPECT_FALSE(out->duplicates[0].same);
  EXPECT_TRUE(out->duplicates[1].same);
  EXPECT_EQ(out->record.outcomes[0].state, CaseState::Mismatch);
}

TEST(Merge, RefusesWhatIsNotOneRun) {
  const RunRecord run = runOf({outcomeOf(1)});
  const auto refused = [&](const RunRecord& other) {
    const auto out = merge(run, other);
    return out ? std::string("taken") : out.error().text();
  };
  RunRecord other = run;
  other.device = "cuda";
  EXPECT_THAT(refused(other), HasSubstr("unlike devices"));
  other = run;
  other.simulated = false;
  EXPECT_THAT(refused(other), HasSubstr("'sim (simulated)' and 'sim'"));
  other = run;
  other.seed = 1;
  EXPECT_THAT(refused(other), HasSubstr("unlike seeds"));
  other = run;
  other.target.chip = "trn3";
  EXPECT_THAT(refused(other), HasSubstr("unlike targets"));
  other = run;
  other.profile = "other";
  EXPECT_THAT(refused(other), HasSubstr("unlike profiles"));
}

TEST(Merge, WarnsOfUnlikeEnvironments) {
  RunRecord other = runOf({outcomeOf(2)});
  other.environment.compiler = "2.21";
  const auto out = merge(runOf({outcomeOf(1)}), other);
  ASSERT_TRUE(out);
  EXPECT_THAT(out->warnings, ElementsAre("runs of unlike compiler: 'unknown' and '2.21'"));
  EXPECT_EQ(out->record.environment.compiler, "mixed");
}

TEST(Merge, SaysWhichShardsAreMissing) {
  EXPECT_THAT(missingShards(""), IsEmpty());
  EXPECT_THAT(missingShards("1/2, 2/2"), IsEmpty());
  EXPECT_THAT(missingShards("10/11, 2/11, 3/11, 4/11, 5/11, 6/11, 7/11, 8/11, 9/11"),
              ElementsAre("1/11", "11/11"));
  EXPECT_THAT(missingShards("1/2, 2/3"),
              ElementsAre("the whole of any one plan: shards of 2 and of 3"));
}

}  // namespace
}  // namespace neuroncheck::runstore
