// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/independence.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::size_t kFewest = 1000;
constexpr std::size_t kCells = 16;

/// Ranks scaled to (0, 1); equal values share the middle of their ranks.
std::vector<double> ranksOf(std::span<const double> samples) {
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return samples[a] < samples[b]; });
  std::vector<double> ranks(samples.size());
  const auto n = static_cast<double>(samples.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && samples[order[end]] == samples[order[first]]) {
      ++end;
    }
    for (std::size_t i = first; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(first + end) / (2 * n);
    }
    first = end;
  }
  return ranks;
}

bool unusable(std::span<const double> samples) {
  return samples.size() < kFewest ||
         std::any_of(
             samples.begin(), samples.end(), [](double x) { return std::isnan(x); }) ||
         std::adjacent_find(samples.begin(), samples.end(), std::not_equal_to<>()) == samples.end();
}

RandomFinding unusableFinding(RandomTest test, std::size_t n) {
  return mistrusted(test, static_cast<std::int64_t>(n),
                    "too few values, all of them equal, or NaN among them");
}

}  // namespace

RandomFinding lagCorrelationTest(std::span<const double> samples, std::int64_t lag) {
  const auto distance = static_cast<std::size_t>(lag);
  if (unusable(samples) || samples.size() < distance + kFewest) {
    return unusableFinding(RandomTest::LagCorrelation, samples.size());
  }
  const std::vector<double> ranks = ranksOf(samples);
  double squares = 0;
  double products = 0;
  // Middle ranks average exactly to one half.
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    squares += (ranks[i] - 0.5) * (ranks[i] - 0.5);
    products += i < distance ? 0 : (ranks[i] - 0.5) * (ranks[i - distance] - 0.5);
  }
  const auto pairs = static_cast<double>(ranks.size() - distance);
  const double correlation = products / pairs / (squares / static_cast<double>(ranks.size()));
  const double z = correlation * std::sqrt(pairs);
  return firstStage(
      RandomTest::LagCorrelation, z, twoSidedNormal(z), static_cast<std::int64_t>(ranks.size()),
      fmt::format("correlation at distance {} is {:.4f}, z = {:.2f}", lag, correlation, z));
}

RandomFinding runsTest(std::span<const double> samples) {
  if (unusable(samples)) {
    return unusableFinding(RandomTest::Runs, samples.size());
  }
  std::vector<double> copy(samples.begin(), samples.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  const double median = *middle;
  double above = 0;
  double below = 0;
  double runs = 0;
  int last = 0;
  for (const double x : samples) {
    const int side = x > median ? 1 : (x < median ? -1 : 0);
    if (side == 0) {
      continue;
    }
    (side > 0 ? above : below) += 1;
    runs += side == last ? 0 : 1;
    last = side;
  }
  const double n = above + below;
  if (std::min(above, below) < kLeastExpected) {
    return unusableFinding(RandomTest::Runs, samples.size());
  }
  const double both = 2 * above * below;
  const double mean = both / n + 1;
  const double variance = both * (both - n) / (n * n * (n - 1));
  const double z = (runs - mean) / std::sqrt(variance);
  return firstStage(
      RandomTest::Runs, z, twoSidedNormal(z), static_cast<std::int64_t>(samples.size()),
      fmt::format("{} runs about the median where {:.1f} are expected, z = {:.2f}", runs, mean, z));
}

RandomFinding neighbourTest(std::span<const double> samples) {
  if (unusable(samples)) {
    return unusableFinding(RandomTest::Neighbours, samples.size());
  }
  const std::vector<double> ranks = ranksOf(samples);
  std::array<std::array<double, kCells>, kCells> table{};
  std::array<double, kCells> rows{};
  std::array<double, kCells> columns{};
  const auto cellOf = [](double rank) {
    return std::min(static_cast<std::size_t>(rank * kCells), kCells - 1);
  };
  for (std::size_t i = 0; i + 1 < ranks.size(); i += 2) {
    const std::size_t row = cellOf(ranks[i]);
    const std::size_t column = cellOf(ranks[i + 1]);
    table.at(row).at(column) += 1;
    rows.at(row) += 1;
    columns.at(column) += 1;
  }
  const std::size_t both = ranks.size() / 2;
  const auto pairs = static_cast<double>(both);
  double statistic = 0;
  double least = pairs;
  for (std::size_t r = 0; r < kCells; ++r) {
    for (std::size_t c = 0; c < kCells; ++c) {
      const double expected = rows.at(r) * columns.at(c) / pairs;
      if (expected > 0) {
        least = std::min(least, expected);
        statistic += (table.at(r).at(c) - expected) * (table.at(r).at(c) - expected) / expected;
      }
    }
  }
  const auto used = [](const auto& margin) {
    return static_cast<double>(
        std::count_if(margin.begin(), margin.end(), [](double count) { return count > 0; }));
  };
  const double degrees = (used(rows) - 1) * (used(columns) - 1);
  const auto n = static_cast<std::int64_t>(samples.size());
  if (degrees < 1 || least < 5) {
    return mistrusted(RandomTest::Neighbours, n, "too few pairs of neighbours for a table of them");
  }
  const double p = twoSidedChiSquare(statistic, degrees);
  return firstStage(RandomTest::Neighbours, statistic, p, n,
                    fmt::format("chi-square of pairs of neighbours is {:.1f} with {} degrees of "
                                "freedom, p = {:.2g}",
                                statistic, degrees, p));
}

RandomFinding lowBitsTest(std::span<const std::int64_t> samples, std::int64_t low,
                          std::int64_t high, int bits) {
  const auto n = static_cast<std::int64_t>(samples.size());
  const std::uint64_t kinds = std::uint64_t{1} << static_cast<unsigned>(bits);
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (range < kinds || static_cast<double>(n) / static_cast<double>(kinds) < kLeastExpected) {
    return mistrusted(RandomTest::LowBits, n, "too few values, or too small a range");
  }
  std::vector<std::int64_t> observed(kinds);
  for (const std::int64_t x : samples) {
    ++observed[(static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(low)) % kinds];
  }
  std::vector<double> expected(kinds);
  for (std::uint64_t r = 0; r < kinds; ++r) {
    const std::uint64_t often = range / kinds + (r < range % kinds ? 1 : 0);
    expected[r] = static_cast<double>(n) * static_cast<double>(often) / static_cast<double>(range);
  }
  const double statistic = pearson(observed, expected);
  const double p = twoSidedChiSquare(statistic, static_cast<double>(kinds - 1));
  return firstStage(
      RandomTest::LowBits, statistic, p, n,
      fmt::format("chi-square of the low {} bits is {:.1f}, p = {:.2g}", bits, statistic, p));
}

std::vector<SampleTest> independenceTests() {
  return {[](std::span<const double> x) { return lagCorrelationTest(x, 1); },
          [](std::span<const double> x) { return lagCorrelationTest(x, kTileLag); },
          [](std::span<const double> x) { return runsTest(x); },
          [](std::span<const double> x) { return neighbourTest(x); }};
}

}  // namespace neuroncheck::numerics
