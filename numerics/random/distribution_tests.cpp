// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/distribution_tests.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::int64_t kFewestForKs = 1000;

std::int64_t countOf(std::span<const double> samples) {
  return static_cast<std::int64_t>(samples.size());
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> values(samples.begin(), samples.end());
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  return values;
}

/// sup |F_n - F| where F of a rounded value lies between F(below) and F(above) of its cell.
double distanceAllowing(std::span<const double> values, const Distribution& distribution,
                        const Quantisation* quantisation) {
  const auto n = static_cast<double>(values.size());
  double worst = 0;
  for (std::size_t first = 0; first < values.size();) {
    const double value = values[first];
    std::size_t end = first + 1;
    while (end < values.size() && values[end] == value) {
      ++end;
    }
    const double step = quantisation == nullptr ? 0 : quantisation->stepAt(value);
    const double above = distribution.cdf(value + step);
    const double below = step == 0 ? above : distribution.cdf(value - step);
    worst = std::max(
        {worst, static_cast<double>(end) / n - above, below - static_cast<double>(first) / n});
    first = end;
  }
  return worst;
}

}  // namespace

RandomFinding supportTest(std::span<const double> samples, const Distribution& distribution) {
  const std::int64_t n = countOf(samples);
  if (n == 0) {
    return mistrusted(RandomTest::Support, n, "no value was given");
  }
  const auto outside = std::find_if_not(samples.begin(), samples.end(),
                                        [&](double v) { return distribution.canBe(v); });
  if (outside == samples.end()) {
    return passed(RandomTest::Support, n,
                  fmt::format("every value is one of {}", distribution.str()));
  }
  const auto count =
      std::count_if(outside, samples.end(), [&](double v) { return !distribution.canBe(v); });
  RandomFinding finding =
      failed(RandomTest::Support, n,
             fmt::format("{} values that {} cannot take, the first {} at index {}", count,
                         distribution.str(), *outside, outside - samples.begin()));
  finding.statistic = static_cast<double>(count);
  return finding;
}

double kolmogorovSmirnovDistance(std::span<const double> samples,
                                 const Distribution& distribution) {
  return distanceAllowing(sorted(samples), distribution, nullptr);
}

RandomFinding kolmogorovSmirnovTest(std::span<const double> samples,
                                    const Distribution& distribution,
                                    const Quantisation& quantisation) {
  NEURONCHECK_CHECK(!distribution.isDiscrete(), "KS of a discrete distribution");
  const std::int64_t n = countOf(samples);
  if (n < kFewestForKs) {
    return mistrusted(RandomTest::KolmogorovSmirnov, n,
                      fmt::format("{} values are too few for KS to fail", n));
  }
  const std::vector<double> values = sorted(samples);
  if (countOf(values) < n) {
    return failed(RandomTest::KolmogorovSmirnov, n, "NaN among the values");
  }
  const bool fine = quantisation.isFine(distribution);
  const double distance = distanceAllowing(values, distribution, fine ? nullptr : &quantisation);
  const double p = kolmogorovSmirnovTail(distance, n);
  return firstStage(
      RandomTest::KolmogorovSmirnov, distance, p, n,
      fmt::format("largest distance to the distribution function of {} is {:.4f}, p = {:.2g}",
                  distribution.str(), distance, p));
}

RandomFinding bernoulliTest(std::span<const double> samples, double p) {
  const std::int64_t n = countOf(samples);
  const auto ones = std::count(samples.begin(), samples.end(), 1.0);
  const auto zeros = std::count(samples.begin(), samples.end(), 0.0);
  if (ones + zeros != n) {
    return failed(RandomTest::Binomial, n,
                  fmt::format("{} values are neither 0 nor 1", n - ones - zeros));
  }
  const bool certain = p <= 0 || p >= 1;
  if (n == 0 ||
      (!certain && std::min(twoSidedBinomial(0, n, p), twoSidedBinomial(n, n, p)) > kFailBelow)) {
    return mistrusted(RandomTest::Binomial, n,
                      fmt::format("{} values are too few to tell p = {}", n, p));
  }
  const double chance = twoSidedBinomial(ones, n, p);
  std::string words = fmt::format("{} ones of {} at p = {}, chance {:.2g}", ones, n, p, chance);
  if (certain) {
    return chance == 1 ? passed(RandomTest::Binomial, n, std::move(words))
                       : failed(RandomTest::Binomial, n, std::move(words));
  }
  return firstStage(RandomTest::Binomial, static_cast<double>(ones), chance, n, std::move(words));
}

RandomFinding bernoulliTest(std::span<const double> samples,
                            std::span<const double> probabilities) {
  NEURONCHECK_CHECK(samples.size() == probabilities.size(), "a probability for each element");
  const std::int64_t n = countOf(samples);
  double mean = 0;
  double variance = 0;
  double ones = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double x = samples[i];
    const double p = probabilities[i];
    if ((x != 0 && x != 1) || (p <= 0 && x != 0) || (p >= 1 && x != 1)) {
      return failed(RandomTest::Binomial, n,
                    fmt::format("element {} is {} at probability {}", i, x, p));
    }
    ones += x;
    mean += p;
    variance += p * (1 - p);
  }
  // A normal approximation needs a variance; what is certain has been judged above.
  if (variance < kLeastExpected) {
    return mistrusted(RandomTest::Binomial, n, "too few elements have a chance either way");
  }
  const double z = (ones - mean) / std::sqrt(variance);
  const double chance = twoSidedNormal(z);
  return firstStage(RandomTest::Binomial, z, chance, n,
                    fmt::format("{} ones where {:.1f} are expected, z = {:.2f}", ones, mean, z));
}

std::vector<SampleTest> distributionTests(const Distribution& distribution,
                                          const Quantisation& quantisation) {
  std::vector<SampleTest> tests;
  tests.emplace_back([=](std::span<const double> x) { return supportTest(x, distribution); });
  tests.emplace_back(
      [=](std::span<const double> x) { return chiSquareTest(x, distribution, quantisation); });
  if (!distribution.isDiscrete()) {
    tests.emplace_back([=](std::span<const double> x) {
      return kolmogorovSmirnovTest(x, distribution, quantisation);
    });
    tests.emplace_back(
        [=](std::span<const double> x) { return tailCountTest(x, distribution, quantisation); });
  }
  return tests;
}

}  // namespace neuroncheck::numerics
