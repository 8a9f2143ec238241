// SPDX-License-Identifier: Apache-2.0
// Bad generators: each must be caught, by the test that is there for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/random/distribution_tests.h"
#include "numerics/random/draws.h"
#include "numerics/random/independence.h"
#include "numerics/random/p_values.h"
#include "numerics/random/seed_contract.h"
#include "numerics/tests/generators.h"

namespace neuroncheck::numerics {
namespace {

using testing::HasSubstr;

using Maker = std::function<std::vector<double>(std::uint64_t seed, std::int64_t n)>;

/// Verdict after both stages of every test that fits, for one seed.
std::vector<RandomFinding> judge(const Maker& maker, const Distribution& distribution,
                                 const Quantisation& quantisation = {}) {
  const Sampler sampler = [&](std::uint64_t seed, std::int64_t n) {
    return Result<std::vector<double>>(maker(seed, n));
  };
  std::vector<SampleTest> tests = distributionTests(distribution, quantisation);
  for (auto& test : independenceTests()) {
    tests.push_back(std::move(test));
  }
  std::vector<RandomFinding> findings;
  for (const SampleTest& test : tests) {
    findings.push_back(*judgeInTwoStages(sampler, test, 11));
  }
  return findings;
}

bool failsBy(const std::vector<RandomFinding>& findings, RandomTest test) {
  return std::any_of(findings.begin(), findings.end(), [&](const RandomFinding& finding) {
    return finding.test == test && finding.verdict == RandomVerdict::Fail;
  });
}

Distribution normal() { return *Distribution::make(DistributionKind::Normal, 0, 1); }
Distribution uniform() { return *Distribution::make(DistributionKind::Uniform, 0, 1); }

Maker from(DistributionKind kind, double a, double b) {
  return [=](std::uint64_t seed, std::int64_t n) { return draw(kind, a, b, seed, n); };
}

// What each test sees at which size. The rows are the reasons for n = 65,536, for bins beside KS,
// and for the two-stage rule beside a fixed limit on D.
TEST(Power, WhatKolmogorovSmirnovSees) {
  const auto distance = [](const Maker& maker, std::int64_t n) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      sum += kolmogorovSmirnovDistance(maker(seed, n), normal());
    }
    return sum / 5;
  };
  const Maker wide = from(DistributionKind::Normal, 0, 1.25);
  const Maker slightlyWide = from(DistributionKind::Normal, 0, 1.05);
  // PyTorch's own rule, D < 0.1 at n = 1,000, passes a standard deviation 25 % off, and so would
  // alpha = 1e-6 there.
  EXPECT_LT(distance(wide, 1000), 0.1);
  EXPECT_LT(distance(wide, 1000), kolmogorovSmirnovLimit(kFailBelow, 1000));
  EXPECT_NEAR(kolmogorovSmirnovLimit(kFailBelow, 1000), 0.085, 0.001);
  EXPECT_LT(kolmogorovSmirnovTail(0.1, 1000), 1e-8);
  // At n = 65,536 even 5 % are seen.
  EXPECT_NEAR(kolmogorovSmirnovLimit(kFailBelow, 65536), 0.0105, 0.0001);
  EXPECT_GT(distance(slightlyWide, 65536), 0.0105);
  EXPECT_GT(distance(wide, 65536), 0.05);
  EXPECT_NEAR(kolmogorovSmirnovLimit(kFailBelow, 1 << 20), 0.0026, 0.0001);
}

Maker cutAt(double limit) {
  return [=](std::uint64_t seed, std::int64_t n) {
    auto values = draw(DistributionKind::Normal, 0, 1, seed, n + n / 8);
    std::erase_if(values, [&](double v) { return std::abs(v) > limit; });
    values.resize(static_cast<std::size_t>(n));
    return values;
  };
}

TEST(Power, ACutTailNeedsBins) {
  const auto values = cutAt(2.5)(3, kFirstStageCount);
  const double distance = kolmogorovSmirnovDistance(values, normal());
  EXPECT_LT(distance, kolmogorovSmirnovLimit(kRetryBelow, kFirstStageCount)) << distance;
  EXPECT_TRUE(failsBy(judge(cutAt(2.5), normal()), RandomTest::ChiSquare));
  EXPECT_TRUE(failsBy(judge(cutAt(2.5), normal()), RandomTest::TailCounts));
  EXPECT_TRUE(failsBy(judge(cutAt(3), normal()), RandomTest::ChiSquare));
  // Four values in 65,536 are beyond 4: their absence is no surprise, and is not called one.
  EXPECT_FALSE(failsBy(judge(cutAt(4), normal()), RandomTest::TailCounts));
}

