// SPDX-License-Identifier: Apache-2.0
// Which release, chip and mode answer (docs/claims.md, rules 1 and 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/assess.h"
#include "opdb/lookup.h"
#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::AllOf;
using testing::claimOf;
using testing::f32;
using ::testing::HasSubstr;
using testing::Row;
using testing::TestDatabase;
using testing::use;

Result<Target> resolve(const TestDatabase& database, const std::string& release) {
  Target wanted;
  wanted.release = release;
  return resolveTarget(database.get(), wanted);
}

TEST(ResolveTarget, TakesTheNewestReleaseWhenNoneIsGiven) {
  const TestDatabase database({});
  const auto target = resolve(database, "");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->release, "4.0");
  EXPECT_EQ(target->answeringRelease, "4.0");
  EXPECT_TRUE(target->releaseDefaulted);
  EXPECT_TRUE(target->releaseKnown);
}

TEST(ResolveTarget, TakesAGivenRelease) {
  const TestDatabase database({});
  const auto target = resolve(database, "2.0");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->answeringRelease, "2.0");
  EXPECT_FALSE(target->releaseDefaulted);
  EXPECT_TRUE(target->releaseKnown);
}

struct Resolution {
  std::string wanted;
  std::string answering;
  bool known;
};
class ResolveRelease : public ::testing::TestWithParam<Resolution> {};

TEST_P(ResolveRelease, AnswersFrom) {
  const TestDatabase database({});
  const auto target = resolve(database, GetParam().wanted);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->release, GetParam().wanted);
  EXPECT_EQ(target->answeringRelease, GetParam().answering);
  EXPECT_EQ(target->releaseKnown, GetParam().known);
}

INSTANTIATE_TEST_SUITE_P(
    Names, ResolveRelease,
    ::testing::Values(Resolution{"2.0.0", "2.0", true},   // missing numbers are zeros
                      Resolution{"30.0", "2.1", true},    // an SDK: its newest release
                      Resolution{"30", "2.1", true},      // the same, written shorter
                      Resolution{"40.0", "2.1", false},   // between two SDKs: the older one
                      Resolution{"60.0", "4.0", false},   // newer than every SDK
                      Resolution{"2.0.5", "2.0", false},  // between two releases: the older one
                      Resolution{"2.9", "2.1", false},    // never the newer 4.0
                      Resolution{"6.0", "4.0", false},    // newer than every release
                      Resolution{"0.1", "0.5", false}));  // older than all: the oldest

TEST(ResolveTarget, RefusesAnUnknownChipAndNamesTheKnownOnes) {
  const TestDatabase database({});
  Target wanted;
  wanted.chip = "trn9";
  const auto target = resolveTarget(database.get(), wanted);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::Usage);
  EXPECT_THAT(target.error().message, AllOf(HasSubstr("trn9"), HasSubstr("trn1, trn2, trn3")));
}

TEST(ResolveTarget, RefusesAProductWithoutReleases) {
  const TestDatabase database({});
  Target wanted;
  wanted.product = "no-such-product";
  const auto target = resolveTarget(database.get(), wanted);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::Usage);
}

TEST(ResolveTarget, RefusesATextWithoutANumberAndListsTheReleases) {
  const TestDatabase database({});
  const auto target = resolve(database, "newest");
  ASSERT_FALSE(target);
  EXPECT_THAT(target.error().message, HasSubstr("0.5, 1.0, 2.0, 2.1, 4.0"));
}

TEST(VersionNumbers, OrdersByNumberAndPutsASuffixFirst) {
  const auto version = [](const char* text) { return VersionNumbers::parse(text).value(); };
  EXPECT_LT(version("2.9"), version("2.12.3"));
  EXPECT_EQ(version("2.14"), version("2.14.0.0"));
  EXPECT_LT(version("0.1.0-pre"), version("0.1.0"));
  EXPECT_LT(version("2.32 beta 3"), version("2.32"));
  EXPECT_FALSE(VersionNumbers::parse("beta").has_value());
}

const OpUse kRelu = use("aten::relu", {{.name = "self", .value = f32({2})}});

