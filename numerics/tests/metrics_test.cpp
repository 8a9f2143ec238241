// SPDX-License-Identifier: Apache-2.0
#include "numerics/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "numerics/bounds/bound.h"
#include "numerics/format/round_run.h"

namespace neuroncheck::numerics {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Results, truths and bounds, with specials where asked for.
struct Data {
  std::vector<double> actual, truth, rounded, expected, maximal;

  [[nodiscard]] MetricsBlock block(std::size_t from = 0, std::size_t n = ~std::size_t{0}) const {
    n = std::min(n, actual.size() - from);
    const auto cut = [&](const std::vector<double>& all) {
      return std::span<const double>(all).subspan(from, n);
    };
    return {static_cast<std::int64_t>(from),
            cut(actual),
            cut(truth),
            cut(rounded),
            cut(expected),
            cut(maximal),
            {},
            {}};
  }
};

Data make(Format format, std::size_t n, std::uint64_t seed, double specials) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit;
  const std::array<double, 7> rare{kNan, kInf, -kInf, 0.0, -0.0, 1e-40, 1e39};
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    double truth = normal(random);
    double actual = truth * (1 + 1e-6 * normal(random));
    if (unit(random) < specials) {
      truth = rare.at(random() % rare.size());
    }
    if (unit(random) < specials) {
      actual = rare.at(random() % rare.size());
    }
    data.truth.push_back(truth);
    data.actual.push_back(roundTo(format, actual));
  }
  data.rounded.resize(n);
  data.expected.resize(n);
  data.maximal.resize(n);
  roundRun(format, data.truth, data.rounded);
  BoundModel model;
  model.arithmetic = declaredArithmetic(format);
  Bounder(model).run(data.truth, {}, data.expected, data.maximal);
  return data;
}

Metrics onePass(Format format, const Data& data, std::vector<std::int64_t> sizes) {
  MetricsAccumulator all(format, {true, false}, std::move(sizes), AllcloseTolerance{1e-5, 1e-8});
  all.add(data.block());
  return all.metrics();
}

void expectSame(const Metrics& a, const Metrics& b) {
  RC_ASSERT(a.count == b.count);
  RC_ASSERT(a.finitePairs == b.finitePairs);
  RC_ASSERT(a.maxAbs == b.maxAbs);
  RC_ASSERT(a.maxRel == b.maxRel);
  RC_ASSERT(a.maxUlp == b.maxUlp);
  RC_ASSERT(a.maxUlpSigned == b.maxUlpSigned);
  RC_ASSERT(a.maxUlpDistance == b.maxUlpDistance);
  RC_ASSERT(a.maxRatio == b.maxRatio);
  RC_ASSERT(a.neededRtol == b.neededRtol);
  RC_ASSERT(a.ratios == b.ratios);
  RC_ASSERT(a.classes == b.classes);
  RC_ASSERT(a.faults == b.faults);
  RC_ASSERT(a.beyondMaximal == b.beyondMaximal);
  RC_ASSERT(a.uselessBounds == b.uselessBounds);
  RC_ASSERT(a.signDiffers == b.signDiffers);
  RC_ASSERT(a.zeroSignDiffers == b.zeroSignDiffers);
  RC_ASSERT(a.saturatedTruth == b.saturatedTruth);
  RC_ASSERT(a.relUndefined == b.relUndefined);
  RC_ASSERT(a.allcloseFailures == b.allcloseFailures);
  RC_ASSERT(a.truthMin == b.truthMin);
  RC_ASSERT(a.truthMax == b.truthMax);
  RC_ASSERT(a.actualMin == b.actualMin);
  RC_ASSERT(a.actualMax == b.actualMax);
  const auto near = [](double x, double y) {
    return x == y || std::abs(x - y) <= 1e-13 * std::abs(x);
  };
  RC_ASSERT(near(a.squaredError.value(), b.squaredError.value()));
  RC_ASSERT(near(a.squaredTruth.value(), b.squaredTruth.value()));
  RC_ASSERT(near(a.absoluteError.value(), b.absoluteError.value()));
  RC_ASSERT(near(a.squaredRounding.value(), b.squaredRounding.value()));
  RC_ASSERT(a.worst.size() == b.worst.size());
  for (std::size_t i = 0; i < a.worst.size(); ++i) {
    RC_ASSERT(a.worst[i].index == b.worst[i].index);
    RC_ASSERT(a.worst[i].ratio == b.worst[i].ratio);
  }
  RC_ASSERT(a.pattern.classify().text() == b.pattern.classify().text());
}