TEST(BadGenerators, AWrongStandardDeviation) {
  EXPECT_TRUE(failsBy(judge(from(DistributionKind::Normal, 0, 1.05), normal()),
                      RandomTest::KolmogorovSmirnov));
  EXPECT_TRUE(failsBy(judge(from(DistributionKind::Normal, 0, 0.95), normal()),
                      RandomTest::KolmogorovSmirnov));
  const Maker narrow = [](std::uint64_t seed, std::int64_t n) {
    return rounded(draw(DistributionKind::Normal, 0, 1.05, seed, n), Format::BFloat16);
  };
  EXPECT_TRUE(
      failsBy(judge(narrow, normal(), Quantisation{Format::BFloat16}), RandomTest::ChiSquare));
  EXPECT_TRUE(failsBy(judge(narrow, normal(), Quantisation{Format::BFloat16}),
                      RandomTest::KolmogorovSmirnov));
  EXPECT_TRUE(failsBy(judge(from(DistributionKind::Exponential, 1.1, 1),
                            *Distribution::make(DistributionKind::Exponential, 1)),
                      RandomTest::KolmogorovSmirnov));
}

TEST(BadGenerators, WrongDiscreteParameters) {
  const auto sees = [](DistributionKind kind, double a, double b, double wrongA, double wrongB) {
    return failsBy(judge(from(kind, wrongA, wrongB), *Distribution::make(kind, a, b)),
                   RandomTest::ChiSquare);
  };
  EXPECT_TRUE(sees(DistributionKind::Geometric, 0.3, 1, 0.32, 1));
  EXPECT_TRUE(sees(DistributionKind::Poisson, 4, 1, 4.1, 1));
  EXPECT_TRUE(sees(DistributionKind::Binomial, 20, 0.2, 20, 0.21));
  EXPECT_TRUE(sees(DistributionKind::Integers, 0, 100, 0, 98));
  // A geometric variate that counts failures starts at 0.
  const Maker failures = [](std::uint64_t seed, std::int64_t n) {
    auto values = draw(DistributionKind::Geometric, 0.3, 1, seed, n);
    std::for_each(values.begin(), values.end(), [](double& v) { v -= 1; });
    return values;
  };
  EXPECT_TRUE(failsBy(judge(failures, *Distribution::make(DistributionKind::Geometric, 0.3)),
                      RandomTest::Support));
}

