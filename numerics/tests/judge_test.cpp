// SPDX-License-Identifier: Apache-2.0
// The ladder of verdicts, rule by rule: each with a result it accepts and one it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "numerics/tests/support/samples.h"

namespace neuroncheck::numerics {
namespace {

using ::testing::HasSubstr;
using namespace ::neuroncheck::numerics::testing;

// --- stage 0: structure and trust ---

TEST(JudgeStructure, OtherShapeOrDtypeIsNoComparison) {
  Output output(DType::Float32, {0}, {}, ruleOf(OpClass::Exact));
  output.request.expected.sizes = {2, 3};
  VectorReference reference(ramp(6));
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::ShapeDtypeMismatch);
  EXPECT_THAT(j.reason, HasSubstr("expected f32[2,3], got f32[0]"));
}

TEST(JudgeStructure, PromisedStridesCount) {
  Output output(DType::Float32, {2, 3}, ramp(6), ruleOf(OpClass::Exact));
  VectorReference reference(ramp(6));
  output.request.expected.strides = {3, 1};
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
  output.request.expected.strides = {1, 2};
  EXPECT_EQ(judge(output.request, reference).state, CaseState::ShapeDtypeMismatch);
}

TEST(JudgeStructure, EmptyAliasedRandomAndFactorised) {
  EXPECT_EQ(judged(DType::Float32, {0, 3}, {}, {}, ruleOf(OpClass::Rounded)).state,
            CaseState::Mistrusted);
  EXPECT_EQ(judged(DType::Float32, {4}, ramp(4), ramp(4), ruleOf(OpClass::Random)).state,
            CaseState::NotComparable);
  EXPECT_EQ(judged(DType::Float32, {4}, ramp(4), ramp(4), ruleOf(OpClass::Factorisation)).state,
            CaseState::NotComparable);
  OutputRule uninitialised = ruleOf(OpClass::Exact);
  uninitialised.notComparable = NotComparable::Uninitialised;
  const Judgement empty = judged(DType::Float32, {4}, ramp(4), ramp(4), uninitialised);
  EXPECT_EQ(empty.state, CaseState::NotComparable);
  EXPECT_THAT(empty.reason, HasSubstr("uninitialised"));
  const Output output(DType::Float32, {4}, ramp(4), ruleOf(OpClass::Exact));
  VectorReference reference(ramp(4));
  reference.setStorage(output.bytes);
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Mistrusted);
  EXPECT_EQ(j.cause, "aliased");
}

TEST(JudgeTrust, AConstantTruthShowsNothingUnlessItIsTheOperatorsNature) {
  const std::vector<double> fours(9, 4.0);
  OutputRule rule = ruleOf(OpClass::Exact);
  EXPECT_EQ(judged(DType::Float32, {9}, fours, fours, rule).state, CaseState::Mistrusted);
  rule.constantAllowed = true;
  EXPECT_EQ(judged(DType::Float32, {9}, fours, fours, rule).state, CaseState::Pass);
  // Wrong is wrong, whatever the trust.
  EXPECT_EQ(judged(DType::Float32, {9}, std::vector<double>(9, 3.0), fours, rule).state,
            CaseState::Mismatch);
  rule.constantAllowed = false;
  EXPECT_EQ(judged(DType::Float32, {9}, std::vector<double>(9, 3.0), fours, rule).state,
            CaseState::Mismatch);
  // One element has no neighbours to be confused with.
  EXPECT_EQ(judged(DType::Float32, {1}, {4.0}, {4.0}, rule).state, CaseState::Pass);
}

