// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace neuroncheck::numerics {

// Tail probabilities of the statistics used here, from Boost.Math; each in [0, 1].

/// P(|N(0,1)| >= |z|).
[[nodiscard]] double twoSidedNormal(double z);
/// P(D_n >= d) of the one-sample Kolmogorov-Smirnov statistic (its limit distribution, so n should
/// be in the hundreds at least).
[[nodiscard]] double kolmogorovSmirnovTail(double d, std::int64_t n);
/// Smallest D with a tail of at most alpha.
[[nodiscard]] double kolmogorovSmirnovLimit(double alpha, std::int64_t n);
/// Twice the smaller tail of chi-square: too far off and too even are both wrong (a generator that
/// runs once through its whole period has a chi-square near zero).
[[nodiscard]] double twoSidedChiSquare(double statistic, double degrees);
/// Twice the smaller tail of binomial(n, p) at `count`, at most 1: exact, for p in [0, 1].
[[nodiscard]] double twoSidedBinomial(std::int64_t count, std::int64_t n, double p);
/// P(binomial(n, p) >= count).
[[nodiscard]] double upperBinomial(std::int64_t count, std::int64_t n, double p);

/// Sum of (observed - expected)^2 / expected.
[[nodiscard]] double pearson(std::span<const std::int64_t> observed,
                             std::span<const double> expected);

/// Expected count below which a bin says too little.
inline constexpr double kLeastExpected = 50;

}  // namespace neuroncheck::numerics
