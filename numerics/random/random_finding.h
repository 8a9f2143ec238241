// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace neuroncheck::numerics {

enum class RandomTest : std::uint8_t {
  SameSeed,        ///< one seed, two runs: bitwise equal
  DifferentSeeds,  ///< two seeds: not the same numbers, nor largely the same
  StateRestored,   ///< what follows a restored state equals what followed when it was saved
  ForkIsolated,    ///< the outer stream goes on as if the forked one had not run
  Support,         ///< no value the distribution cannot take
  KolmogorovSmirnov,
  ChiSquare,   ///< bins of equal probability, with tail bins
  TailCounts,  ///< values beyond 2.5, 3 and 4 sigma, counted exactly
  Binomial,    ///< a count of successes, exactly
  LagCorrelation,
  Runs,             ///< runs above and below the median
  Neighbours,       ///< 2-D chi-square of pairs of neighbours
  DuplicateBlocks,  ///< rows, tiles or cores with the same content
  LowBits,          ///< the low bits of integers
  Permutation,      ///< each index once, and no place preferred
  Draws,            ///< multinomial: categories as their weights say
  Dropout,
  DropoutBackward,
  RoundingNeighbours,  ///< stochastic rounding: one of the two neighbours of the exact value
  RoundingCounts,      ///< stochastic rounding: up as often as the fraction cut off says
};
inline constexpr std::size_t kRandomTestCount =
    static_cast<std::size_t>(RandomTest::RoundingCounts) + 1;
/// "kolmogorov-smirnov", for reports.
[[nodiscard]] std::string_view name(RandomTest test);

enum class RandomVerdict : std::uint8_t {
  Pass,
  RetryNeeded,  ///< p < 1e-3: ask for a fresh seed with four times as many samples
  Fail,
  Mistrusted,  ///< too few samples, or too little entropy, to have failed: no pass
};
[[nodiscard]] std::string_view name(RandomVerdict verdict);

/// What one test says of random results.
struct RandomFinding {
  RandomTest test{};
  double statistic = 0;     ///< the test's own: D, chi-square, z, a count; `words` say which
  std::optional<double> p;  ///< chance of a statistic this far off; absent where bits must agree
  std::int64_t n = 0;       ///< samples judged
  std::vector<std::uint64_t> seeds;  ///< filled by who knows them
  RandomVerdict verdict = RandomVerdict::Mistrusted;
  std::string words;  ///< one sentence for a report
};

/// Two stages keep both errors small: a bad generator is asked twice, a good one is accused with
/// probability 1e-9 (docs/verdicts.md; facts: KS at alpha 1e-6 alone gives 0.01 false alarms in a
/// run of 10^4 tests).
inline constexpr double kRetryBelow = 1e-3;
inline constexpr double kFailBelow = 1e-6;
inline constexpr std::int64_t kRetryFactor = 4;
/// Samples of a first stage. With 4n the second stays where the quantisation of 8-bit significands
/// (bf16) is below what KS resolves.
inline constexpr std::int64_t kFirstStageCount = 65536;
/// Limit, in standard deviations, of tests on given buffers, which cannot be retried (p = 6e-7).
inline constexpr double kSigmaLimit = 5;

/// A first-stage finding with a p value: Pass, or RetryNeeded when p < kRetryBelow.
[[nodiscard]] RandomFinding firstStage(RandomTest test, double statistic, double p, std::int64_t n,
                                       std::string words);
[[nodiscard]] RandomFinding failed(RandomTest test, std::int64_t n, std::string words);
[[nodiscard]] RandomFinding passed(RandomTest test, std::int64_t n, std::string words);
[[nodiscard]] RandomFinding mistrusted(RandomTest test, std::int64_t n, std::string words);
/// The verdict of both stages: `first` where it decides alone, else Fail when the p of `second` is
/// below kFailBelow or it fails by itself, and Pass otherwise; a mistrusted second stage stays so.
[[nodiscard]] RandomFinding confirm(const RandomFinding& first, const RandomFinding& second);

/// Draws n values from a generator seeded with `seed`. An Error ends the test.
using Sampler = std::function<Result<std::vector<double>>(std::uint64_t seed, std::int64_t n)>;
/// Judges one sample by a first-stage finding.
using SampleTest = std::function<RandomFinding(std::span<const double> samples)>;

/// Runs `test` on n values, and once more on 4n values of a fresh seed when it asks for that. An
/// Error when the sampler fails or returns another number of values than it was asked for.
[[nodiscard]] Result<RandomFinding> judgeInTwoStages(const Sampler& sampler, const SampleTest& test,
                                                     std::uint64_t seed,
                                                     std::int64_t n = kFirstStageCount);

/// The seed of the second stage, far from `seed` (SplitMix64 of Steele, Lea and Flood 2014).
[[nodiscard]] std::uint64_t freshSeed(std::uint64_t seed);

}  // namespace neuroncheck::numerics