RC_GTEST_PROP(Metrics, ChunksMergedInAnyOrderAreOnePass, (std::uint64_t seed)) {
  const auto format = *rc::gen::element(Format::Float32, Format::BFloat16, Format::Float16);
  const std::size_t n = *rc::gen::inRange<std::size_t>(1, 1500);
  const Data data = make(format, n, seed, *rc::gen::element(0.0, 0.02, 0.3));
  const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(n)};
  std::vector<Metrics> parts;
  for (std::size_t from = 0; from < n;) {
    const std::size_t count = *rc::gen::inRange<std::size_t>(1, n - from + 1);
    MetricsAccumulator part(format, {true, false}, sizes, AllcloseTolerance{1e-5, 1e-8});
    part.add(data.block(from, count));
    parts.push_back(part.metrics());
    from += count;
  }
  std::mt19937_64 random(seed);
  std::ranges::shuffle(parts, random);
  Metrics merged(sizes);
  for (const Metrics& part : parts) {
    merged.merge(part);
  }
  expectSame(merged, onePass(format, data, sizes));
}

/// By a slow walk that shares no code with the pass.
RC_GTEST_PROP(Metrics, ThePassIsTheDefinition, (std::uint64_t seed)) {
  const auto format =
      *rc::gen::element(Format::Float32, Format::BFloat16, Format::Float16, Format::E4M3);
  const Data data = make(format, 700, seed, *rc::gen::element(0.0, 0.1));
  const Metrics m = onePass(format, data, {700});
  double maxAbs = 0, maxRel = 0, maxUlp = 0, maxRatio = 0, sum = 0, truths = 0, distance = 0;
  std::int64_t finite = 0, beyond = 0, loose = 0, nan = 0;
  for (std::size_t i = 0; i < 700; ++i) {
    const double h = data.truth[i];
    const double a = data.actual[i];
    const bool close = std::isfinite(h) && std::abs(a - h) <= 1e-8 + 1e-5 * std::abs(h);
    loose += a == h || close ? 0 : 1;
    nan += std::isnan(a) && !std::isnan(h) && !std::isnan(data.rounded[i]) ? 1 : 0;
    if (!std::isfinite(a) || !std::isfinite(h) || !std::isfinite(data.rounded[i])) {
      continue;
    }
    ++finite;
    const double d = std::abs(a - h);
    maxAbs = std::max(maxAbs, d);
    maxRel = h == 0 ? maxRel : std::max(maxRel, d / std::abs(h));
    maxUlp = std::max(maxUlp, std::abs(ulpError(format, a, h)));
    maxRatio = std::max(maxRatio, d == 0 ? 0 : d / data.expected[i]);
    distance = std::max(
        distance, static_cast<double>(*ulpDistance(format, encode(format, a), encode(format, h))));
    sum += d * d;
    truths += h * h;
    beyond += d > data.expected[i] ? 1 : 0;
  }
  RC_ASSERT(m.finitePairs == finite);
  RC_ASSERT(m.maxAbs.value == maxAbs);
  // The pass multiplies by 1/|H|: one more rounding.
  RC_ASSERT(std::abs(m.maxRel.value - maxRel) <= 1e-15 * maxRel);
  RC_ASSERT(m.maxUlp.value == maxUlp);
  RC_ASSERT(m.maxRatio.value == maxRatio);
  RC_ASSERT(m.maxUlpDistance.value == distance);
  RC_ASSERT(m.faults[static_cast<std::size_t>(Fault::BeyondExpected)] == beyond);
  RC_ASSERT(m.faults[static_cast<std::size_t>(Fault::NanAppeared)] == nan);
  RC_ASSERT(std::abs(m.squaredError.value() - sum) <= 1e-12 * sum);
  RC_ASSERT(m.allcloseFailures == loose);
  RC_ASSERT(std::abs(*m.relativeL2() - std::sqrt(sum / truths)) <= 1e-12);
}

RC_GTEST_PROP(Metrics, ScalingByPowersOfTwoScalesErrorsAndBoundsExactly, (std::uint64_t seed)) {
  const int power = *rc::gen::inRange(-20, 21);
  Data data = make(Format::Float32, 300, seed, 0);
  const Metrics before = onePass(Format::Float32, data, {300});
  for (auto* run : {&data.actual, &data.truth, &data.rounded}) {
    for (double& x : *run) {
      x = std::ldexp(x, power);
    }
  }
  // The part of the bound that does not scale is half the smallest subnormal; leave it out.
  for (auto* run : {&data.expected, &data.maximal}) {
    for (double& x : *run) {
      x = std::ldexp(x, power);
    }
  }
  const Metrics after = onePass(Format::Float32, data, {300});
  RC_ASSERT(after.maxAbs.value == std::ldexp(before.maxAbs.value, power));
  RC_ASSERT(after.maxAbs.index == before.maxAbs.index);
  RC_ASSERT(after.maxRel == before.maxRel);
  RC_ASSERT(after.maxUlp == before.maxUlp);
  RC_ASSERT(after.maxRatio == before.maxRatio);
  RC_ASSERT(after.ratios == before.ratios);
  RC_ASSERT(after.faults == before.faults);
}