TEST(JudgeTrust, MostlyZeroIsMistrustedByClass) {
  std::vector<double> truth(100, 0.0);
  for (std::size_t i = 0; i < 10; ++i) {
    truth[i * 10] = 1.0 + static_cast<double>(i);
  }
  EXPECT_EQ(judged(DType::Float32, {100}, truth, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Pass);
  EXPECT_EQ(judged(DType::Float32, {100}, truth, truth, ruleOf(OpClass::Rounded)).state,
            CaseState::Mistrusted);
  std::fill(truth.begin() + 1, truth.end(), 0.0);
  EXPECT_EQ(judged(DType::Float32, {100}, truth, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Mistrusted);
}

TEST(JudgeTrust, ABoundAsLargeAsTheValueIsNoTest) {
  // A sum that cancels to nothing: |H| is the size of its own rounding noise.
  const Output output(DType::Float32, {64}, noise(64), ruleOf(OpClass::Reduction), 1 << 20);
  VectorReference reference(noise(64));
  reference.set({Quantity::Magnitude, {}}, std::vector<double>(64, 1e6));
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Mistrusted);
  EXPECT_THAT(j.reason, HasSubstr("let anything pass"));
}

TEST(JudgeTrust, NanNobodyAskedFor) {
  EXPECT_EQ(judged(DType::Float32, {1}, {kNan}, {kNan}, ruleOf(OpClass::Elementary, 4)).state,
            CaseState::Mistrusted);
  OutputRule log = ruleOf(OpClass::Elementary, 4);
  log.nanAllowed = true;
  EXPECT_EQ(judged(DType::Float32, {1}, {kNan}, {kNan}, log).state, CaseState::Pass);
}

// --- stage 1: special values ---

TEST(JudgeSpecial, EachPairOfClasses) {
  const OutputRule rule = ruleOf(OpClass::Elementary, 4);
  const auto with = [&](double actual, double truth) {
    auto a = ramp(8);
    auto t = ramp(8);
    a[3] = actual;
    t[3] = truth;
    return judged(DType::Float32, {8}, a, t, rule);
  };
  EXPECT_EQ(with(kNan, 1.0).state, CaseState::NanInf);
  EXPECT_EQ(with(1.0, kNan).state, CaseState::NanInf);
  EXPECT_EQ(with(kNan, kNan).state, CaseState::Pass);
  EXPECT_EQ(with(kInf, kInf).state, CaseState::Pass);
  EXPECT_EQ(with(-kInf, kInf).state, CaseState::NanInf);
  EXPECT_EQ(with(kInf, -kInf).state, CaseState::NanInf);
  EXPECT_EQ(with(1e38, kInf).state, CaseState::NanInf);
  EXPECT_EQ(with(kInf, 1e38).state, CaseState::NanInf);
  EXPECT_EQ(with(kNan, kInf).state, CaseState::NanInf);
  // Overflow by value: 1e39 has no fp32 number.
  EXPECT_EQ(with(kInf, 1e39).state, CaseState::Pass);
  const double largest = std::numeric_limits<float>::max();
  const Judgement saturated = with(largest, 1e39);
  EXPECT_EQ(saturated.state, CaseState::Degraded);
  EXPECT_EQ(saturated.hypothesis, HypothesisId::SaturatedInfinity);
  // Within the bound of the threshold either is right.
  EXPECT_EQ(with(kInf, largest * (1 - 1e-7)).state, CaseState::Pass);
  EXPECT_EQ(with(largest, largest * (1 + 1e-7)).state, CaseState::Pass);
  EXPECT_EQ(with(kInf, largest * (1 - 1e-5)).state, CaseState::NanInf);
}

TEST(JudgeSpecial, RelaxedNanIsAPolicy) {
  auto truth = ramp(8);
  truth[3] = kNan;
  Output output(DType::Float32, {8}, ramp(8), ruleOf(OpClass::Elementary, 4));
  VectorReference reference(truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::NanInf);
  output.request.relaxedNan = true;
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
}

TEST(JudgeSpecial, TheSignOfZeroIsPromisedBySelectionsAndSingleOperations) {
  auto truth = ramp(8);
  truth[3] = -0.0;
  auto actual = truth;
  actual[3] = 0.0;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Mismatch);
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, ruleOf(OpClass::Rounded)).state,
            CaseState::Mismatch);
  const Judgement sum = judged(DType::Float32, {8}, actual, truth, ruleOf(OpClass::Reduction), 4);
  EXPECT_EQ(sum.state, CaseState::Pass);
  EXPECT_EQ(sum.metrics.zeroSignDiffers, 1);
  EXPECT_THAT(sum.notes, ::testing::Contains(HasSubstr("other sign")));
}

