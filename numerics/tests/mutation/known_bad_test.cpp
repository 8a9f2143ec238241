// SPDX-License-Identifier: Apache-2.0
// Results nobody computed, and cases other projects reported: none of them is a pass.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "numerics/tests/kernels/indexing.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/samples.h"

namespace neuroncheck::numerics::testing {
namespace {

/// Every operator family once, in fp32 and bf16.
std::vector<Subject> everyFamily(DType dtype) {
  std::vector<Subject> all;
  for (const auto subjects :
       {convolutionSubjects, matmulBackwardSubjects, reductionSubjects, normSubjects,
        softmaxSubjects, attentionSubjects, elementwiseSubjects, indexSubjects}) {
    auto some = subjects(dtype);
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

std::vector<InjectedFault> nobodyComputed(const Subject& s) {
  const auto n = s.truth.size();
  // What memory filled with 0xCD reads.
  const double poison = decode(s.format(), 0xcdcdcdcdcdcdcdcdULL);
  const Values& right = s.legal.front().second;
  Values others(right.rbegin(), right.rend());
  std::vector<InjectedFault> bad;
  const auto add = [&](const char* what, Values values) {
    bad.push_back({what, std::move(values), HypothesisId::None, Rounding::NearestEven, {}});
  };
  add("all zero", Values(n, 0.0));
  add("all NaN", Values(n, std::nan("")));
  add("poison", Values(n, poison));
  add("one constant", Values(n, right.front()));
  add("all infinite", Values(n, std::numeric_limits<double>::infinity()));
  add("another case's buffer", std::move(others));
  return bad;
}

TEST(KnownBad, NothingNobodyComputedPassesInAnyFamily) {
  for (const DType dtype : {DType::Float32, DType::BFloat16}) {
    Bench bench;
    for (Subject& subject : everyFamily(dtype)) {
      subject.faults = nobodyComputed(subject);
      bench.run(subject);
    }
    ASSERT_GE(bench.faults().size(), 6U * 40);
    for (const Outcome& o : bench.faults()) {
      EXPECT_TRUE(o.state == CaseState::Mismatch || o.state == CaseState::NanInf)
          << o.op << ", " << o.inputs << ", " << o.fault << ": " << name(o.state) << " " << o.cause;
    }
  }
}

TEST(KnownBad, EmptyAndAliasedResultsAreMistrusted) {
  const Output empty(DType::Float32, {0, 3}, {}, ruleOf(OpClass::Contraction), 64);
  VectorReference nothing(std::vector<double>{});
  EXPECT_EQ(judge(empty.request, nothing).state, CaseState::Mistrusted);
  for (const OpClass opClass : {OpClass::Exact, OpClass::Contraction, OpClass::Elementary}) {
    const Output output(DType::Float32, {8}, ramp(8), ruleOf(opClass), 64);
    VectorReference reference(ramp(8));
    // The result lies in the middle of what the truth is read from.
    reference.setStorage(std::span(output.bytes).subspan(4, 8));
    EXPECT_EQ(judge(output.request, reference).state, CaseState::Mistrusted);
  }
}

TEST(KnownBad, FactoriesAndMasksAreJudgedExactly) {
  OutputRule rule = ruleOf(OpClass::Exact);
  rule.constantAllowed = true;
  const std::vector<double> ones(64, 1.0), zeros(64, 0.0);
  EXPECT_EQ(judged(DType::Float32, {64}, ones, ones, rule).state, CaseState::Pass);
  EXPECT_EQ(judged(DType::Float32, {64}, zeros, zeros, rule).state, CaseState::Pass);
  EXPECT_EQ(judged(DType::Float32, {64}, zeros, ones, rule).state, CaseState::Mismatch);
  auto one = ones;
  one[63] = std::nextafterf(1.0F, 2.0F);
  EXPECT_EQ(judged(DType::Float32, {64}, one, ones, rule).state, CaseState::Mismatch);
  std::vector<double> negative(64, -0.0);
  EXPECT_NE(judged(DType::Float32, {64}, negative, zeros, rule).state, CaseState::Pass);
  const Output mask(DType::Bool, {64}, ones, rule);
  VectorReference truth(std::vector<std::int64_t>(64, 1));
  EXPECT_EQ(judge(mask.request, truth).state, CaseState::Pass);
  one[63] = 0;
  const Output wrong(DType::Bool, {64}, one, rule);
  EXPECT_EQ(judge(wrong.request, truth).state, CaseState::Mismatch);
  // Without leave, a constant truth proves nothing.
  rule.constantAllowed = false;
  EXPECT_EQ(judged(DType::Float32, {64}, ones, ones, rule).state, CaseState::Mistrusted);
}

// --- reported by other projects ---

TEST(ReportedCases, B41CorrelationOfNearConstantTensors) {
  OutputRule constant = ruleOf(OpClass::Rounded);
  constant.constantAllowed = true;
  const std::vector<double> fours(32, 4.0), threes(32, 3.0);
  const Judgement wrong = judged(DType::Float32, {32}, threes, fours, constant);
  EXPECT_EQ(wrong.state, CaseState::Mismatch);
  // The angle between the two is zero all the same.
  ASSERT_TRUE(wrong.metrics.cosine().has_value());
  EXPECT_GT(*wrong.metrics.cosine(), 0.999);

  const double truth = std::tanh(-0.75);
  const double off = roundTo(Format::BFloat16, truth) + 2 * ulp(Format::BFloat16, truth);
  EXPECT_TRUE(
      isPass(judged(DType::BFloat16, {1}, {off}, {truth}, ruleOf(OpClass::Elementary, 4)).state));

  auto noisy = fours;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    noisy[i] += 1e-7 * (i % 3 == 0 ? 1 : -1);
  }
  EXPECT_EQ(judged(DType::Float32, {32}, fours, noisy, constant).state, CaseState::Pass);

  const Judgement zero = judged(DType::Float32, {32}, std::vector<double>(32, 0.0),
                                std::vector<double>(32, 0.0), constant);
  EXPECT_EQ(zero.metrics.cosine(), std::nullopt);
  EXPECT_EQ(zero.metrics.relativeL2(), std::nullopt);
}

TEST(ReportedCases, B43NanPasses) {
  auto truth = ramp(8);
  const OutputRule rule = ruleOf(OpClass::Rounded);
  auto actual = truth;
  actual[3] = kNan;
  const Judgement a = judged(DType::Float32, {8}, actual, truth, rule);
  EXPECT_EQ(a.state, CaseState::NanInf);
  EXPECT_EQ(a.metrics.classes.actual(ValueClass::NotANumber), 1);
  EXPECT_EQ(a.metrics.classes.expected(ValueClass::NotANumber), 0);

  const std::vector<double> nans(8, kNan);
  EXPECT_EQ(judged(DType::Float32, {8}, nans, nans, rule).state, CaseState::Mistrusted);
  OutputRule allowed = rule;
  allowed.nanAllowed = true;
  EXPECT_EQ(judged(DType::Float32, {8}, nans, nans, allowed).state, CaseState::Pass);

  truth[3] = kInf;
  actual = truth;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, rule).state, CaseState::Pass);
  actual[3] = -kInf;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, rule).state, CaseState::NanInf);
  actual[3] = 1e38;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, rule).state, CaseState::NanInf);
  truth[3] = 1e38;
  actual[3] = kInf;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, rule).state, CaseState::NanInf);
}

