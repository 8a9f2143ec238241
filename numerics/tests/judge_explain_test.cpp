// SPDX-License-Identifier: Apache-2.0
// What explains a wrong result: hypotheses, the CPU kernel itself, and what stands beside the
// verdict.
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

// --- stage 5: hypotheses ---

TEST(JudgeHypotheses, TruncationAndChanceAreNamed) {
  const auto truth = noise(512);
  std::mt19937_64 random(3);
  std::vector<double> cut(512), chance(512);
  for (std::size_t i = 0; i < 512; ++i) {
    cut[i] = roundTo(Format::BFloat16, truth[i], Rounding::TowardZero);
    chance[i] =
        roundTo(Format::BFloat16, truth[i], Rounding::Stochastic, Overflow::Default, random());
  }
  EXPECT_EQ(judged(DType::BFloat16, {512}, cut, truth, ruleOf(OpClass::Rounded)).cause,
            "round-toward-zero");
  EXPECT_EQ(judged(DType::BFloat16, {512}, chance, truth, ruleOf(OpClass::Rounded)).cause,
            "stochastic-rounding");
  // One element off by one step is a fault, not an arithmetic.
  auto one = rounded(Format::BFloat16, truth);
  one[77] = roundTo(Format::BFloat16, one[77] * (1 + 0x1p-7));
  const Judgement j = judged(DType::BFloat16, {512}, one, truth, ruleOf(OpClass::Rounded));
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_EQ(j.pattern.kind, PatternKind::Single);
}

TEST(JudgeHypotheses, AnOutputThatWasNarrowedOnTheWayIsNamed) {
  for (const auto& [format, cause] :
       {std::pair{Format::BFloat16, "bf16-output"}, std::pair{Format::Float16, "fp16-output"},
        std::pair{Format::TFloat32, "tf32-output"}}) {
    auto truth = noise(512);
    if (format == Format::TFloat32) {
      // As fine as fp16, but of another range.
      std::ranges::for_each(truth, [](double& x) { x *= 1e-9; });
    }
    auto narrowed = rounded(format, truth);
    // Also where the operator is exact, and where the bound of a long sum would let it pass.
    for (const OutputRule& rule : {ruleOf(OpClass::Rounded), ruleOf(OpClass::Exact)}) {
      EXPECT_EQ(judged(DType::Float32, {512}, narrowed, truth, rule).cause, cause);
    }
    const Output output(DType::Float32, {512}, narrowed, ruleOf(OpClass::Contraction), 65536);
    VectorReference reference(truth);
    reference.set({Quantity::Magnitude, {}}, std::vector<double>(512, std::abs(truth[0])));
    const Judgement weak = judge(output.request, reference);
    EXPECT_EQ(weak.cause, cause) << weak.reason;
    // One result with low bits, or one that is a step too far, is not explained.
    narrowed[7] = truth[7];
    EXPECT_EQ(judged(DType::Float32, {512}, narrowed, truth, ruleOf(OpClass::Rounded)).state,
              CaseState::Mismatch);
    narrowed[7] = roundTo(format, truth[7]) + ulp(format, truth[7]);
    EXPECT_EQ(judged(DType::Float32, {512}, narrowed, truth, ruleOf(OpClass::Rounded)).state,
              CaseState::Mismatch);
  }
}

TEST(JudgeHypotheses, FlushedSubnormals) {
  auto truth = ramp(8, 1e-39);
  for (double& x : truth) {
    x *= 1e-1;
  }
  truth[0] = 1e-40;
  truth[1] = -1e-41;
  truth[2] = 1.0;
  auto actual = rounded(Format::Float32, truth);
  actual[0] = 0;
  actual[1] = 0;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, ruleOf(OpClass::Rounded)).cause,
            "flush-subnormal-outputs");
  actual[2] = 0;
  EXPECT_EQ(judged(DType::Float32, {8}, actual, truth, ruleOf(OpClass::Rounded)).state,
            CaseState::Mismatch);
}

TEST(JudgeHypotheses, NanSpreadsAlongRowsAndColumnsOnly) {
  auto truth = ramp(64);
  truth[2 * 8 + 5] = kNan;
  auto actual = truth;
  for (std::size_t i = 0; i < 8; ++i) {
    actual[2 * 8 + i] = kNan;
  }
  EXPECT_EQ(judged(DType::Float32, {8, 8}, actual, truth, ruleOf(OpClass::Exact)).cause,
            "nan-spread");
  actual[4 * 8 + 1] = kNan;
  EXPECT_EQ(judged(DType::Float32, {8, 8}, actual, truth, ruleOf(OpClass::Exact)).state,
            CaseState::NanInf);
}

