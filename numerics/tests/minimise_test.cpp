// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "numerics/minimise/minimise_case.h"
#include "numerics/minimise/minimise_data.h"

namespace neuroncheck::numerics {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

CaseSpec parsed(std::string_view text) {
  auto spec = CaseSpec::parse(text);
  EXPECT_TRUE(spec.has_value()) << text;
  return *spec;
}

std::vector<std::string> texts(const std::vector<CaseSpec>& specs) {
  std::vector<std::string> out;
  for (const CaseSpec& spec : specs) {
    out.push_back(spec.str());
  }
  return out;
}

RC_GTEST_PROP(Ddmin, FindsExactlyWhatMatters, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 60);
  const auto needed =
      *rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, count));
  const MinimiseBudget budget{100000, {}, 1};
  BudgetedTest test(budget);
  const auto kept = ddmin(
      count,
      [&](const std::vector<std::size_t>& set) {
        return std::ranges::all_of(
            needed, [&](std::size_t i) { return std::ranges::find(set, i) != set.end(); });
      },
      test);
  RC_ASSERT(std::set<std::size_t>(kept.begin(), kept.end()) == needed);
  RC_ASSERT(kept.size() == needed.size());
}

TEST(Ddmin, AnswerStaysInterestingWhenTheBudgetEnds) {
  const MinimiseBudget budget{5, {}, 1};
  BudgetedTest test(budget);
  const auto kept = ddmin(
      1000,
      [](const std::vector<std::size_t>& set) { return std::ranges::find(set, 7U) != set.end(); },
      test);
  EXPECT_THAT(kept, Contains(7U));
  EXPECT_EQ(test.used(), 5U);
}

TEST(Ddmin, RepetitionsMustAllHold) {
  const MinimiseBudget budget{1000, {}, 3};
  BudgetedTest test(budget);
  int call = 0;
  EXPECT_FALSE(test.holds([&] { return ++call % 3 != 0; }));
  EXPECT_TRUE(test.holds([] { return true; }));
}

TEST(CaseStages, StepsAreCutAndRenumbered) {
  const auto all = texts(fewerSteps(
      parsed("aten::relu(f32[4]) ;; aten::abs(f32[2]) ;; aten::neg($0) ;; aten::exp($2)")));
  EXPECT_THAT(all, Contains("aten::relu(f32[4])"));
  EXPECT_THAT(all, Contains("aten::relu(f32[4]) ;; aten::neg($0) ;; aten::exp($1)"));
  EXPECT_THAT(all, Not(Contains("aten::abs(f32[2]) ;; aten::neg($0) ;; aten::exp($1)")));
}

TEST(CaseStages, ArgumentsLayoutsAndDTypes) {
  EXPECT_THAT(texts(fewerArguments(parsed("aten::add.Tensor(f32[4], f32[4]; alpha=2)"))),
              Contains("aten::add.Tensor(f32[4], f32[4])"));
  EXPECT_THAT(texts(fewerArguments(parsed("aten::relu(f32[4]^) !grad"))),
              ElementsAre("aten::relu(f32[4])"));
  EXPECT_THAT(texts(plainLayouts(parsed("aten::add.Tensor(f32[4,4]@(1,4), f32[4,4]@(1,4)+2)"))),
              ElementsAre("aten::add.Tensor(f32[4,4], f32[4,4])",
                          "aten::add.Tensor(f32[4,4], f32[4,4]@(1,4)+2)",
                          "aten::add.Tensor(f32[4,4]@(1,4), f32[4,4])"));
  EXPECT_THAT(texts(widerDTypes(parsed("aten::mm(bf16[4,8], bf16[8,4])"))),
              ElementsAre("aten::mm(f32[4,8], f32[8,4])"));
  EXPECT_THAT(texts(plainLayouts(parsed("aten::relu(f32[4])"))), ElementsAre());
}

TEST(CaseStages, ShapesShrinkTogetherAndKeepTileRemainders) {
  const auto all = texts(smallerShapes(parsed("aten::mm(f32[64,300], f32[300,8])")));
  EXPECT_THAT(all, Contains("aten::mm(f32[64,1], f32[1,8])"));
  EXPECT_THAT(all, Contains("aten::mm(f32[64,44], f32[44,8])"));
  EXPECT_THAT(all, Contains("aten::mm(f32[64,256], f32[256,8])"));
  EXPECT_THAT(all, Contains("aten::mm(f32[1,300], f32[300,8])"));
  // An index operand stays within what it indexes.
  EXPECT_THAT(texts(smallerShapes(parsed("aten::gather(f32[4], 0, i64[4]={0,3,1,2})"))),
              Contains("aten::gather(f32[2], 0, i64[2]={0,1})"));
}

