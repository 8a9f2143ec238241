// SPDX-License-Identifier: Apache-2.0
// The vector loops leave out what a block shows no sign of. Here every element is looked at singly.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "numerics/bounds/bound.h"
#include "numerics/format/round_run.h"
#include "numerics/metrics/metrics.h"

namespace neuroncheck::numerics {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Blocks {
  std::vector<double> actual, truth, rounded, expected, maximal;
};

/// What a block of values may be like; each kind wakes other loops.
enum class Kind : std::uint8_t { Plain, Zeros, Small, Large, Specials, Constant, Opposite, Equal };
constexpr int kKinds = 8;

double valueOf(Kind kind, const FormatTraits& f, double normal, std::uint64_t random) {
  switch (kind) {
    case Kind::Zeros:
      return random % 2 == 0 ? std::copysign(0.0, normal) : normal;
    case Kind::Small:
      return normal * f.minNormal();
    case Kind::Large:
      return normal * f.maxFinite() / 2;
    case Kind::Specials: {
      const std::array<double, 8> rare{kNan, kInf, -kInf, 0.0, -0.0, f.minSubnormal(), 1e300, 1};
      return random % 40 == 0 ? rare.at(random / 40 % rare.size()) : normal;
    }
    case Kind::Constant:
      return 3;
    default:
      return normal;
  }
}

Blocks make(Format format, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const FormatTraits& f = traits(format);
  Blocks data;
  Kind kind = Kind::Plain;
  double scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 512 == 0) {
      kind = static_cast<Kind>(random() % kKinds);
      scale = std::ldexp(1.0, -static_cast<int>(random() % 30));
    }
    const double truth = valueOf(kind, f, normal(random), random());
    double actual = kind == Kind::Equal ? truth : truth * (1 + scale * normal(random));
    actual = kind == Kind::Opposite ? -actual : actual;
    actual = kind == Kind::Specials ? valueOf(kind, f, actual, random()) : actual;
    data.truth.push_back(kind == Kind::Equal ? roundTo(format, truth) : truth);
    data.actual.push_back(roundTo(format, actual));
  }
  for (auto* run : {&data.rounded, &data.expected, &data.maximal}) {
    run->resize(n);
  }
  roundRun(format, data.truth, data.rounded);
  BoundModel model;
  model.arithmetic = declaredArithmetic(format);
  model.opClass = OpClass::Contraction;
  model.length = static_cast<double>(1 + random() % 5000);
  const std::vector<double> magnitude(n, std::ldexp(1.0, static_cast<int>(random() % 20) - 10));
  Bounder(model).run(data.truth, magnitude, data.expected, data.maximal);
  return data;
}

/// The counts and extremes of a pass, by the definition of each.
struct Slow {
  Metrics m;
  const FormatTraits& f;
  AllcloseTolerance defaults;
  SpecialPolicy policy;
  MetricsAccumulator rules;

  Slow(Format format, SpecialPolicy special)
      : f(traits(format)),
        defaults(assertCloseDefaults(format)),
        policy(special),
        rules(format, special, {}) {}

  void add(std::int64_t at, double actual, double truth, double rounded, double expected,
           double maximal) {
    ++m.count;
    m.classes.add(classify(f, rounded), classify(f, actual));
    const Fault fault = rules.judge(actual, truth, rounded, expected);
    ++m.faults.at(static_cast<std::size_t>(fault));
    const bool special = fault != Fault::None && fault != Fault::BeyondExpected;
    m.beyondMaximal += special ? 1 : 0;
    if (std::isfinite(actual) && std::isfinite(truth) && std::isfinite(rounded)) {
      addFinite(at, actual, truth, rounded, expected, maximal);
    } else {
      m.saturatedTruth += std::isinf(rounded) ? 1 : 0;
    }
  }

 private:
  void addFinite(std::int64_t at, double actual, double truth, double rounded, double expected,
                 double maximal) {
    const double h = std::abs(truth);
    const double error = std::abs(actual - truth);
    const double ratio = error == 0 ? 0 : error / expected;
    ++m.finitePairs;
    m.maxAbs.offer(error, at);
    m.maxRatio.offer(ratio, at);
    ++bins.at(RatioHistogram::binOf(ratio));
    m.maxRel.offer(h > 0 ? error * (1 / h) : 0, at);
    m.neededRtol.offer(h > 0 ? std::max((error - defaults.atol) * (1 / h), 0.0) : 0, at);
    const double binade = h == 0 ? 0 : std::ldexp(1.0, std::ilogb(h));
    m.maxUlp.offer(error / (std::max(binade, f.minNormal()) * 2 * f.unitRoundoff()), at);
    m.maxUlpDistance.offer(std::abs(ordinalOf(f, actual) - ordinalOf(f, rounded)), at);
    m.beyondMaximal += error > maximal ? 1 : 0;
    m.saturatedTruth += std::abs(rounded) >= f.maxFinite() ? 1 : 0;
    m.relUndefined += h == 0 ? 1 : 0;
    const double useless = std::max(0.125, 2 * f.unitRoundoff());
    m.uselessBounds += h != 0 && expected > useless * h ? 1 : 0;
    m.signDiffers += truth * actual < 0 && h > expected ? 1 : 0;
    const bool zeroes = rounded == 0 && actual == 0;
    m.zeroSignDiffers += zeroes && std::signbit(rounded) != std::signbit(actual) ? 1 : 0;
  }