TEST(JudgeHypotheses, CastOperandsAreNamedByTheReference) {
  const auto x = rounded(Format::Float32, noise(256, 1));
  const auto y = rounded(Format::Float32, noise(256, 2));
  const auto xb = rounded(Format::BFloat16, x);
  const auto yb = rounded(Format::BFloat16, y);
  std::vector<double> truth(256), cast(256);
  for (std::size_t i = 0; i < 256; ++i) {
    truth[i] = x[i] * y[i];
    cast[i] = xb[i] * yb[i];
  }
  const Output output(DType::Float32, {256}, cast, ruleOf(OpClass::Rounded));
  VectorReference reference(truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
  reference.set({Quantity::HypothesisValue, HypothesisId::BFloat16Inputs}, cast);
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Degraded);
  EXPECT_EQ(j.cause, "bf16-inputs");
  auto wrong = cast;
  wrong[9] *= 1.01;
  const Output bad(DType::Float32, {256}, wrong, ruleOf(OpClass::Rounded));
  const Judgement not_all = judge(bad.request, reference);
  EXPECT_EQ(not_all.state, CaseState::Mismatch);
  ASSERT_FALSE(not_all.trials.empty());
  EXPECT_EQ(not_all.trials.back().explained, 255);
}

TEST(JudgeHypotheses, ABoundThatExplainsAnythingExplainsNothing) {
  const auto truth = noise(256, 5);
  std::vector<double> zeros(256, 0.0);
  const Output output(DType::Float32, {256}, zeros, ruleOf(OpClass::Contraction), 2048);
  VectorReference reference(truth);
  reference.set({Quantity::HypothesisBound, HypothesisId::BFloat16Accumulation},
                std::vector<double>(256, 100.0));
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_THAT(j.trials.back().note, HasSubstr("explain anything"));
  EXPECT_EQ(j.pattern.oneValue, 0.0);
}

TEST(JudgeHypotheses, ACoarseArithmeticTouchesManyElements) {
  const auto truth = noise(256, 5);
  auto actual = rounded(Format::Float32, truth);
  actual[3] += 0.01 * actual[3];
  const Output output(DType::Float32, {256}, actual, ruleOf(OpClass::Contraction), 2048);
  VectorReference reference(truth);
  std::vector<double> room(256);
  std::ranges::transform(truth, room.begin(), [](double h) { return std::abs(h) / 16; });
  reference.set({Quantity::HypothesisBound, HypothesisId::BFloat16TileAccumulation}, room);
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_THAT(j.trials.back().note, HasSubstr("beyond their bound"));
}

// --- stage 6 and around it ---

TEST(JudgeUpstream, AsBadAsTheCpuIsItsOwnState) {
  const auto truth = ramp(32);
  auto cpu = truth;
  cpu[4] += 0.5;
  auto device = truth;
  device[4] += 0.25;
  const Output output(DType::Float32, {32}, device, ruleOf(OpClass::Normalisation), 64);
  VectorReference reference(truth);
  reference.set({Quantity::CpuSameDType, {}}, cpu);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::AsUpstream);
  reference.set({Quantity::CpuSameDType, {}}, truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
  auto elsewhere = truth;
  elsewhere[5] += 0.5;
  reference.set({Quantity::CpuSameDType, {}}, elsewhere);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Mismatch);
}

TEST(JudgeUpstream, TheCpusOwnNanIsUpstreamAndNoOther) {
  auto truth = ramp(32);
  truth[4] = kInf;
  auto device = truth;
  device[4] = kNan;
  Output output(DType::Float32, {32}, device, ruleOf(OpClass::Compound));
  output.request.specialInputs = true;
  VectorReference reference(truth);
  reference.set({Quantity::CpuSameDType, {}}, device);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::AsUpstream);
  reference.set({Quantity::CpuSameDType, {}}, truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::NanInf);
  auto elsewhere = truth;
  elsewhere[5] = kNan;
  reference.set({Quantity::CpuSameDType, {}}, elsewhere);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::NanInf);
}