RC_GTEST_PROP(Metrics, PermutingElementsPermutesIndicesOnly, (std::uint64_t seed)) {
  const std::size_t n = 400;
  const Data data = make(Format::BFloat16, n, seed, 0.05);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  std::ranges::shuffle(order, random);
  Data mixed;
  for (const std::size_t i : order) {
    mixed.actual.push_back(data.actual[i]);
    mixed.truth.push_back(data.truth[i]);
    mixed.rounded.push_back(data.rounded[i]);
    mixed.expected.push_back(data.expected[i]);
    mixed.maximal.push_back(data.maximal[i]);
  }
  const Metrics a = onePass(Format::BFloat16, data, {n});
  const Metrics b = onePass(Format::BFloat16, mixed, {n});
  RC_ASSERT(a.maxAbs.value == b.maxAbs.value);
  // Of equal errors each keeps its own first one, so the errors are compared, not the elements.
  const auto errorAt = [](const Data& of, std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    return std::abs(of.actual[i] - of.truth[i]);
  };
  RC_ASSERT(errorAt(data, a.maxAbs.index) == errorAt(mixed, b.maxAbs.index));
  RC_ASSERT(a.ratios == b.ratios);
  RC_ASSERT(a.classes == b.classes);
  RC_ASSERT(a.faults == b.faults);
}

RC_GTEST_PROP(Metrics, ErrorsAreSymmetricInDirection, (std::uint64_t seed)) {
  Data data = make(Format::Float32, 200, seed, 0);
  const Metrics up = onePass(Format::Float32, data, {200});
  for (std::size_t i = 0; i < data.actual.size(); ++i) {
    data.actual[i] = -data.actual[i];
    data.truth[i] = -data.truth[i];
    data.rounded[i] = -data.rounded[i];
  }
  const Metrics down = onePass(Format::Float32, data, {200});
  RC_ASSERT(up.maxAbs == down.maxAbs);
  RC_ASSERT(up.ratios == down.ratios);
  RC_ASSERT(std::abs(up.bias() + down.bias()) < 1e-12);
  RC_ASSERT(std::abs(up.outwardBias() - down.outwardBias()) < 1e-12);
}

RC_GTEST_PROP(RoundRun, IsRoundToOfEachElement, (std::vector<std::uint64_t> patterns)) {
  const auto format = static_cast<Format>(*rc::gen::inRange(0, static_cast<int>(kFormatCount)));
  std::vector<double> values;
  for (const std::uint64_t pattern : patterns) {
    values.push_back(std::bit_cast<double>(pattern));
    // And near the range of the narrow formats, where subnormals and overflow are.
    values.push_back(std::ldexp(1 + static_cast<double>(pattern % 4096) / 4096,
                                static_cast<int>(pattern % 300) - 150));
  }
  std::vector<double> out(values.size());
  roundRun(format, values, out);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = roundTo(format, values[i]);
    const bool same = std::isnan(expected) ? std::isnan(out[i])
                                           : std::bit_cast<std::uint64_t>(expected) ==
                                                 std::bit_cast<std::uint64_t>(out[i]);
    RC_ASSERT(same);
    if (std::isfinite(out[i]) && format != Format::Float64 && format != Format::E8M0) {
      RC_ASSERT(ordinalOf(traits(format), out[i]) ==
                static_cast<double>(*ordinal(format, encode(format, out[i]))));
    }
  }
}

RC_GTEST_PROP(Metrics, EqualBytesAreWhatThePassSaysOfThem, (std::uint64_t seed)) {
  const auto format = *rc::gen::element(Format::Float32, Format::BFloat16);
  Data data = make(format, 1100, seed, *rc::gen::element(0.0, 0.05));
  data.truth = data.rounded = data.actual;
  const std::vector<double> none(data.actual.size(), 0.0);
  data.expected = data.maximal = none;
  MetricsAccumulator quick(format, {true, false}, {1100}, AllcloseTolerance{1e-5, 1e-8});
  quick.addEqual(0, data.actual);
  expectSame(quick.metrics(), onePass(format, data, {1100}));
}

TEST(Metrics, UndefinedIsNotANumberThatPasses) {
  Data constant = make(Format::Float32, 8, 1, 0);
  std::ranges::fill(constant.truth, 0.0);
  std::ranges::fill(constant.rounded, 0.0);
  const Metrics m = onePass(Format::Float32, constant, {8});
  EXPECT_FALSE(m.relativeL2());
  EXPECT_FALSE(m.sqnr());
  EXPECT_FALSE(m.cosine());
  EXPECT_FALSE(m.errorRatio());
}