TEST(Releases, TheTargetsOwnRowAnswersFresh) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "2.0"}});
  const UseClaim claim = claimOf(database, "2.0", kRelu);
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_FALSE(claim.stale);
  EXPECT_EQ(claim.confidence, Confidence::High);
  EXPECT_EQ(claim.ageDays, 183);
}

TEST(Releases, ReleasesOfOneSdkAnswerForEachOtherFresh) {
  const TestDatabase later({Row{.op = "aten::relu", .release = "2.1"}});
  const UseClaim claim = claimOf(later, "2.0", kRelu);
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_FALSE(claim.stale);
}

TEST(Releases, AnOlderReleaseAnswersStale) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "2.0"}});
  const UseClaim claim = claimOf(database, "4.0", kRelu);
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_TRUE(claim.stale);
}

TEST(Releases, ANewerReleaseNeverAnswers) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "4.0"}});
  EXPECT_EQ(claimOf(database, "2.0", kRelu).claim, Claim::Unknown);
}

TEST(Releases, TheNearestRowAnswersBeforeAnOlderOne) {
  const TestDatabase database({Row{.op = "aten::relu", .status = "unsupported", .release = "2.1"},
                               Row{.op = "aten::relu", .release = "1.0"}});
  const UseClaim claim = claimOf(database, "4.0", kRelu);
  EXPECT_EQ(claim.claim, Claim::Unsupported);
}

TEST(Releases, TheExactReleaseAnswersBeforeAnotherOfItsSdk) {
  const TestDatabase database({Row{.op = "aten::relu", .status = "unsupported", .release = "2.1"},
                               Row{.op = "aten::relu", .release = "2.0"}});
  EXPECT_EQ(claimOf(database, "2.0", kRelu).claim, Claim::Native);
  EXPECT_EQ(claimOf(database, "2.1", kRelu).claim, Claim::Unsupported);
}

// Public report: everything unknown after a version bump.
TEST(Releases, AnUnknownReleaseUsesTheRowsAndMarksThemStale) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "4.0"}});
  const UseClaim claim = claimOf(database, "4.1", kRelu);
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_TRUE(claim.stale);
}

TEST(Releases, AnotherProductNeverAnswers) {
  const TestDatabase database(
      {Row{.op = "aten::relu", .release = "9.0", .product = "old-product"}});
  for (const char* release : {"2.0", "4.0"}) {
    EXPECT_EQ(claimOf(database, release, kRelu).claim, Claim::Unknown) << release;
  }
}

// Public report: the exit code was driven by a chip that nobody asked about.
TEST(Chips, ARowOfAnotherChipDoesNotAnswer) {
  const TestDatabase database({Row{.op = "aten::relu", .chip = "trn2"},
                               Row{.op = "aten::relu", .status = "unsupported", .chip = "trn3"}});
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Eager, "trn2"), kRelu).claim,
            Claim::Native);
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Eager, "trn3"), kRelu).claim,
            Claim::Unsupported);
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Eager, "trn1"), kRelu).claim,
            Claim::Unknown);
}

TEST(Modes, EagerRowsNeverAnswerCompile) {
  const TestDatabase database({Row{.op = "aten::relu", .mode = "eager"}});
  EXPECT_EQ(claimOf(database, "2.0", kRelu).claim, Claim::Native);
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Compile), kRelu).claim,
            Claim::Unknown);
}

TEST(Modes, CompileRowsNeverAnswerEager) {
  const TestDatabase database({Row{.op = "aten::relu", .mode = "compile"}});
  EXPECT_EQ(claimOf(database, "2.0", kRelu).claim, Claim::Unknown);
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Compile), kRelu).claim,
            Claim::Native);
}

TEST(Modes, RowsOfAnyModeAnswerBoth) {
  const TestDatabase database({Row{.op = "aten::relu", .mode = "any"}});
  EXPECT_EQ(claimOf(database, "2.0", kRelu).claim, Claim::Native);
  EXPECT_EQ(claimOf(database, database.target("2.0", ExecutionMode::Compile), kRelu).claim,
            Claim::Native);
}

}  // namespace
}  // namespace neuroncheck::opdb
