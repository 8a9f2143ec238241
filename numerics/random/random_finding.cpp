// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/random_finding.h"

#include <fmt/format.h>
#include <array>

namespace neuroncheck::numerics {
namespace {

constexpr std::array<std::string_view, kRandomTestCount> kTestNames = {"same-seed",
                                                                       "different-seeds",
                                                                       "state-restored",
                                                                       "fork-isolated",
                                                                       "support",
                                                                       "kolmogorov-smirnov",
                                                                       "chi-square",
                                                                       "tail-counts",
                                                                       "binomial",
                                                                       "lag-correlation",
                                                                       "runs",
                                                                       "neighbours",
                                                                       "duplicate-blocks",
                                                                       "low-bits",
                                                                       "permutation",
                                                                       "draws",
                                                                       "dropout",
                                                                       "dropout-backward",
                                                                       "rounding-neighbours",
                                                                       "rounding-counts"};
constexpr std::array<std::string_view, 4> kVerdictNames = {"pass", "retry-needed", "fail",
                                                           "mistrusted"};

RandomFinding plain(RandomTest test, std::int64_t n, RandomVerdict verdict, std::string words) {
  RandomFinding finding;
  finding.test = test;
  finding.n = n;
  finding.verdict = verdict;
  finding.words = std::move(words);
  return finding;
}

}  // namespace

std::string_view name(RandomTest test) { return kTestNames.at(static_cast<std::size_t>(test)); }

std::string_view name(RandomVerdict verdict) {
  return kVerdictNames.at(static_cast<std::size_t>(verdict));
}

RandomFinding firstStage(RandomTest test, double statistic, double p, std::int64_t n,
                         std::string words) {
  // Written so that a p which is not a number asks again instead of passing.
  const bool fine = p >= kRetryBelow;
  RandomFinding finding =
      plain(test, n, fine ? RandomVerdict::Pass : RandomVerdict::RetryNeeded, std::move(words));
  finding.statistic = statistic;
  finding.p = p;
  return finding;
}

RandomFinding failed(RandomTest test, std::int64_t n, std::string words) {
  return plain(test, n, RandomVerdict::Fail, std::move(words));
}

RandomFinding passed(RandomTest test, std::int64_t n, std::string words) {
  return plain(test, n, RandomVerdict::Pass, std::move(words));
}

RandomFinding mistrusted(RandomTest test, std::int64_t n, std::string words) {
  return plain(test, n, RandomVerdict::Mistrusted, std::move(words));
}

RandomFinding confirm(const RandomFinding& first, const RandomFinding& second) {
  if (first.verdict != RandomVerdict::RetryNeeded) {
    return first;
  }
  RandomFinding both = second;
  both.seeds.insert(both.seeds.begin(), first.seeds.begin(), first.seeds.end());
  if (second.verdict == RandomVerdict::Pass || second.verdict == RandomVerdict::RetryNeeded) {
    const bool fine = second.p.has_value() && *second.p >= kFailBelow;
    both.verdict = fine ? RandomVerdict::Pass : RandomVerdict::Fail;
  }
  both.words = fmt::format("{} (first seed, n = {}: p = {:.2g})", second.words, first.n,
                           first.p.value_or(0));
  return both;
}

Result<RandomFinding> judgeInTwoStages(const Sampler& sampler, const SampleTest& test,
                                       std::uint64_t seed, std::int64_t n) {
  const auto stage = [&](std::uint64_t stageSeed, std::int64_t count) -> Result<RandomFinding> {
    NEURONCHECK_TRY(const std::vector<double> samples, sampler(stageSeed, count));
    if (static_cast<std::int64_t>(samples.size()) != count) {
      return inputError(
          fmt::format("asked for {} random values, received {}", count, samples.size()));
    }
    RandomFinding finding = test(samples);
    finding.seeds = {stageSeed};
    return finding;
  };
  NEURONCHECK_TRY(RandomFinding first, stage(seed, n));
  if (first.verdict != RandomVerdict::RetryNeeded) {
    return first;
  }
  NEURONCHECK_TRY(const RandomFinding second, stage(freshSeed(seed), n * kRetryFactor));
  return confirm(first, second);
}

std::uint64_t freshSeed(std::uint64_t seed) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace neuroncheck::numerics
