// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/stochastic_rounding.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/random/p_values.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::array<double, 5> kFractions = {0.5, 0.25, 0.75, 0x1p-8, 1 - 0x1p-8};

/// What one deterministic rounding would have given, when that is what was seen throughout.
std::string_view pretender(Format format, std::span<const RoundingProbe> probes,
                           std::span<const std::uint64_t> patterns) {
  const std::size_t trials = patterns.size() / probes.size();
  const auto everywhere = [&](Rounding rounding) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i] != encode(format, probes[i / trials].exact, rounding)) {
        return false;
      }
    }
    return true;
  };
  if (everywhere(Rounding::NearestEven)) {
    return "; every result is the nearest number: nothing is stochastic";
  }
  if (everywhere(Rounding::TowardZero)) {
    return "; every result is truncated: nothing is stochastic";
  }
  return "";
}

RandomFinding judgeNeighbours(Format format, std::span<const RoundingProbe> probes,
                              std::span<const std::uint64_t> patterns) {
  const std::size_t trials = patterns.size() / probes.size();
  const auto n = static_cast<std::int64_t>(patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const RoundingProbe& probe = probes[i / trials];
    const RoundingNeighbours around = neighboursOf(format, probe.exact);
    if (patterns[i] == around.inner || patterns[i] == around.outer) {
      continue;
    }
    return failed(RandomTest::RoundingNeighbours, n,
                  fmt::format("{:a} became {:a}, {} (rounding {} of probe {})", probe.exact,
                              decode(format, patterns[i]),
                              around.inner == around.outer ? "although the format has it"
                                                           : "which is neither of its neighbours",
                              i % trials, i / trials));
  }
  return passed(RandomTest::RoundingNeighbours, n,
                fmt::format("{} roundings gave one of the two neighbours each", n));
}

RandomFinding judgeCounts(Format format, std::span<const RoundingProbe> probes,
                          std::span<const std::uint64_t> patterns) {
  const std::size_t trials = patterns.size() / probes.size();
  const auto n = static_cast<std::int64_t>(patterns.size());
  double worst = 0;
  std::size_t worstProbe = 0;
  std::int64_t worstUp = 0;
  std::int64_t judged = 0;
  for (std::size_t which = 0; which < probes.size(); ++which) {
    const RoundingNeighbours around = neighboursOf(format, probes[which].exact);
    const double f = around.fraction;
    const auto count = static_cast<double>(trials);
    const double deviation = std::sqrt(count * f * (1 - f));
    if (around.inner == around.outer ||
        count * std::min(f, 1 - f) / std::max(deviation, 1e-300) <= kSigmaLimit) {
      continue;
    }
    ++judged;
    const auto own = patterns.subspan(which * trials, trials);
    const auto up = std::count(own.begin(), own.end(), around.outer);
    const double z = (static_cast<double>(up) - count * f) / deviation;
    if (std::abs(z) >= std::abs(worst)) {
      worst = z;
      worstProbe = which;
      worstUp = up;
    }
  }
  if (judged == 0) {
    return mistrusted(RandomTest::RoundingCounts, n,
                      fmt::format("{} roundings of each value are too few to count", trials));
  }
  const bool fine = std::abs(worst) <= kSigmaLimit;
  std::string words =
      fmt::format("{} fractions judged; furthest off: {:a} went up {} times of {}, z = {:.2f}{}",
                  judged, probes[worstProbe].exact, worstUp, trials, worst,
                  fine ? "" : pretender(format, probes, patterns));
  RandomFinding finding = fine ? passed(RandomTest::RoundingCounts, n, std::move(words))
                               : failed(RandomTest::RoundingCounts, n, std::move(words));
  finding.statistic = worst;
  finding.p = std::min(1.0, twoSidedNormal(worst) * static_cast<double>(judged));
  return finding;
}

}  // namespace

RoundingNeighbours neighboursOf(Format format, double exact) {
  RoundingNeighbours around;
  around.inner = encode(format, exact, Rounding::TowardZero);
  const double low = decode(format, around.inner);
  if (low == exact) {
    around.outer = around.inner;
    return around;
  }
  const std::uint64_t step = std::uint64_t{1} << static_cast<unsigned>(traits(format).lowZeroBits);
  around.outer = around.inner + step;
  around.fraction = (exact - low) / (decode(format, around.outer) - low);
  return around;
}

std::vector<RoundingProbe> roundingProbes(Format format, Format source) {
  const FormatTraits& t = traits(format);
  std::vector<RoundingProbe> probes;
  // A subnormal (the smallest step, and one in the middle), both ends of the range, and around 1.
  const double step = t.minSubnormal();
  const std::array<double, 8> inner = {
      step, step * 3, t.minNormal(), 0.25, 1, 1.5, std::ldexp(1.0, t.maxExponent() - 1), 0};
  for (const double magnitude : inner) {
    for (const double sign : {1.0, -1.0}) {
      const double base = sign * roundTo(format, magnitude);
      probes.push_back({base, 0});
      for (const double fraction : kFractions) {
        const double exact = base + sign * fraction * ulp(format, base);
        if (roundTo(source, exact) == exact) {
          probes.push_back({exact, fraction});
        }
      }
    }
  }
  return probes;
}

std::vector<RandomFinding> stochasticRoundingTests(Format format,
                                                   std::span<const RoundingProbe> probes,
                                                   std::span<const std::uint64_t> patterns) {
  const auto n = static_cast<std::int64_t>(patterns.size());
  if (probes.empty() || patterns.empty() || patterns.size() % probes.size() != 0) {
    return {mistrusted(RandomTest::RoundingNeighbours, n,
                       "roundings are not a whole number for each probe")};
  }
  return {judgeNeighbours(format, probes, patterns), judgeCounts(format, probes, patterns)};
}

}  // namespace neuroncheck::numerics