/// A device that is wrong wherever k passes a tile of 128 by at least one element.
bool tailFails(const CaseSpec& spec) {
  const auto& args = spec.steps.front().args;
  if (spec.steps.front().op.str() != "aten::mm" || args.size() != 2) {
    return false;
  }
  const auto* a = std::get_if<CaseTensor>(&args[0].value.value);
  const auto* b = std::get_if<CaseTensor>(&args[1].value.value);
  return a != nullptr && b != nullptr && a->sizes.size() == 2 && b->sizes.size() == 2 &&
         a->sizes[1] == b->sizes[0] && a->sizes[1] > 128 && a->sizes[1] % 128 != 0;
}

TEST(MinimiseCase, ReachesTheSmallestFailingMatrixProduct) {
  const auto result = minimiseCase(parsed("aten::mm(bf16[64,2000]@(1,64), bf16[2000,96])"),
                                   tailFails, {1000, {}, 1});
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.spec.str(), "aten::mm(f32[1,129], f32[129,1])");
  EXPECT_FALSE(result.trail.empty());
  EXPECT_LT(result.tests, 300U);
}

TEST(MinimiseCase, WhatDoesNotFailIsGivenBackUnchanged) {
  const CaseSpec spec = parsed("aten::mm(f32[4,4], f32[4,4])");
  const auto result = minimiseCase(spec, tailFails, {1000, {}, 1});
  EXPECT_EQ(result.spec, spec);
  EXPECT_FALSE(result.complete);
}

TEST(MinimiseCase, EveryAcceptedStepIsInteresting) {
  const auto result =
      minimiseCase(parsed("aten::mm(f32[8,500], f32[500,8])"), tailFails, {40, {}, 1});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.tests, 40U);
  for (const MinimiseStep& step : result.trail) {
    EXPECT_TRUE(tailFails(parsed(step.text))) << step.text;
  }
}

TEST(MinimiseData, OneProductIsLeftOfADotProduct) {
  // A device that loses a product above 100 in magnitude.
  OperandValues values(2, std::vector<double>(64));
  for (std::size_t i = 0; i < 64; ++i) {
    values[0][i] = 1.0 + static_cast<double>(i) / 7;
    values[1][i] = i == 40 ? 37.25 : 0.5;
  }
  const auto fails = [](const OperandValues& v) {
    for (std::size_t i = 0; i < v[0].size(); ++i) {
      if (std::abs(v[0][i] * v[1][i]) > 100) {
        return true;
      }
    }
    return false;
  };
  Contributors row(2);
  for (std::size_t i = 32; i < 64; ++i) {
    row[0].push_back(i);
    row[1].push_back(i);
  }
  const auto result = minimiseData(values, row, fails, {1000, {}, 1});
  EXPECT_TRUE(fails(result.values));
  EXPECT_EQ(result.nonZero, 2U);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.values[0][40], 4.0);  // a power of two is enough
  EXPECT_EQ(result.values[1][40], 32.0);
}

TEST(MinimiseData, ContributorsThatDoNotSufficeAreNotTrusted) {
  const OperandValues values{{1, 2, 3, 4}};
  const auto fails = [](const OperandValues& v) { return v[0][3] != 0; };
  const auto result = minimiseData(values, {{0, 1}}, fails, {1000, {}, 1});
  EXPECT_THAT(result.values[0], ElementsAre(0, 0, 0, 1));
}

TEST(MinimiseSettings, TheFewestThatStillMatter) {
  const auto kept = minimiseSettings(
      {"A=1", "NEURON_RT_STOCHASTIC_ROUNDING_EN=1", "B=2", "--auto-cast=matmult", "C=3"},
      [](const std::vector<std::string>& set) {
        return std::ranges::find(set, "--auto-cast=matmult") != set.end();
      },
      {100, {}, 1});
  EXPECT_THAT(kept, ElementsAre("--auto-cast=matmult"));
}

}  // namespace
}  // namespace neuroncheck::numerics
