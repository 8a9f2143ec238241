// SPDX-License-Identifier: Apache-2.0
// What a bound alone would let pass: counter-checks of the hypotheses, and where the bounds end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/kernels/normalisation.h"
#include "numerics/tests/kernels/reduction.h"
#include "numerics/tests/support/samples.h"

namespace neuroncheck::numerics::testing {
namespace {

using ::testing::HasSubstr;

constexpr MatmulShape kShape{12, 512, 12};

/// A product with what a reference knows of coarse accumulators.
struct Product {
  Values a, b, magnitude;
  VectorReference reference;

  explicit Product(Family family, Format inputs = Format::BFloat16)
      : a(fill(family, inputs, kShape.rows * kShape.length, 5)),
        b(fill(family, inputs, kShape.length * kShape.columns, 6)),
        magnitude(matmul(Machine::exact(), kShape, absolute(a), absolute(b))),
        reference(matmul(Machine::exact(), kShape, a, b)) {
    reference.set({Quantity::Magnitude, {}}, magnitude);
    const Values every = partialSums(kShape, a, b, 1);
    const auto room = [&](HypothesisId id, Values values) {
      reference.set({Quantity::HypothesisBound, id}, std::move(values));
    };
    room(HypothesisId::Float16Accumulation, roomOf(Format::Float16, every));
    room(HypothesisId::BFloat16Accumulation, roomOf(Format::BFloat16, every));
    room(HypothesisId::BFloat16TileAccumulation,
         roomOf(Format::BFloat16, partialSums(kShape, a, b, kTile)));
    reference.set({Quantity::HypothesisValue, HypothesisId::BFloat16Inputs},
                  matmul(Machine::exact(), kShape, roundedTo(Format::BFloat16, a),
                         roundedTo(Format::BFloat16, b)));
  }
  [[nodiscard]] Values on(const Machine& machine) const { return matmul(machine, kShape, a, b); }
  Judgement judged(const Values& result, DType dtype = DType::Float32) {
    const Output output(dtype, {kShape.rows, kShape.columns}, result, ruleOf(OpClass::Contraction),
                        static_cast<double>(kShape.length));
    return judge(output.request, reference);
  }
};

TEST(RoundingShape, CoarseAccumulatorsAreToldApart) {
  Product p(Family::Normal);
  const Machine fp32(Format::Float32);
  EXPECT_EQ(p.judged(p.on(fp32.withTileSums(Format::BFloat16))).cause, "bf16-tile-accumulation");
  EXPECT_EQ(p.judged(p.on(Machine(Format::BFloat16, Order::Fused))).cause, "bf16-accumulation");
  EXPECT_EQ(p.judged(p.on(Machine(Format::Float16, Order::Fused))).cause, "fp16-accumulation");
}

TEST(RoundingShape, AScaleATransposeAndADroppedTailAreNoRounding) {
  for (const Family family : {Family::Normal, Family::Positive}) {
    Product p(family);
    const Values right = p.on(Machine(Format::Float32));
    Values scaled = right;
    for (double& x : scaled) {
      x *= 1.002;
    }
    EXPECT_EQ(p.judged(scaled).state, CaseState::Mismatch);
    EXPECT_EQ(p.judged(transposed(right, kShape.rows, kShape.columns)).state, CaseState::Mismatch);
    Values left = p.a;
    for (std::int64_t i = 0; i < std::ssize(left); ++i) {
      at(left, i) = i % kShape.length < kShape.length - 2 ? at(left, i) : 0;
    }
    EXPECT_EQ(p.judged(matmul(Machine(Format::Float32), kShape, left, p.b)).state,
              CaseState::Mismatch);
  }
}

TEST(RoundingShape, ErrorsOfFewElementsAreNoRounding) {
  Product p(Family::Positive);
  Values tail = p.on(Machine(Format::Float32));
  for (std::size_t i = tail.size() - 30; i < tail.size(); ++i) {
    tail[i] *= 1 + (i % 2 == 0 ? 0.01 : -0.01);
  }
  const Judgement j = p.judged(tail);
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_THAT(j.trials, ::testing::Contains(::testing::Field(&HypothesisTrial::note,
                                                             HasSubstr("few elements hold most"))));
}

TEST(WithinMaximal, OtherOperandsAreNamedWhereTheErrorsFollowThem) {
  // 512 positive terms: what the cast does is within what a truncating sum may do.
  Product p(Family::Positive, Format::Float32);
  const Values cast = matmul(Machine(Format::Float32), kShape, roundedTo(Format::BFloat16, p.a),
                             roundedTo(Format::BFloat16, p.b));
  const Judgement j = p.judged(cast);
  EXPECT_EQ(j.state, CaseState::Degraded);
  EXPECT_EQ(j.cause, "bf16-inputs");
  const Judgement weak =
      p.judged(p.on(Machine(Format::Float32, Order::Sequential, Rounding::TowardZero)));
  EXPECT_EQ(weak.state, CaseState::PassWeak) << weak.cause;
}

TEST(WithinMaximal, ATruncatedNarrowOutputIsNamed) {
  Product p(Family::Normal, Format::Float16);
  Values cut = p.on(Machine(Format::Float32));
  for (double& x : cut) {
    x = roundTo(Format::Float16, x, Rounding::TowardZero);
  }
  EXPECT_EQ(p.judged(cut, DType::Float16).cause, "round-toward-zero");
}

TEST(UnstableFormula, ExcusesItsOwnErrorsOnly) {
  constexpr std::int64_t rows = 16;
  constexpr std::int64_t n = 300;
  const Values x = fill(Family::Offset, Format::Float32, rows * n, 9);
  VectorReference reference(reduce(Machine::exact(), Reduction::Var, rows, n, x));
  reference.set({Quantity::Magnitude, {}}, reduceMagnitude(Reduction::Var, rows, n, x));
  reference.set({Quantity::UnstableMagnitude, {}}, reduceUnstable(Reduction::Var, rows, n, x));
  const auto judged = [&](const ReductionOptions& options) {
    const Values result = reduce(Machine(Format::Float32), Reduction::Var, rows, n, x, options);
    const Output output(DType::Float32, {rows}, result, ruleOf(OpClass::Reduction, 4), n);
    return judge(output.request, reference);
  };
  EXPECT_EQ(judged({}).state, CaseState::Pass);
  EXPECT_EQ(judged({1, true, true, true}).cause, "unstable formula");
  EXPECT_EQ(judged({0, false, true, true}).state, CaseState::Mismatch);  // biased
}

TEST(UnstableFormula, DoesNotExcuseWhatNobodyWrote) {
  // At mean 1000 the formula that cancels may be off by more than the variance itself.
  constexpr std::int64_t n = 256;
  Values truth = ramp(16);
  VectorReference reference(truth);
  reference.set({Quantity::Magnitude, {}}, truth);
  reference.set({Quantity::UnstableMagnitude, {}}, Values(16, 2e6));
  const auto judgedAs = [&](const Values& result) {
    const Output output(DType::Float32, {16}, result, ruleOf(OpClass::Reduction, 8), n);
    return judge(output.request, reference).state;
  };
  EXPECT_EQ(judgedAs(Values(16, 0.0)), CaseState::Mismatch);
  std::fill(truth.begin() + 8, truth.end(), 0.0);
  EXPECT_EQ(judgedAs(truth), CaseState::Mismatch);
  for (double& x : truth) {
    x = x == 0 ? 0.25 : x + 0.125;
  }
  EXPECT_EQ(judgedAs(truth), CaseState::PassWeak);
}

TEST(ElementaryBounds, TwoStepsToOneSideThroughoutAreAScale) {
  const Values x = fill(Family::Positive, Format::BFloat16, 256, 3);
  Values truth, scaled, scattered;
  for (std::size_t i = 0; i < x.size(); ++i) {
    truth.push_back(std::exp(x[i]));
    scaled.push_back(1.01 * truth.back());
    scattered.push_back(truth.back() * (i % 2 == 0 ? 1.01 : 0.99));
  }
  const OutputRule rule = ruleOf(OpClass::Elementary, 4);
  EXPECT_EQ(judged(DType::BFloat16, {256}, scaled, truth, rule).state, CaseState::Mismatch);
  EXPECT_EQ(judged(DType::BFloat16, {256}, scattered, truth, rule).state, CaseState::PassWeak);
}

TEST(SubnormalSteps, OfIntermediateResultsAreInTheBound) {
  // exp in fp32 gives a subnormal number, which is divided and rounded once more.
  constexpr std::int64_t n = 160;
  const Values x = fill(Family::Large, Format::Float32, 32 * n, 21);
  const Output output(DType::Float32, {32, n}, softmax(Machine(Format::Float32), 32, n, x),
                      ruleOf(OpClass::Normalisation, 8), n);
  VectorReference reference(softmax(Machine::exact(), 32, n, x));
  reference.set({Quantity::Magnitude, {}}, softmaxMagnitude(32, n, x, false));
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.metrics.wrong(), 0) << j.reason;
}

TEST(NanSpread, FillsWhatItSpreadsTo) {
  std::vector<double> truth = ramp(64);
  for (std::size_t i = 0; i < 8; ++i) {
    truth[3 * 8 + i] = kNan;  // a fully masked row: every column holds a NaN
  }
  auto actual = truth;
  actual[5 * 8 + 2] = kNan;
  const Output one(DType::Float32, {8, 8}, actual, ruleOf(OpClass::Exact));
  VectorReference reference(truth);
  EXPECT_EQ(judge(one.request, reference).state, CaseState::NanInf);
  for (std::size_t row = 0; row < 8; ++row) {
    actual[row * 8 + 2] = kNan;
  }
  const Output column(DType::Float32, {8, 8}, actual, ruleOf(OpClass::Exact));
  EXPECT_EQ(judge(column.request, reference).cause, "nan-spread");
}

}  // namespace
}  // namespace neuroncheck::numerics::testing