TEST(ReportedCases, B44ValuesOfTiesAreExact) {
  const Values values = topkValues({1, 1, 0, 1}, 4, 2);
  OutputRule rule = ruleOf(OpClass::Exact);
  rule.constantAllowed = true;
  EXPECT_EQ(judged(DType::Float32, {2}, {1, 1}, values, rule).state, CaseState::Pass);
  EXPECT_EQ(judged(DType::Float32, {2}, {1, 0}, values, rule).state, CaseState::Mismatch);
}

TEST(ReportedCases, B45RandomUninitialisedAndEmptyOutputs) {
  EXPECT_EQ(judged(DType::Float32, {4}, ramp(4), ramp(4), ruleOf(OpClass::Random)).state,
            CaseState::NotComparable);
  const Output shape(DType::Float32, {3}, ramp(3), ruleOf(OpClass::Random));
  JudgeRequest request = shape.request;
  request.expected.sizes = {4};
  VectorReference reference(ramp(4));
  // Shape and dtype are checked even where values cannot be.
  EXPECT_EQ(judge(request, reference).state, CaseState::ShapeDtypeMismatch);
  EXPECT_EQ(judged(DType::Float32, {0, 3}, {}, {}, ruleOf(OpClass::Rounded)).state,
            CaseState::Mistrusted);
}

TEST(ReportedCases, B46ATolerancePlaysNoPartInTheVerdict) {
  const auto truth = ramp(32);
  auto actual = truth;
  actual[7] *= 1.001;
  Output output(DType::Float32, {32}, actual, ruleOf(OpClass::Rounded));
  VectorReference reference(truth);
  std::vector<bool> passes;
  for (const double rtol : {1e-5, 1e-4, 1e-2}) {
    output.request.allclose = AllcloseTolerance{rtol, 0};
    const Judgement j = judge(output.request, reference);
    EXPECT_EQ(j.state, CaseState::Mismatch);
    // What a changed table would do can be read off without a second run.
    EXPECT_EQ(*j.allclosePasses, j.needed.rtolAlone <= rtol);
    passes.push_back(*j.allclosePasses);
  }
  EXPECT_EQ(passes, (std::vector<bool>{false, false, true}));
}

}  // namespace
}  // namespace neuroncheck::numerics::testing
