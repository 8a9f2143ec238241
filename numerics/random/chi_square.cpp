// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "numerics/random/distribution_tests.h"
#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr int kBins = 64;
constexpr std::array<double, 3> kTailSigmas = {2.5, 3, 4};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How an exact value became one of the format.
enum class Cell : std::uint8_t { Nearest, Down, Up, TowardZero, NearestFolded };
constexpr std::array kCells = {Cell::Nearest, Cell::Down, Cell::Up, Cell::TowardZero,
                               Cell::NearestFolded};

/// The exact value below which everything lands below the value `edge` of the format.
double boundary(const Quantisation& quantisation, Cell cell, double edge) {
  const double below = quantisation.below(edge);
  switch (cell) {
    case Cell::Down:
      return edge;
    case Cell::Up:
      return below;
    case Cell::TowardZero:
      return edge > 0 ? edge : below;
    case Cell::Nearest:
    case Cell::NearestFolded:
      break;
  }
  return below + (edge - below) / 2;
}

/// Probability that the rounded value is below `edge`. Folded: what rounds to the excluded upper
/// end is returned as the lower one.
double belowEdge(const Distribution& distribution, const Quantisation& quantisation, Cell cell,
                 double edge) {
  if (std::isinf(edge)) {
    return edge > 0 ? 1 : 0;
  }
  const double p = distribution.cdf(boundary(quantisation, cell, edge));
  if (cell != Cell::NearestFolded) {
    return p;
  }
  const double end = distribution.b();
  const double folded = distribution.upperTail(boundary(quantisation, Cell::Nearest, end));
  return edge > distribution.a() ? std::min(1.0, p + folded) : p;
}

struct Bins {
  std::vector<std::int64_t> observed;
  std::vector<double> expected;
};