TEST(BadGenerators, ValuesAtTheForbiddenEdge) {
  const auto with = [](double value) {
    auto values = draw(DistributionKind::Uniform, 0, 1, 1, kFirstStageCount);
    values[777] = value;
    return supportTest(values, uniform());
  };
  EXPECT_EQ(with(0).verdict, RandomVerdict::Pass);
  for (const double value : {1.0, -0x1p-60, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(with(value).verdict, RandomVerdict::Fail) << value;
    EXPECT_THAT(with(value).words, HasSubstr("at index 777"));
  }
  const auto exponential = *Distribution::make(DistributionKind::Exponential, 1);
  EXPECT_EQ(supportTest(std::vector<double>{0.5, 0.0}, exponential).verdict, RandomVerdict::Fail);
}

Maker lagged(double weight, std::size_t lag) {
  return [=](std::uint64_t seed, std::int64_t n) {
    auto values = draw(DistributionKind::Normal, 0, 1, seed, n);
    const double rest = std::sqrt(1 - weight * weight);
    for (std::size_t i = lag; i < values.size(); ++i) {
      values[i] = weight * values[i - lag] + rest * values[i];
    }
    return values;
  };
}

TEST(BadGenerators, Correlation) {
  EXPECT_TRUE(failsBy(judge(lagged(0.03, 1), normal()), RandomTest::LagCorrelation));
  EXPECT_TRUE(failsBy(judge(lagged(-0.05, 1), normal()), RandomTest::Runs));
  EXPECT_TRUE(failsBy(judge(lagged(0.1, 1), normal()), RandomTest::Neighbours));
  EXPECT_TRUE(failsBy(judge(lagged(0.03, 128), normal()), RandomTest::LagCorrelation));
  EXPECT_FALSE(failsBy(judge(lagged(0.03, 128), normal()), RandomTest::Runs));
  // Neighbours that agree in size but not in sign have no correlation; the table sees them.
  const Maker sameSize = [](std::uint64_t seed, std::int64_t n) {
    auto values = draw(DistributionKind::Normal, 0, 1, seed, n);
    for (std::size_t i = 1; i < values.size(); i += 2) {
      values[i] = std::copysign(values[i - 1], values[i]);
    }
    return values;
  };
  EXPECT_TRUE(failsBy(judge(sameSize, normal()), RandomTest::Neighbours));
}

TEST(BadGenerators, LowBitsOfACongruentialGenerator) {
  // The low 16 bits of a power-of-two LCG have period 65,536: every value once, far too evenly.
  const Maker lcg = [](std::uint64_t seed, std::int64_t n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::uint64_t state = seed;
    for (double& value : values) {
      state = state * 1103515245 + 12345;
      value = static_cast<double>(state & 0xffffU) / 65536;
    }
    return values;
  };
  const auto findings = judge(lcg, uniform());
  EXPECT_TRUE(failsBy(findings, RandomTest::ChiSquare));
  const auto bits = floats(lcg(1, 4 * 65536));
  EXPECT_EQ(duplicateBlockTest(bytesOf(bits), 4, 512).verdict, RandomVerdict::Fail);
}

TEST(BadGenerators, RepeatedTilesAndCoresSeededAlike) {
  auto values = floats(draw(DistributionKind::Normal, 0, 1, 1, kFirstStageCount));
  EXPECT_EQ(duplicateBlockTest(bytesOf(values), 4, 512).verdict, RandomVerdict::Pass);
  // One tile twice among 512; neither the distribution nor a correlation shows it.
  std::copy_n(values.begin() + 128, 128, values.begin() + 77 * 128);
  const RandomFinding twice = duplicateBlockTest(bytesOf(values), 4, 512);
  EXPECT_EQ(twice.verdict, RandomVerdict::Fail);
  EXPECT_THAT(twice.words, HasSubstr("blocks 1 and 77 of 512"));
  // One tile everywhere.
  const Maker repeated = [](std::uint64_t seed, std::int64_t n) {
    auto tile = draw(DistributionKind::Normal, 0, 1, seed, n);
    for (std::size_t i = 128; i < tile.size(); ++i) {
      tile[i] = tile[i % 128];
    }
    return tile;
  };
  EXPECT_TRUE(failsBy(judge(repeated, normal()), RandomTest::LagCorrelation));
  EXPECT_EQ(duplicateBlockTest(bytesOf(floats(repeated(1, 4096))), 4, 512).verdict,
            RandomVerdict::Fail);

  std::vector<std::vector<float>> cores;
  for (const std::uint64_t seed : {1, 2, 3, 1}) {
    cores.push_back(floats(draw(DistributionKind::Uniform, 0, 1, seed, 1000)));
  }
  std::vector<std::span<const std::byte>> buffers;
  for (const auto& core : cores) {
    buffers.push_back(bytesOf(core));
  }
  EXPECT_THAT(duplicateBufferTest(buffers, 4).words, HasSubstr("blocks 0 and 3 of 4"));
  EXPECT_EQ(duplicateBufferTest(std::span(buffers).first(3), 4).verdict, RandomVerdict::Pass);
  // Masks of four elements are equal by chance; a constant tensor has no entropy to judge by.
  const std::vector<std::uint8_t> mask{1, 0, 1, 1, 1, 0, 1, 1};
  EXPECT_EQ(duplicateBlockTest(bytesOf(mask), 1, 4).verdict, RandomVerdict::Mistrusted);
  EXPECT_EQ(duplicateBlockTest(bytesOf(std::vector<float>(9999, 1.0F)), 4, 512).verdict,
            RandomVerdict::Mistrusted);
}

TEST(BadGenerators, Bernoulli) {
  const auto flips = [](double p, std::int64_t n) {
    Engine engine = engineOf(4);
    std::bernoulli_distribution coin(p);
    std::vector<double> values(static_cast<std::size_t>(n));
    std::generate(values.begin(), values.end(), [&] { return coin(engine) ? 1.0 : 0.0; });
    return values;
  };
  EXPECT_EQ(bernoulliTest(flips(0.3, 65536), 0.3).verdict, RandomVerdict::Pass);
  EXPECT_LT(*bernoulliTest(flips(0.31, 65536), 0.3).p, kRetryBelow);
  EXPECT_LT(*bernoulliTest(flips(0.31, 4 * 65536), 0.3).p, kFailBelow);
  EXPECT_EQ(bernoulliTest(std::vector<double>{0, 0.5}, 0.3).verdict, RandomVerdict::Fail);
  EXPECT_EQ(bernoulliTest(std::vector<double>{0, 1}, 0.0).verdict, RandomVerdict::Fail);
  EXPECT_EQ(bernoulliTest(std::vector<double>{1, 1}, 1.0).verdict, RandomVerdict::Pass);
  // A probability for each element: half of them certain.
  std::vector<double> probabilities(4000, 0.25);
  std::fill_n(probabilities.begin(), 1000, 0.0);
  std::fill_n(probabilities.begin() + 1000, 1000, 1.0);
  auto values = flips(0.25, 4000);
  std::fill_n(values.begin(), 1000, 0.0);
  std::fill_n(values.begin() + 1000, 1000, 1.0);
  EXPECT_EQ(bernoulliTest(values, probabilities).verdict, RandomVerdict::Pass);
  values[3] = 1;
  EXPECT_THAT(bernoulliTest(values, probabilities).words,
              HasSubstr("element 3 is 1 at probability 0"));
  std::fill_n(values.begin(), 1000, 0.0);
  std::fill_n(values.begin() + 2000, 1000, 0.0);
  EXPECT_EQ(bernoulliTest(values, probabilities).verdict, RandomVerdict::RetryNeeded);
}

TEST(BadGenerators, PermutationsThatAreNone) {
  std::vector<std::int64_t> values{0, 1, 2, 2, 1, 0};
  EXPECT_EQ(permutationTest(values, 3).verdict, RandomVerdict::Mistrusted);
  values[4] = 0;
  EXPECT_THAT(permutationTest(values, 3).words, HasSubstr("permutation 1 of 3 holds 0 twice"));
  values[4] = 3;
  EXPECT_THAT(permutationTest(values, 3).words, HasSubstr("holds 3"));
  EXPECT_EQ(permutationTest(std::span(values).first(5), 3).verdict, RandomVerdict::Fail);
  // A shuffle that swaps each element with any place prefers some places.
  Engine engine = engineOf(1);
  std::vector<std::int64_t> naive;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::int64_t> one(5);
    std::iota(one.begin(), one.end(), 0);
    for (auto& value : one) {
      std::swap(value, one[engine() % 5]);
    }
    naive.insert(naive.end(), one.begin(), one.end());
  }
  EXPECT_LT(*permutationTest(naive, 5).p, kFailBelow);
}

