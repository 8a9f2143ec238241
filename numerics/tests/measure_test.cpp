// SPDX-License-Identifier: Apache-2.0
// Threads and shortcuts change how fast a judgement is, never what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>

#include "numerics/tests/support/samples.h"
#include "numerics/verdict/crew.h"
#include "numerics/verdict/tensor_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

using ::testing::HasSubstr;

/// More than seven threads' chunks, and neither a whole chunk nor a whole block at the end.
constexpr std::size_t kMany = 7 * (1 << 18) + 12'345;

void expectSameBits(double a, double b, const char* what) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << what;
}

void expectSameSums(const Metrics& a, const Metrics& b) {
  expectSameBits(a.squaredError.value(), b.squaredError.value(), "squaredError");
  expectSameBits(a.squaredTruth.value(), b.squaredTruth.value(), "squaredTruth");
  expectSameBits(a.squaredActual.value(), b.squaredActual.value(), "squaredActual");
  expectSameBits(a.product.value(), b.product.value(), "product");
  expectSameBits(a.signedError.value(), b.signedError.value(), "signedError");
  expectSameBits(a.absoluteError.value(), b.absoluteError.value(), "absoluteError");
  expectSameBits(a.absoluteTruth.value(), b.absoluteTruth.value(), "absoluteTruth");
  expectSameBits(a.signedRatio.value(), b.signedRatio.value(), "signedRatio");
  expectSameBits(a.outwardRatio.value(), b.outwardRatio.value(), "outwardRatio");
  expectSameBits(a.squaredRounding.value(), b.squaredRounding.value(), "squaredRounding");
  expectSameBits(a.squaredEmulated.value(), b.squaredEmulated.value(), "squaredEmulated");
  expectSameBits(a.truthMin, b.truthMin, "truthMin");
  expectSameBits(a.truthMax, b.truthMax, "truthMax");
  expectSameBits(a.actualMin, b.actualMin, "actualMin");
  expectSameBits(a.actualMax, b.actualMax, "actualMax");
}

void expectSame(const Judgement& a, const Judgement& b) {
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.cause, b.cause);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.identicalToCpu, b.identicalToCpu);
  EXPECT_EQ(a.pattern.text(), b.pattern.text());
  EXPECT_EQ(a.metrics.count, b.metrics.count);
  EXPECT_EQ(a.metrics.finitePairs, b.metrics.finitePairs);
  EXPECT_EQ(a.metrics.maxAbs, b.metrics.maxAbs);
  EXPECT_EQ(a.metrics.maxRel, b.metrics.maxRel);
  EXPECT_EQ(a.metrics.maxUlp, b.metrics.maxUlp);
  EXPECT_EQ(a.metrics.maxUlpSigned, b.metrics.maxUlpSigned);
  EXPECT_EQ(a.metrics.maxUlpDistance, b.metrics.maxUlpDistance);
  EXPECT_EQ(a.metrics.maxRatio, b.metrics.maxRatio);
  EXPECT_EQ(a.metrics.neededRtol, b.metrics.neededRtol);
  EXPECT_EQ(a.metrics.ratios, b.metrics.ratios);
  EXPECT_EQ(a.metrics.classes, b.metrics.classes);
  EXPECT_EQ(a.metrics.faults, b.metrics.faults);
  EXPECT_EQ(a.metrics.zeroSignDiffers, b.metrics.zeroSignDiffers);
  EXPECT_EQ(a.metrics.signDiffers, b.metrics.signDiffers);
  EXPECT_EQ(a.metrics.beyondMaximal, b.metrics.beyondMaximal);
  EXPECT_EQ(a.metrics.uselessBounds, b.metrics.uselessBounds);
  EXPECT_EQ(a.metrics.saturatedTruth, b.metrics.saturatedTruth);
  EXPECT_EQ(a.metrics.relUndefined, b.metrics.relUndefined);
  EXPECT_EQ(a.metrics.allcloseFailures, b.metrics.allcloseFailures);
  expectSameSums(a.metrics, b.metrics);
  ASSERT_EQ(a.metrics.worst.size(), b.metrics.worst.size());
  for (std::size_t i = 0; i < a.metrics.worst.size(); ++i) {
    EXPECT_EQ(a.metrics.worst[i].index, b.metrics.worst[i].index);
    EXPECT_EQ(a.metrics.worst[i].fault, b.metrics.worst[i].fault);
  }
}

struct Files {
  std::vector<std::byte> truth, actual;
  DType truthDType, dtype;
  std::size_t count;
  OpClass opClass;

  [[nodiscard]] Judgement judged(unsigned threads) const {
    const auto n = static_cast<std::int64_t>(count);
    JudgeRequest request;
    request.actual = *TensorView::contiguous(dtype, actual, {n});
    request.expected = {dtype, {n}, std::nullopt};
    request.rule = ruleOf(opClass, 4);
    request.allclose = AllcloseTolerance{1e-5, 1e-8};
    request.threads = threads;
    std::int64_t last = 0;
    request.progress = [&](std::int64_t done) {
      EXPECT_GT(done, last);
      last = done;
    };
    TensorReference reference(*TensorView::contiguous(truthDType, truth, {n}));
    Judgement judgement = judge(request, reference);
    EXPECT_EQ(last, n);
    return judgement;
  }
};

