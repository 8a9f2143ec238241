// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/draws.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::int64_t kMostCells = 16;

/// What is wrong with one permutation, if anything. `seen` holds for each value the number of the
/// permutation that had it last.
std::optional<std::string> notAPermutation(std::span<const std::int64_t> values, std::int64_t which,
                                           std::vector<std::int64_t>& seen) {
  const auto size = static_cast<std::int64_t>(seen.size());
  for (const std::int64_t value : values) {
    if (value < 0 || value >= size) {
      return fmt::format("permutation {} of {} holds {}", which, size, value);
    }
    auto& last = seen[static_cast<std::size_t>(value)];
    if (last == which) {
      return fmt::format("permutation {} of {} holds {} twice", which, size, value);
    }
    last = which;
  }
  return std::nullopt;
}

/// Elements of 0 .. size-1 that the group rule g -> g * groups / size puts into each group.
std::vector<double> groupSizes(std::int64_t size, std::int64_t groups) {
  std::vector<double> sizes(static_cast<std::size_t>(groups));
  for (std::int64_t i = 0; i < size; ++i) {
    sizes[static_cast<std::size_t>(i * groups / size)] += 1;
  }
  return sizes;
}

struct Categories {
  std::vector<std::int64_t> observed;
  std::vector<double> expected;
};

/// Joins the categories that expect too little, lightest first, into one.
Categories joined(const std::vector<std::int64_t>& counts, std::span<const double> weights,
                  double total, double n) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return weights[a] < weights[b]; });
  Categories out;
  std::int64_t observed = 0;
  double expected = 0;
  for (const std::size_t i : order) {
    observed += counts[i];
    expected += n * weights[i] / total;
    if (expected >= kLeastExpected) {
      out.observed.push_back(observed);
      out.expected.push_back(expected);
      observed = 0;
      expected = 0;
    }
  }
  if (!out.observed.empty()) {
    out.observed.back() += observed;
    out.expected.back() += expected;
  }
  return out;
}

std::optional<std::string> illegalRow(std::span<const std::int64_t> row,
                                      std::span<const double> weights, bool replacement) {
  const auto size = static_cast<std::int64_t>(weights.size());
  for (const std::int64_t index : row) {
    if (index < 0 || index >= size) {
      return fmt::format("index {} is outside of {} categories", index, size);
    }
    if (weights[static_cast<std::size_t>(index)] <= 0) {
      return fmt::format("category {} was drawn although its weight is zero", index);
    }
  }
  if (!replacement) {
    std::vector<std::int64_t> sorted(row.begin(), row.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      return fmt::format("category {} was drawn twice without replacement", *twice);
    }
  }
  return std::nullopt;
}

}  // namespace

RandomFinding permutationTest(std::span<const std::int64_t> values, std::int64_t size) {
  const auto n = static_cast<std::int64_t>(values.size());
  if (size < 1 || n == 0) {
    return mistrusted(RandomTest::Permutation, n, "no permutation was given");
  }
  if (n % size != 0) {
    return failed(RandomTest::Permutation, n,
                  fmt::format("{} values are no permutations of {}", n, size));
  }
  const std::int64_t groups = std::min(size, kMostCells);
  std::vector<std::int64_t> table(static_cast<std::size_t>(groups * groups));
  std::vector<std::int64_t> seen(static_cast<std::size_t>(size), -1);
  for (std::int64_t which = 0; which < n / size; ++which) {
    const auto one =
        values.subspan(static_cast<std::size_t>(which * size), static_cast<std::size_t>(size));
    if (auto wrong = notAPermutation(one, which, seen)) {
      return failed(RandomTest::Permutation, n, std::move(*wrong));
    }
    for (std::int64_t place = 0; place < size; ++place) {
      const std::int64_t value = one[static_cast<std::size_t>(place)];
      ++table[static_cast<std::size_t>(value * groups / size * groups + place * groups / size)];
    }
  }
  const std::vector<double> sizes = groupSizes(size, groups);
  const std::int64_t permutations = n / size;
  std::vector<double> expected;
  for (const double row : sizes) {
    for (const double column : sizes) {
      expected.push_back(row * column * static_cast<double>(permutations) /
                         static_cast<double>(size));
    }
  }
  if (size < 2 || *std::min_element(expected.begin(), expected.end()) < kLeastExpected) {
    return mistrusted(RandomTest::Permutation, n,
                      "each is a permutation, but they are too few to judge the places");
  }
  const double margins = static_cast<double>(size - 1) / static_cast<double>(size);
  const double statistic = pearson(table, expected) * margins;
  const auto degrees = static_cast<double>((groups - 1) * (groups - 1));
  const double p = twoSidedChiSquare(statistic, degrees);
  return firstStage(
      RandomTest::Permutation, statistic, p, n,
      fmt::format("{} permutations of {}; chi-square of values and places is {:.1f}, p = {:.2g}",
                  permutations, size, statistic, p));
}

RandomFinding drawsTest(std::span<const std::int64_t> draws, std::int64_t perRow,
                        std::span<const double> weights, bool replacement) {
  const auto n = static_cast<std::int64_t>(draws.size());
  if (perRow < 1 || n == 0 || n % perRow != 0) {
    return mistrusted(RandomTest::Draws, n, "no whole row of draws was given");
  }
  std::vector<std::int64_t> counts(weights.size());
  std::int64_t counted = 0;
  for (std::int64_t at = 0; at < n; at += perRow) {
    const auto row = draws.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(perRow));
    if (auto wrong = illegalRow(row, weights, replacement)) {
      return failed(RandomTest::Draws, n, std::move(*wrong));
    }
    for (const std::int64_t index : replacement ? row : row.first(1)) {
      ++counts[static_cast<std::size_t>(index)];
      ++counted;
    }
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const Categories categories = joined(counts, weights, total, static_cast<double>(counted));
  if (categories.observed.size() < 2) {
    return mistrusted(RandomTest::Draws, n,
                      "every draw is legal, but they are too few to judge the weights");
  }
  const double statistic = pearson(categories.observed, categories.expected);
  const double p =
      twoSidedChiSquare(statistic, static_cast<double>(categories.observed.size() - 1));
  return firstStage(RandomTest::Draws, statistic, p, n,
                    fmt::format("chi-square of {} groups of categories is {:.1f}, p = {:.2g}",
                                categories.observed.size(), statistic, p));
}

}  // namespace neuroncheck::numerics