/// Joins neighbours until each bin expects enough; the last one joins the one before.
Bins merged(const Bins& bins) {
  Bins out;
  std::int64_t observed = 0;
  double expected = 0;
  for (std::size_t i = 0; i < bins.observed.size(); ++i) {
    observed += bins.observed[i];
    expected += bins.expected[i];
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

/// Lower edges of bins 1, 2, ...: values of the format, ascending.
std::vector<double> edgesOf(const Distribution& distribution, const Quantisation& quantisation) {
  std::vector<double> edges;
  const auto add = [&](double p) {
    const double edge = quantisation.snap(distribution.quantile(p));
    if (std::isfinite(edge)) {
      edges.push_back(edge);
    }
  };
  for (int i = 1; i < kBins; ++i) {
    add(static_cast<double>(i) / kBins);
  }
  for (const double sigma : kTailSigmas) {
    const double tail = twoSidedNormal(sigma) / 2;
    add(tail);
    add(1 - tail);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// Edges at every integer between the extreme quantiles, or at 64 quantiles when those are many.
std::vector<double> discreteEdges(const Distribution& distribution) {
  constexpr double kTail = 1e-7;
  constexpr double kMany = 512;
  const double low = distribution.quantile(kTail);
  const double high = distribution.quantile(1 - kTail);
  std::vector<double> edges;
  if (high - low <= kMany) {
    const auto count = static_cast<std::int64_t>(high - low);
    for (std::int64_t i = 1; i <= count; ++i) {
      edges.push_back(low + static_cast<double>(i));
    }
    return edges;
  }
  for (int i = 1; i < kBins; ++i) {
    edges.push_back(distribution.quantile(static_cast<double>(i) / kBins));
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

std::vector<std::int64_t> countBins(std::span<const double> samples,
                                    const std::vector<double>& edges) {
  std::vector<std::int64_t> observed(edges.size() + 1);
  for (const double x : samples) {
    ++observed[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), x) -
                                        edges.begin())];
  }
  return observed;
}

template <typename BelowEdge>
std::vector<double> expectedBins(double n, const std::vector<double>& edges, BelowEdge below) {
  std::vector<double> expected;
  double last = 0;
  for (const double edge : edges) {
    const double p = below(edge);
    expected.push_back(n * (p - last));
    last = p;
  }
  expected.push_back(n * (1 - last));
  return expected;
}

struct Fit {
  double statistic = 0;
  double p = -1;
  std::size_t bins = 0;
};

void keepBetter(Fit& best, const Bins& bins) {
  const Bins joined = merged(bins);
  if (joined.observed.size() < 2) {
    return;
  }
  const double statistic = pearson(joined.observed, joined.expected);
  const double p = twoSidedChiSquare(statistic, static_cast<double>(joined.observed.size() - 1));
  if (p > best.p) {
    best = {statistic, p, joined.observed.size()};
  }
}

}  // namespace

RandomFinding chiSquareTest(std::span<const double> samples, const Distribution& distribution,
                            const Quantisation& quantisation) {
  const auto n = static_cast<std::int64_t>(samples.size());
  const auto size = static_cast<double>(n);
  Fit best;
  if (distribution.isDiscrete()) {
    const auto edges = discreteEdges(distribution);
    // P(X < edge) = P(X <= edge - 1).
    keepBetter(best, {countBins(samples, edges), expectedBins(size, edges, [&](double edge) {
                        return distribution.cdf(edge - 1);
                      })});
  } else {
    const auto edges = edgesOf(distribution, quantisation);
    const auto observed = countBins(samples, edges);
    const bool fine = quantisation.isFine(distribution);
    for (const Cell cell : kCells) {
      if (cell != Cell::Nearest && (fine || (cell == Cell::NearestFolded &&
                                             distribution.kind() != DistributionKind::Uniform))) {
        continue;
      }
      keepBetter(best, {observed, expectedBins(size, edges, [&](double edge) {
                          return belowEdge(distribution, quantisation, cell, edge);
                        })});
    }
  }
  if (best.bins < 2) {
    return mistrusted(RandomTest::ChiSquare, n,
                      fmt::format("{} values give no two bins that expect {}", n, kLeastExpected));
  }
  return firstStage(RandomTest::ChiSquare, best.statistic, best.p, n,
                    fmt::format("chi-square of {} bins of {} is {:.1f}, p = {:.2g}", best.bins,
                                distribution.str(), best.statistic, best.p));
}

RandomFinding tailCountTest(std::span<const double> samples, const Distribution& distribution,
                            const Quantisation& quantisation) {
  NEURONCHECK_CHECK(!distribution.isDiscrete(), "tail counts of a discrete distribution");
  const auto n = static_cast<std::int64_t>(samples.size());
  struct {
    double p = 2;
    double chance = 0;
    double edge = 0;
    std::int64_t count = 0;
    bool upper = false;
  } worst;
  int counts = 0;
  for (const double sigma : kTailSigmas) {
    const double tail = twoSidedNormal(sigma) / 2;
    for (const bool upper : {false, true}) {
      const double edge = quantisation.snap(distribution.quantile(upper ? 1 - tail : tail));
      const auto count = std::count_if(samples.begin(), samples.end(),
                                       [&](double x) { return upper ? x >= edge : x < edge; });
      double p = -1;
      double chance = 0;
      for (const Cell cell : {Cell::Nearest, Cell::Down, Cell::Up}) {
        const double exact = boundary(quantisation, cell, edge);
        const double here = upper ? distribution.upperTail(exact) : distribution.cdf(exact);
        if (const double fit = twoSidedBinomial(count, n, here); fit > p) {
          p = fit;
          chance = here;
        }
      }
      ++counts;
      if (p < worst.p) {
        worst = {p, chance, edge, count, upper};
      }
    }
  }
  const double p = std::min(1.0, worst.p * counts);
  if (static_cast<double>(n) * twoSidedNormal(kTailSigmas.front()) / 2 < kLeastExpected) {
    return mistrusted(RandomTest::TailCounts, n, "too few values to count a tail");
  }
  return firstStage(RandomTest::TailCounts, static_cast<double>(worst.count), p, n,
                    fmt::format("{} values {} {:.4g} where {:.1f} are expected of {}, p = {:.2g}",
                                worst.count, worst.upper ? "from" : "below", worst.edge,
                                static_cast<double>(n) * worst.chance, distribution.str(), p));
}

}  // namespace neuroncheck::numerics