/// Values with zeros and specials here and there, and results that are off by a little or, one in
/// `wrongEvery`, by much.
Files make(DType truthDType, DType dtype, OpClass opClass, std::size_t n, std::size_t wrongEvery) {
  std::mt19937_64 random(n);
  std::vector<double> truth = noise(n, 3);
  for (std::size_t i = 0; i < n; i += 1 + random() % 3000) {
    truth[i] = std::array<double, 5>{0.0, -0.0, kInf, kNan, 1e-40}.at(random() % 5);
  }
  std::vector<std::byte> bytes = encoded(truthDType, truth);
  decodeRun(truthDType, bytes, truth);
  std::vector<double> actual = truth;
  if (opClass != OpClass::Exact) {
    for (std::size_t i = 0; i < n; i += 3) {
      actual[i] *= 1 + 0x1p-24;
    }
  }
  for (std::size_t i = wrongEvery / 2; wrongEvery != 0 && i < n; i += wrongEvery) {
    actual[i] = i % 2 == 0 ? 2 * actual[i] : kNan;
  }
  return {std::move(bytes), encoded(dtype, actual), truthDType, dtype, n, opClass};
}

void expectThreadsDoNotMatter(const Files& files) {
  const Judgement alone = files.judged(1);
  for (const unsigned threads : {2U, 3U, 7U}) {
    SCOPED_TRACE(threads);
    expectSame(files.judged(threads), alone);
  }
}

TEST(MeasureThreads, AnyNumberGivesTheSameBits) {
  for (const std::size_t n : {kMany, kMany - 12'345, std::size_t{1}, (std::size_t{1} << 18) + 1}) {
    SCOPED_TRACE(n);
    expectThreadsDoNotMatter(make(DType::Float32, DType::Float32, OpClass::Elementary, n, 0));
  }
  expectThreadsDoNotMatter(
      make(DType::Float64, DType::BFloat16, OpClass::Contraction, kMany, 1001));
  expectThreadsDoNotMatter(make(DType::Float32, DType::Float32, OpClass::Exact, kMany, 0));
  expectThreadsDoNotMatter(make(DType::Float32, DType::Float32, OpClass::Exact, kMany, 400'003));
}

TEST(MeasureThreads, TheFirstErrorOfASharedReferenceEndsTheMatter) {
  struct Failing final : Reference {
    [[nodiscard]] bool offers(const Request& request) const override {
      return request.what == Quantity::Truth;
    }
    [[nodiscard]] Result<void> evaluate(const Request& /*request*/, std::int64_t first,
                                        std::span<double> out) override {
      std::ranges::fill(out, 1.0);
      return first < 300'000 ? Result<void>()
                             : fail(ErrorCode::Internal, "no element " + std::to_string(first));
    }
    [[nodiscard]] std::unique_ptr<Reference> share() const override {
      return std::make_unique<Failing>();
    }
  };
  const Files files =
      make(DType::Float32, DType::Float32, OpClass::Elementary, 4 * (std::size_t{1} << 18), 0);
  const auto n = static_cast<std::int64_t>(files.count);
  JudgeRequest request;
  request.actual = *TensorView::contiguous(files.dtype, files.actual, {n});
  request.expected = {files.dtype, {n}, std::nullopt};
  for (const unsigned threads : {1U, 4U}) {
    request.threads = threads;
    Failing reference;
    const Judgement judgement = judge(request, reference);
    EXPECT_EQ(judgement.state, CaseState::ReferenceError);
    EXPECT_THAT(judgement.reason, HasSubstr("no element 300032"));  // the next whole run
  }
}

TEST(MeasureThreads, AReferenceThatCannotBeSharedIsReadByOne) {
  const std::vector<double> truth = rounded(Format::Float32, noise(600'000));
  Output output(DType::Float32, {600'000}, truth, ruleOf(OpClass::Rounded));
  output.request.threads = 4;
  VectorReference reference(truth);
  EXPECT_EQ(judge(output.request, reference).state, CaseState::Pass);
}

TEST(Crew, EveryMemberDoesEachTurnOnce) {
  std::atomic<std::int64_t> sum = 0;
  detail::Crew crew(
      5, [&](std::size_t member) { sum += static_cast<std::int64_t>(1) << (8 * member); });
  ASSERT_EQ(crew.size(), 5U);
  for (int turn = 0; turn < 200; ++turn) {
    crew.together();
  }
  EXPECT_EQ(sum, 200 * 0x0101010101LL);
}

TEST(EqualRuns, DoNotForgetTheExtentOfUnequalOnes) {
  std::vector<double> truth = ramp(2048);
  std::vector<double> actual = truth;
  actual[5] = -700;
  actual[6] = 900;
  const Output output(DType::Float32, {2048}, actual, ruleOf(OpClass::Exact));
  const std::vector<std::byte> bytes = encoded(DType::Float32, truth);
  TensorReference reference(*TensorView::contiguous(DType::Float32, bytes, {2048}));
  const Judgement judgement = judge(output.request, reference);
  EXPECT_EQ(judgement.metrics.actualMin, -700);
  EXPECT_EQ(judgement.metrics.actualMax, 900);
  EXPECT_EQ(judgement.metrics.truthMin, truth.front());
  EXPECT_EQ(judgement.metrics.truthMax, truth.back());
}

}  // namespace
}  // namespace neuroncheck::numerics::testing