 public:
  std::array<std::int64_t, RatioHistogram::kBins> bins{};
};

RC_GTEST_PROP(MetricsLoops, LeaveOutNothingThatIsThere, (std::uint64_t seed)) {
  const auto format = *rc::gen::element(Format::Float32, Format::BFloat16, Format::Float16,
                                        Format::E4M3FN, Format::E5M2, Format::Float64);
  const auto n = *rc::gen::inRange<std::size_t>(1, 4000);
  const SpecialPolicy policy{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  const Blocks data = make(format, n, seed);
  MetricsAccumulator fast(format, policy, {static_cast<std::int64_t>(n)});
  fast.add({0, data.actual, data.truth, data.rounded, data.expected, data.maximal, {}, {}});
  Slow slow(format, policy);
  for (std::size_t i = 0; i < n; ++i) {
    slow.add(static_cast<std::int64_t>(i), data.actual[i], data.truth[i], data.rounded[i],
             data.expected[i], data.maximal[i]);
  }
  const Metrics& a = fast.metrics();
  const Metrics& b = slow.m;
  RC_ASSERT(a.count == b.count);
  RC_ASSERT(a.finitePairs == b.finitePairs);
  RC_ASSERT(a.maxAbs == b.maxAbs);
  RC_ASSERT(a.maxRel == b.maxRel);
  RC_ASSERT(a.neededRtol == b.neededRtol);
  RC_ASSERT(a.maxUlp == b.maxUlp);
  RC_ASSERT(a.maxUlpDistance == b.maxUlpDistance);
  RC_ASSERT(a.maxRatio == b.maxRatio);
  RC_ASSERT(a.ratios.counts() == slow.bins);
  RC_ASSERT(a.classes == b.classes);
  RC_ASSERT(a.wrong() == b.wrong());
  RC_ASSERT(a.beyondMaximal == b.beyondMaximal);
  RC_ASSERT(a.relUndefined == b.relUndefined);
  RC_ASSERT(a.uselessBounds == b.uselessBounds);
  RC_ASSERT(a.signDiffers == b.signDiffers);
  RC_ASSERT(a.zeroSignDiffers == b.zeroSignDiffers);
  RC_ASSERT(a.saturatedTruth == b.saturatedTruth);
}

RC_GTEST_PROP(MetricsLoops, TheHistogramCountsEachRatioInItsBin, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::vector<double> ratios(*rc::gen::inRange<std::size_t>(1, 1300));
  std::array<std::int64_t, RatioHistogram::kBins> bins{};
  const int spread = *rc::gen::element(1, 12, 140);
  double largest = 0;
  for (double& ratio : ratios) {
    ratio = random() % 4 == 0 ? 0 : std::ldexp(1.5, -static_cast<int>(random() % spread));
    ratio = random() % 500 == 0 ? std::array<double, 3>{kInf, 1e300, kNan}.at(random() % 3) : ratio;
    largest = ratio < 2 ? std::max(largest, ratio) : largest;
    // NaN, which only a bound that is NaN makes, counts as beyond all.
    ++bins.at(std::isnan(ratio) ? RatioHistogram::kBins - 1 : RatioHistogram::binOf(ratio));
  }
  RatioHistogram histogram;
  histogram.add(ratios, *rc::gen::element(largest, kInf, 0.0));
  RC_ASSERT(histogram.counts() == bins);
}

/// Bounds must not hang on where in a run their element stands.
RC_GTEST_PROP(MetricsLoops, ABoundIsTheSameInEveryRun, (std::uint64_t seed)) {
  const Blocks data = make(Format::Float32, 100, seed);
  BoundModel model;
  model.opClass = OpClass::Contraction;
  model.coefficient = 3;
  model.length = 77;
  const Bounder bounder(model);
  std::vector<double> magnitude = data.truth;
  std::ranges::transform(magnitude, magnitude.begin(), [](double h) { return 3 * h + 1; });
  std::vector<double> expected(100), maximal(100);
  bounder.run(data.truth, magnitude, expected, maximal);
  const auto from = *rc::gen::inRange<std::size_t>(0, 100);
  const auto n = *rc::gen::inRange<std::size_t>(1, 101 - from);
  std::vector<double> low(n), high(n);
  bounder.run(std::span(data.truth).subspan(from, n), std::span(magnitude).subspan(from, n), low,
              high);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    RC_ASSERT(bits(low[i]) == bits(expected[from + i]));
    RC_ASSERT(bits(high[i]) == bits(maximal[from + i]));
  }
}

}  // namespace
}  // namespace neuroncheck::numerics