TEST(RatioHistogram, BinsAreBinadesAndQuantilesTheirUpperEnds) {
  EXPECT_EQ(RatioHistogram::binOf(0), 0U);
  EXPECT_EQ(RatioHistogram::binOf(1.0), 49U);
  EXPECT_EQ(RatioHistogram::binOf(std::nextafter(1.0, 0.0)), 48U);
  EXPECT_EQ(RatioHistogram::binOf(kInf), 65U);
  EXPECT_EQ(RatioHistogram::binOf(1e300), 65U);
  EXPECT_EQ(RatioHistogram::binOf(1e-300), 0U);
  RatioHistogram h;
  for (int i = 0; i < 99; ++i) {
    h.add(0.3);
  }
  h.add(5.0);
  EXPECT_EQ(h.quantile(0.5), 0.5);
  EXPECT_EQ(h.quantile(0.99), 0.5);
  EXPECT_EQ(h.quantile(1.0), 8.0);
}

// --- patterns ---

Pattern of(std::vector<std::int64_t> sizes, const std::vector<std::int64_t>& wrong) {
  PatternCollector collector(std::move(sizes));
  for (const std::int64_t i : wrong) {
    collector.add(i, static_cast<double>(i));
  }
  return collector.classify();
}

std::vector<std::int64_t> where(std::int64_t n, const std::function<bool(std::int64_t)>& is) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < n; ++i) {
    if (is(i)) {
      out.push_back(i);
    }
  }
  return out;
}

TEST(Pattern, EachKindIsRecognised) {
  EXPECT_EQ(of({8, 8}, {}).kind, PatternKind::None);
  EXPECT_EQ(of({8, 8}, {9}).kind, PatternKind::Single);
  EXPECT_EQ(of({2, 2}, {0, 1, 2, 3}).kind, PatternKind::All);
  const Pattern row = of({8, 8}, where(64, [](auto i) { return i / 8 == 3 || i / 8 == 6; }));
  EXPECT_EQ(row.kind, PatternKind::Slices);
  EXPECT_EQ(row.dimension, 0);
  EXPECT_THAT(row.indices, ElementsAre(3, 6));
  EXPECT_EQ(row.text(), "whole slices of dimension 0 (rows): 3, 6");
  const Pattern column = of({8, 8}, where(64, [](auto i) { return i % 8 == 7; }));
  EXPECT_EQ(column.text(), "whole slices of dimension 1 (columns): 7");
  const Pattern tail = of({100}, where(100, [](auto i) { return i >= 90; }));
  EXPECT_EQ(tail.text(), "everything from linear index 90 on");
  const Pattern edge =
      of({4, 300}, where(1200, [](auto i) { return (i % 300) % 128 == 127 && i != 127; }));
  EXPECT_EQ(edge.kind, PatternKind::TileEdge);  // columns 127 and 255, but for one element
  const Pattern edges =
      of({4, 1000}, where(4000, [](auto i) { return (i % 1000) % 128 == 0 && i % 3 == 0; }));
  EXPECT_EQ(edges.kind, PatternKind::TileEdge);
  EXPECT_EQ(edges.step, 128);
  EXPECT_EQ(edges.dimension, 1);
  const Pattern strided = of({50}, where(50, [](auto i) { return i % 2 == 1; }));
  EXPECT_EQ(strided.text(), "every 2nd element, from linear index 1");
  EXPECT_EQ(of({1000}, where(1000, [](auto i) { return i % 13 == 2; })).text(),
            "every 13th element, from linear index 2");
  const Pattern region =
      of({8, 64}, where(512, [](auto i) { return i / 64 == 2 && i * i % 11 == 3; }));
  EXPECT_EQ(region.kind, PatternKind::Region);
  EXPECT_THAT(region.text(), HasSubstr("within slices of dimension 0 (rows): 2"));
  EXPECT_EQ(of({64}, {1, 2, 7, 30, 31, 44}).kind, PatternKind::Scattered);
}

TEST(Pattern, OneValueEverywhereIsNotWritten) {
  PatternCollector collector({8, 8});
  for (std::int64_t i = 56; i < 64; ++i) {
    collector.add(i, 0.0);
  }
  EXPECT_EQ(collector.classify().text(),
            "whole slices of dimension 0 (rows): 7, all read 0: not written?");
  PatternCollector poison({8});
  for (std::int64_t i = 0; i < 4; ++i) {
    poison.add(i, kNan);
  }
  EXPECT_TRUE(std::isnan(*poison.classify().oneValue));
}

TEST(Pattern, LongDimensionsAreBounded) {
  PatternCollector collector({1'000'000'000'000});
  collector.add(999'999'999'999, 1.0);
  collector.add(5, 2.0);
  EXPECT_EQ(collector.classify().kind, PatternKind::Scattered);
}

}  // namespace
}  // namespace neuroncheck::numerics