TEST(BadGenerators, DrawsAgainstTheirWeights) {
  const std::vector<double> weights{1, 2, 0, 1};
  std::vector<std::int64_t> draws;
  for (int i = 0; i < 1000; ++i) {
    draws.insert(draws.end(), {0, 1, 3, 1});
  }
  EXPECT_LT(*drawsTest(draws, 4, weights, true).p, kRetryBelow);  // too even to be chance
  EXPECT_THAT(drawsTest(draws, 4, weights, false).words, HasSubstr("1 was drawn twice"));
  draws[5] = 2;
  EXPECT_THAT(drawsTest(draws, 4, weights, true).words, HasSubstr("weight is zero"));
  draws[5] = 4;
  EXPECT_THAT(drawsTest(draws, 4, weights, true).words, HasSubstr("outside of 4"));
}

TEST(SeedContract, EachPromiseBroken) {
  const auto a = floats(draw(DistributionKind::Normal, 0, 1, 1, 5000));
  auto b = a;
  EXPECT_EQ(sameSeedTest(bytesOf(a), bytesOf(b), 1).verdict, RandomVerdict::Pass);
  EXPECT_EQ(stateRestoredTest(bytesOf(a), bytesOf(b)).verdict, RandomVerdict::Pass);
  EXPECT_EQ(forkIsolatedTest(bytesOf(a), bytesOf(b)).verdict, RandomVerdict::Pass);
  EXPECT_EQ(differentSeedsTest(bytesOf(a), bytesOf(b), 4, 1, 2).verdict, RandomVerdict::Fail);
  b[4999] = -b[4999];
  const RandomFinding finding = sameSeedTest(bytesOf(a), bytesOf(b), 1);
  EXPECT_EQ(finding.verdict, RandomVerdict::Fail);
  EXPECT_THAT(finding.words, HasSubstr("from byte 19999 on"));
  EXPECT_EQ(forkIsolatedTest(bytesOf(a), bytesOf(b)).verdict, RandomVerdict::Fail);
  EXPECT_EQ(sameSeedTest({}, {}, 1).verdict, RandomVerdict::Mistrusted);
  // A seed that reaches only half of the elements.
  auto c = floats(draw(DistributionKind::Normal, 0, 1, 2, 5000));
  EXPECT_EQ(differentSeedsTest(bytesOf(a), bytesOf(c), 4, 1, 2).verdict, RandomVerdict::Pass);
  std::copy_n(a.begin(), 2500, c.begin());
  EXPECT_EQ(differentSeedsTest(bytesOf(a), bytesOf(c), 4, 1, 2).verdict, RandomVerdict::Fail);
  const std::vector<std::uint8_t> three{1, 0, 1};
  EXPECT_EQ(differentSeedsTest(bytesOf(three), bytesOf(three), 1, 1, 2).verdict,
            RandomVerdict::Mistrusted);
}

}  // namespace
}  // namespace neuroncheck::numerics