TEST(JudgeBounds, AComponentBesideANanIsHeldToItsOwnSize) {
  auto truth = ramp(32);
  truth[5] = kNan;
  auto device = truth;
  device[4] = 1000;
  // Components of complex numbers lie side by side.
  const auto stateOf = [&](const std::vector<double>& components) {
    Output output(DType::Float32, {32}, components, ruleOf(OpClass::Rounded));
    output.request.actual = *TensorView::contiguous(DType::Complex64, output.bytes, {16});
    output.request.expected = {DType::Complex64, {16}, std::nullopt};
    output.request.specialInputs = true;
    VectorReference reference(truth);
    return judge(output.request, reference).state;
  };
  EXPECT_FALSE(isPass(stateOf(device)));
  EXPECT_TRUE(isPass(stateOf(truth)));
}

TEST(JudgeUpstream, ALongSumThatIsBitForBitTheCpusIsAHint) {
  const Sum s = sums(64, 4096, true);
  const Output output(DType::Float32, {64}, s.sequential, ruleOf(OpClass::Reduction), 4096);
  VectorReference reference(s.truth);
  reference.set({Quantity::Magnitude, {}}, s.magnitude);
  reference.set({Quantity::CpuSameDType, {}}, s.sequential);
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Pass);
  EXPECT_TRUE(j.identicalToCpu);
  reference.set({Quantity::CpuSameDType, {}}, rounded(Format::Float32, s.truth));
  EXPECT_FALSE(judge(output.request, reference).identicalToCpu);
  // Two machines that both return the nearest number are equal by right.
  const Output nearest(DType::Float32, {64}, s.truth, ruleOf(OpClass::Reduction), 4096);
  EXPECT_FALSE(judge(nearest.request, reference).identicalToCpu);
}

TEST(JudgeExtras, AllcloseIsALabelledGateBesideTheVerdict) {
  const auto truth = ramp(32);
  auto actual = truth;
  actual[1] *= 1.0001;
  Output output(DType::Float32, {32}, actual, ruleOf(OpClass::Rounded));
  VectorReference reference(truth);
  output.request.allclose = AllcloseTolerance{1e-3, 0};
  const Judgement j = judge(output.request, reference);
  EXPECT_EQ(j.state, CaseState::Mismatch);
  EXPECT_EQ(j.allclosePasses, true);
  output.request.allclose = AllcloseTolerance{1e-5, 0};
  EXPECT_EQ(judge(output.request, reference).allclosePasses, false);
}

TEST(JudgeExtras, AFailingReferenceIsAStateNotAPass) {
  class Broken final : public Reference {
   public:
    [[nodiscard]] bool offers(const Request& request) const override {
      return request.what == Quantity::Truth;
    }
    [[nodiscard]] Result<void> evaluate(const Request& /*request*/, std::int64_t /*first*/,
                                        std::span<double> /*out*/) override {
      return fail(ErrorCode::Unavailable, "worker died");
    }
  } broken;
  const Output output(DType::Float32, {4}, ramp(4), ruleOf(OpClass::Rounded));
  const Judgement j = judge(output.request, broken);
  EXPECT_EQ(j.state, CaseState::ReferenceError);
  EXPECT_THAT(j.reason, HasSubstr("worker died"));
}

TEST(JudgeExtras, ComplexIsJudgedByComponentWithTheModulus) {
  // (1e8 + i)(1 - 1e-8 i): the imaginary part cancels to 0 of 1.
  const std::vector<double> truth{1e8 + 1e-8, 0.0, 3.0, 4.0};
  std::vector<std::byte> bytes = encoded(DType::Float32, std::vector<double>{1e8, 2.0, 3.0, 4.0});
  JudgeRequest request;
  request.actual = *TensorView::contiguous(DType::Complex64, bytes, {2});
  request.expected = {DType::Complex64, {2}, std::nullopt};
  request.rule = ruleOf(OpClass::Rounded);
  VectorReference reference(truth);
  EXPECT_EQ(judge(request, reference).state, CaseState::Pass);
  bytes = encoded(DType::Float32, std::vector<double>{1e8, 2000.0, 3.0, 4.0});
  request.actual = *TensorView::contiguous(DType::Complex64, bytes, {2});
  EXPECT_EQ(judge(request, reference).state, CaseState::Mismatch);
}

}  // namespace
}  // namespace neuroncheck::numerics