TEST(JudgeSpecial, Float8WithoutInfinity) {
  const std::vector<double> truth{1, 2, 1000, 4, 8, 16};
  const OutputRule rule = ruleOf(OpClass::Exact);
  auto actual = rounded(Format::E4M3FN, truth);
  EXPECT_TRUE(std::isnan(actual[2]));
  EXPECT_EQ(judged(DType::Float8E4M3FN, {6}, actual, truth, rule).state, CaseState::Pass);
  actual[2] = 448;
  EXPECT_EQ(judged(DType::Float8E4M3FN, {6}, actual, truth, rule).cause, "saturated-infinity");
  actual[2] = 416;
  EXPECT_EQ(judged(DType::Float8E4M3FN, {6}, actual, truth, rule).state, CaseState::NanInf);
}

// --- stage 2: exact classes ---

TEST(JudgeExact, OneBitIsAMismatch) {
  auto truth = rounded(Format::Float32, noise(64));
  auto actual = truth;
  EXPECT_EQ(judged(DType::Float32, {8, 8}, actual, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Pass);
  actual[17] = std::nextafterf(static_cast<float>(actual[17]), 10.0F);
  const Judgement j = judged(DType::Float32, {8, 8}, actual, truth, ruleOf(OpClass::Exact));
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_EQ(j.pattern.kind, PatternKind::Single);
  EXPECT_EQ(j.metrics.worst.at(0).index, 17);
  EXPECT_EQ(j.metrics.maxUlpDistance.value, 1);
}

TEST(JudgeExact, ACastIsTheNearestNumber) {
  const auto truth = noise(64);
  EXPECT_EQ(judged(DType::BFloat16, {64}, truth, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Pass);
  std::vector<double> cut(64);
  std::ranges::transform(truth, cut.begin(), [](double x) {
    return roundTo(Format::BFloat16, x, Rounding::TowardZero);
  });
  EXPECT_EQ(judged(DType::BFloat16, {64}, cut, truth, ruleOf(OpClass::Exact)).state,
            CaseState::Mismatch);
}

TEST(JudgeExact, StochasticCastsAreNeighboursAndNumbersStay) {
  std::mt19937_64 random(7);
  auto truth = noise(256);
  truth[5] = 1.5;
  std::vector<double> actual(256);
  std::ranges::transform(truth, actual.begin(), [&](double x) {
    return roundTo(Format::BFloat16, x, Rounding::Stochastic, Overflow::Default, random());
  });
  Output output(DType::BFloat16, {256}, actual, ruleOf(OpClass::Exact));
  VectorReference reference(truth);
  EXPECT_NE(judge(output.request, reference).state, CaseState::Pass);
  Arithmetic byChance = declaredArithmetic(Format::BFloat16);
  byChance.roundsStochastically = true;
  output.request.arithmetic = byChance;
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
  actual[5] += 0x1p-7;
  Output moved(DType::BFloat16, {256}, actual, ruleOf(OpClass::Exact));
  moved.request.arithmetic = byChance;
  EXPECT_EQ(judge(moved.request, reference).state, CaseState::Mismatch);
}

TEST(JudgeIntegers, ExactAndNamedNarrowing) {
  const auto run = [](std::vector<std::int64_t> actual, std::vector<std::int64_t> truth) {
    const auto n = static_cast<std::int64_t>(actual.size());
    JudgeRequest request;
    const auto bytes = std::as_bytes(std::span(actual));
    request.actual = *TensorView::contiguous(DType::Int64, bytes, {n});
    request.expected = {DType::Int64, {n}, std::nullopt};
    VectorReference reference(std::move(truth));
    return judge(request, reference);
  };
  const std::int64_t big = 3'000'000'000;
  EXPECT_EQ(run({1, 2, big}, {1, 2, big}).state, CaseState::Pass);
  const Judgement narrowed = run({1, 2, static_cast<std::int32_t>(big)}, {1, 2, big});
  EXPECT_EQ(narrowed.state, CaseState::Degraded);
  EXPECT_EQ(narrowed.hypothesis, HypothesisId::Int64AsInt32);
  ASSERT_EQ(narrowed.integerPlaces.size(), 1U);
  EXPECT_EQ(narrowed.integerPlaces[0].truth, big);
  const Judgement floated = run({5, 1 << 24}, {5, (1 << 24) + 1});
  EXPECT_EQ(floated.hypothesis, HypothesisId::IntegerThroughFloat32);
  const Judgement wrong = run({1, 2, big + 1}, {1, 2, big});
  EXPECT_EQ(wrong.state, CaseState::Mismatch);
  EXPECT_THAT(wrong.reason, HasSubstr("got 3000000001, truth 3000000000"));
  EXPECT_EQ(run({0, 0, 0}, {0, 0, 0}).state, CaseState::Mistrusted);
  // Beyond what a double holds.
  const std::int64_t odd = (1LL << 53) + 1;
  EXPECT_EQ(run({7, odd - 1}, {7, odd}).state, CaseState::Degraded);  // through fp32
  EXPECT_EQ(run({7, odd + 1}, {7, odd}).state, CaseState::Mismatch);
}

TEST(JudgeDecisions, TheAlternativeOfACloseDecisionIsRight) {
  // floor_divide whose quotient is 3 - 1e-9: 2 in exact arithmetic, 3 after rounding.
  const Output output(DType::Float32, {4}, std::vector<double>{3, 5, 6, 7},
                      ruleOf(OpClass::Discontinuous));
  VectorReference reference(std::vector<double>{2, 5, 6, 7});
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
  reference.set({Quantity::Alternative, {}}, {3, kNan, kNan, kNan});
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
  const Output far(DType::Float32, {4}, std::vector<double>{4, 5, 6, 7},
                   ruleOf(OpClass::Discontinuous));
  EXPECT_EQ(judge(far.request, reference).state, CaseState::Mismatch);
}

// --- stages 3 and 4: bounds ---

TEST(JudgeBounds, ASequentialSumPassesATruncatingOneIsWeakAWrongOneFails) {
  const Sum s = sums(256, 4096, true);
  EXPECT_EQ(judgedSum(s, s.sequential, 4096).state, CaseState::Pass);
  const Judgement weak = judgedSum(s, s.truncating, 4096);
  EXPECT_EQ(weak.state, CaseState::PassWeak);
  EXPECT_EQ(weak.cause, "bias");
  auto wrong = s.sequential;
  wrong[100] *= 1.001;
  const Judgement bad = judgedSum(s, wrong, 4096);
  EXPECT_EQ(bad.state, CaseState::Mismatch);
  EXPECT_EQ(bad.metrics.worst.at(0).index, 100);
  EXPECT_NEAR(bad.needed.rtolAlone, 1e-3, 1e-5);
}

TEST(JudgeBounds, TruncationThatHidesInRandomSignsIsNoted) {
  const Sum s = sums(4096, 2048, false);
  EXPECT_THAT(judgedSum(s, s.truncating, 2048).notes,
              ::testing::Contains(HasSubstr("truncation?")));
  EXPECT_THAT(judgedSum(s, s.sequential, 2048).notes,
              ::testing::Not(::testing::Contains(HasSubstr("truncation?"))));
}

TEST(JudgeBounds, AnFp64ResultIsHeldAgainstATruthThatErrsAsMuch) {
  // Two fp64 sums in different orders, each off by what one of them may be off.
  const auto truth = ramp(64, 1000);
  const double room = 4 * std::sqrt(4096.0) * 0x1p-53 * 2000;
  auto actual = truth;
  actual[5] += 1.5 * room;
  const auto judgedAt = [&](const std::vector<double>& values) {
    const Output output(DType::Float64, {64}, values, ruleOf(OpClass::Reduction), 4096);
    VectorReference reference(truth);
    reference.set({Quantity::Magnitude, {}}, std::vector<double>(64, 2000.0));
    return judge(output.request, reference);
  };
  const Judgement j = judgedAt(actual);
  EXPECT_EQ(j.state, CaseState::Pass);
  EXPECT_THAT(j.notes, ::testing::Contains(HasSubstr("the truth is of the same precision")));
  actual[5] += 2 * room;
  EXPECT_NE(judgedAt(actual).state, CaseState::Pass);
}

TEST(JudgeBounds, AnExactFillLeavesNoRoomForOrder) {
  Output output(DType::Float32, {8}, ramp(8, 1000), ruleOf(OpClass::Contraction), 1 << 16);
  auto actual = ramp(8, 1000);
  actual[2] = std::nextafterf(1000.125F, 2000.0F);
  Output off(DType::Float32, {8}, actual, ruleOf(OpClass::Contraction), 1 << 16);
  VectorReference reference(ramp(8, 1000));
  reference.set({Quantity::Magnitude, {}}, ramp(8, 5000));
  EXPECT_EQ(judge(off.request, reference).state, CaseState::Pass);
  off.request.exactInAccumulator = true;
  output.request.exactInAccumulator = true;
  EXPECT_EQ(judge(off.request, reference).state, CaseState::Mismatch);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
}

TEST(JudgeBounds, WhatIsStoredOnTheWayIsRoundedToo) {
  // A bf16 difference of two stored bf16 tensors near 10: the result is small, its error is not.
  const auto truth = ramp(64);
  auto actual = truth;
  for (std::size_t i = 0; i < actual.size(); i += 2) {
    actual[i] += 0.03;
  }
  OutputRule rule = ruleOf(OpClass::Fused);
  rule.roundings = 2;
  const Output output(DType::BFloat16, {64}, actual, rule, 16);
  VectorReference reference(truth);
  reference.set({Quantity::Magnitude, {}}, truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
  reference.set({Quantity::StoredMagnitude, {}}, std::vector<double>(64, 10.0));
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
  // One rounding stores nothing on the way.
  const Output once(DType::BFloat16, {64}, actual, ruleOf(OpClass::Fused), 16);
  EXPECT_EQ(judge(once.request, reference).state, CaseState::Mismatch);
}

TEST(JudgeBounds, TheUnstableFormulaIsWeakNotWrong) {
  const std::vector<double> truth = ramp(16);
  auto actual = truth;
  actual[3] += 0.02;  // what mean(x^2) - mean(x)^2 may lose at mean 1000
  const Output output(DType::Float32, {16}, actual, ruleOf(OpClass::Reduction), 256);
  VectorReference reference(truth);
  reference.set({Quantity::Magnitude, {}}, truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
  reference.set({Quantity::UnstableMagnitude, {}}, std::vector<double>(16, 2e6));
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::PassWeak);
  EXPECT_EQ(j.cause, "unstable formula");
}

TEST(JudgeBounds, OneElementTwoStepsOffInBf16IsWeak) {
  const double truth = std::tanh(-0.75);
  const double nearest = roundTo(Format::BFloat16, truth);
  const OutputRule rule = ruleOf(OpClass::Elementary, 4);
  EXPECT_EQ(judged(DType::BFloat16, {1}, {nearest}, {truth}, rule).state, CaseState::Pass);
  EXPECT_EQ(judged(DType::BFloat16, {1}, {nearest + 2 * 0x1p-8}, {truth}, rule).state,
            CaseState::PassWeak);
  const Judgement far = judged(DType::BFloat16, {1}, {nearest + 4 * 0x1p-8}, {truth}, rule);
  EXPECT_EQ(far.state, CaseState::Mismatch);
  EXPECT_EQ(far.metrics.cosine(), 1.0);  // which is why it is for display only
}

}  // namespace
}  // namespace neuroncheck::numerics
