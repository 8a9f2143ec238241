// SPDX-License-Identifier: Apache-2.0
// Good generators: what the tests of randomness must not accuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/random/distribution_tests.h"
#include "numerics/random/draws.h"
#include "numerics/random/independence.h"
#include "numerics/random/p_values.h"
#include "numerics/tests/generators.h"

namespace neuroncheck::numerics {
namespace {

using testing::HasSubstr;

struct Good {
  DistributionKind kind;
  double a;
  double b;
};

const std::vector<Good> kGood = {
    {DistributionKind::Uniform, 0, 1},      {DistributionKind::Uniform, -3, 5},
    {DistributionKind::Normal, 0, 1},       {DistributionKind::Normal, 100, 0.5},
    {DistributionKind::Exponential, 2, 1},  {DistributionKind::LogNormal, 1, 0.5},
    {DistributionKind::Cauchy, 1, 2},       {DistributionKind::Gamma, 2.5, 1},
    {DistributionKind::Geometric, 0.3, 1},  {DistributionKind::Poisson, 4, 1},
    {DistributionKind::Binomial, 20, 0.2},  {DistributionKind::Integers, -5, 30},
    {DistributionKind::Integers, 0, 100000}};

std::vector<SampleTest> everyTest(const Distribution& distribution, const Quantisation& q) {
  std::vector<SampleTest> tests = distributionTests(distribution, q);
  for (auto& test : independenceTests()) {
    tests.push_back(std::move(test));
  }
  return tests;
}

TEST(GoodGenerators, PassInTwoStages) {
  std::int64_t asked = 0;
  std::int64_t retried = 0;
  for (const Good& good : kGood) {
    const auto distribution = Distribution::make(good.kind, good.a, good.b);
    const auto tests = everyTest(*distribution, {});
    const Sampler sampler = [&](std::uint64_t seed, std::int64_t n) {
      return Result<std::vector<double>>(draw(good.kind, good.a, good.b, seed, n));
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const SampleTest& test : tests) {
        const auto finding = judgeInTwoStages(sampler, test, seed);
        ASSERT_TRUE(finding.has_value());
        EXPECT_EQ(finding->verdict, RandomVerdict::Pass)
            << distribution->str() << " seed " << seed << ": " << finding->words;
        ++asked;
        retried += finding->seeds.size() == 2 ? 1 : 0;
      }
    }
  }
  // 1e-3 of some 290: four or more have a chance below 1e-3.
  EXPECT_LE(retried, 3) << "of " << asked;
}

// The p values themselves: as often below a level as the level says. Tests of independence look at
// ranks, so one distribution speaks for all.
TEST(GoodGenerators, AreCalledForARetryAsOftenAsStated) {
  for (const Good& good : kGood) {
    const auto distribution = Distribution::make(good.kind, good.a, good.b);
    const bool inFull = good.kind == DistributionKind::Normal && good.a == 0;
    const auto tests = inFull ? everyTest(*distribution, {}) : distributionTests(*distribution, {});
    std::vector<int> retries(tests.size());
    std::vector<int> below(tests.size());
    const int seeds = inFull ? 300 : 60;
    for (int seed = 0; seed < seeds; ++seed) {
      const auto samples = draw(good.kind, good.a, good.b, static_cast<std::uint64_t>(seed), 8192);
      for (std::size_t t = 0; t < tests.size(); ++t) {
        const RandomFinding finding = tests[t](samples);
        ASSERT_TRUE(finding.p.has_value() || finding.test == RandomTest::Support);
        retries[t] += finding.verdict == RandomVerdict::RetryNeeded ? 1 : 0;
        below[t] += finding.p.value_or(1) < 0.05 ? 1 : 0;
      }
    }
    for (std::size_t t = 0; t < tests.size(); ++t) {
      // 1e-3: 5 of 300 or 4 of 60 have a chance below 1e-4.
      EXPECT_LE(retries[t], inFull ? 4 : 3) << distribution->str() << " test " << t;
      // 5 %, give or take 4 sigma; fewer where a statistic is discrete or a test conservative.
      EXPECT_LE(below[t], 0.05 * seeds + 4 * std::sqrt(0.0475 * seeds))
          << distribution->str() << " test " << t;
    }
  }
}

// Steps of a narrow format are no errors, whichever way the values were rounded.
TEST(GoodGenerators, InNarrowFormatsPass) {
  struct Rounded {
    Format format;
    Rounding rounding;
  };
  for (const auto& [format, rounding] : {Rounded{Format::BFloat16, Rounding::NearestEven},
                                         {Format::BFloat16, Rounding::TowardZero},
                                         {Format::Float16, Rounding::NearestEven},
                                         {Format::E4M3FN, Rounding::NearestEven}}) {
    for (const Good& good : {kGood[2], kGood[4], kGood[6]}) {
      if (good.kind == DistributionKind::Cauchy && format != Format::BFloat16) {
        continue;  // beyond their range
      }
      const auto distribution = Distribution::make(good.kind, good.a, good.b);
      const Quantisation quantisation{format};
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const Sampler sampler = [&](std::uint64_t s, std::int64_t n) {
          return Result<std::vector<double>>(
              rounded(draw(good.kind, good.a, good.b, s, n), format, rounding));
        };
        for (const SampleTest& test : {distributionTests(*distribution, quantisation)[1],
                                       distributionTests(*distribution, quantisation)[2],
                                       distributionTests(*distribution, quantisation)[3]}) {
          const auto finding = judgeInTwoStages(sampler, test, seed);
          EXPECT_EQ(finding->verdict, RandomVerdict::Pass)
              << name(format) << ' ' << distribution->str() << ' ' << finding->words;
        }
      }
    }
  }
}

// torch's uniform numbers are k 2^-8 in bf16: a step that KS without knowledge of it would take
// for an error as soon as there are enough samples.
TEST(GoodGenerators, UniformOnTheGridOfItsFormatPasses) {
  const auto uniform = Distribution::make(DistributionKind::Uniform, 0, 1);
  const Quantisation quantisation = Quantisation::of(DType::BFloat16, *uniform);
  EXPECT_EQ(quantisation.grid, 0x1p-8);
  const auto onGrid = [](std::uint64_t seed, std::int64_t n, double shift) {
    auto values = draw(DistributionKind::Uniform, 0, 1, seed, n);
    for (double& value : values) {
      value = std::floor(value * 256 + shift) / 256;
    }
    return values;
  };
  const auto values = onGrid(7, 4 * kFirstStageCount, 0);
  EXPECT_LT(
      kolmogorovSmirnovTail(kolmogorovSmirnovDistance(values, *uniform), 4 * kFirstStageCount),
      kRetryBelow);
  for (const double shift : {0.0, 0.5, 1.0}) {
    for (const SampleTest& test : distributionTests(*uniform, quantisation)) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto sample = onGrid(seed, 4 * kFirstStageCount, shift);
        if (shift == 0.5) {
          // torch on CUDA: what rounds to the excluded 1 comes back as 0.
          std::replace(sample.begin(), sample.end(), 1.0, 0.0);
        }
        const RandomFinding finding = test(sample);
        if (shift == 1 && finding.test == RandomTest::Support) {
          EXPECT_EQ(finding.verdict, RandomVerdict::Fail);
          continue;
        }
        EXPECT_GE(finding.p.value_or(1), kFailBelow) << shift << ' ' << finding.words;
      }
    }
  }
}

TEST(GoodGenerators, PermutationsAndDraws) {
  int retries = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Engine engine = engineOf(seed);
    for (const std::int64_t size : {5, 40}) {
      std::vector<std::int64_t> all;
      std::vector<std::int64_t> one(static_cast<std::size_t>(size));
      std::iota(one.begin(), one.end(), 0);
      for (int i = 0; i < 500; ++i) {
        std::shuffle(one.begin(), one.end(), engine);
        all.insert(all.end(), one.begin(), one.end());
      }
      const RandomFinding finding = permutationTest(all, size);
      EXPECT_TRUE(finding.verdict != RandomVerdict::Fail) << finding.words;
      retries += finding.verdict == RandomVerdict::RetryNeeded ? 1 : 0;
    }
    const std::vector<double> weights{1, 0, 3, 0.001, 6, 2};
    std::discrete_distribution<std::int64_t> categories(weights.begin(), weights.end());
    std::vector<std::int64_t> draws(3000);
    std::generate(draws.begin(), draws.end(), [&] { return categories(engine); });
    const RandomFinding finding = drawsTest(draws, 10, weights, true);
    EXPECT_NE(finding.verdict, RandomVerdict::Fail) << finding.words;
    retries += finding.verdict == RandomVerdict::RetryNeeded ? 1 : 0;
  }
  EXPECT_LE(retries, 5);  // 1e-3 of 600
}

TEST(GoodGenerators, OneLargePermutationIsJudgedByItsPlaces) {
  Engine engine = engineOf(5);
  std::vector<std::int64_t> one(65536);
  std::iota(one.begin(), one.end(), 0);
  EXPECT_EQ(permutationTest(one, 65536).verdict, RandomVerdict::RetryNeeded);  // unshuffled
  std::shuffle(one.begin(), one.end(), engine);
  EXPECT_EQ(permutationTest(one, 65536).verdict, RandomVerdict::Pass);
}

TEST(GoodGenerators, LowBitsOfIntegers) {
  for (const auto& [low, high] :
       {std::pair<std::int64_t, std::int64_t>{0, 256}, {-1000, 700}, {0, std::int64_t{1} << 40}}) {
    Engine engine = engineOf(3);
    std::uniform_int_distribution<std::int64_t> integers(low, high - 1);
    std::vector<std::int64_t> values(kFirstStageCount);
    std::generate(values.begin(), values.end(), [&] { return integers(engine); });
    EXPECT_EQ(lowBitsTest(values, low, high).verdict, RandomVerdict::Pass);
    // Integers that went through fp32 lose their low bits beyond 2^24.
    for (auto& value : values) {
      value = static_cast<std::int64_t>(static_cast<float>(value));
    }
    EXPECT_EQ(lowBitsTest(values, low, high).verdict,
              high > (1 << 24) ? RandomVerdict::RetryNeeded : RandomVerdict::Pass);
  }
}

TEST(GoodGenerators, TooFewSamplesAreMistrustedNeverPassed) {
  const auto normal = Distribution::make(DistributionKind::Normal, 0, 1);
  const auto few = draw(DistributionKind::Normal, 0, 1, 1, 90);
  for (const SampleTest& test : everyTest(*normal, {})) {
    const RandomFinding finding = test(few);
    EXPECT_TRUE(finding.verdict == RandomVerdict::Mistrusted || finding.test == RandomTest::Support)
        << finding.words;
    EXPECT_NE(test({}).verdict, RandomVerdict::Pass) << finding.words;
  }
  EXPECT_EQ(bernoulliTest(std::vector<double>(15, 1.0), 0.5).verdict, RandomVerdict::Mistrusted);
  EXPECT_EQ(permutationTest(std::vector<std::int64_t>{1, 0, 2}, 3).verdict,
            RandomVerdict::Mistrusted);
  const std::vector<std::int64_t> draws{0, 1, 0};
  EXPECT_EQ(drawsTest(draws, 1, std::vector<double>{1, 1}, true).verdict,
            RandomVerdict::Mistrusted);
  EXPECT_EQ(drawsTest(draws, 2, std::vector<double>{1, 1}, true).verdict,
            RandomVerdict::Mistrusted);
}

TEST(TwoStages, ErrorsOfTheSamplerEndTheTest) {
  const SampleTest test = [](std::span<const double>) {
    return passed(RandomTest::Support, 0, "");
  };
  const Sampler shortSampler = [](std::uint64_t, std::int64_t) {
    return Result<std::vector<double>>(std::vector<double>(3));
  };
  const auto finding = judgeInTwoStages(shortSampler, test, 1, 4);
  ASSERT_FALSE(finding.has_value());
  EXPECT_THAT(finding.error().message, HasSubstr("asked for 4 random values, received 3"));
  const Sampler failing = [](std::uint64_t, std::int64_t) -> Result<std::vector<double>> {
    return fail(ErrorCode::Unavailable, "no device");
  };
  EXPECT_EQ(judgeInTwoStages(failing, test, 1, 4).error().message, "no device");
}

TEST(TwoStages, VerdictsFollowBothPValues) {
  const auto with = [](double p) { return firstStage(RandomTest::Runs, 0, p, 10, ""); };
  EXPECT_EQ(with(2e-3).verdict, RandomVerdict::Pass);
  EXPECT_EQ(with(5e-4).verdict, RandomVerdict::RetryNeeded);
  EXPECT_EQ(with(std::nan("")).verdict, RandomVerdict::RetryNeeded);
  EXPECT_EQ(confirm(with(0.5), with(0)).verdict, RandomVerdict::Pass);
  EXPECT_EQ(confirm(with(1e-9), with(1e-4)).verdict, RandomVerdict::Pass);
  EXPECT_EQ(confirm(with(1e-4), with(9e-7)).verdict, RandomVerdict::Fail);
  EXPECT_EQ(confirm(with(1e-4), with(std::nan(""))).verdict, RandomVerdict::Fail);
  EXPECT_EQ(confirm(with(1e-4), mistrusted(RandomTest::Runs, 1, "")).verdict,
            RandomVerdict::Mistrusted);
  EXPECT_EQ(confirm(with(1e-4), failed(RandomTest::Runs, 1, "")).verdict, RandomVerdict::Fail);
}

TEST(Distributions, ParametersOutsideTheirDomainAreErrors) {
  EXPECT_FALSE(Distribution::make(DistributionKind::Uniform, 1, 1));
  EXPECT_FALSE(Distribution::make(DistributionKind::Normal, 0, 0));
  EXPECT_FALSE(Distribution::make(DistributionKind::Geometric, 1));
  EXPECT_FALSE(Distribution::make(DistributionKind::Binomial, 2.5, 0.5));
  EXPECT_FALSE(Distribution::make(DistributionKind::Exponential, std::nan("")));
}

TEST(Distributions, QuantilesUndoTheirFunctions) {
  for (const Good& good : kGood) {
    const auto d = Distribution::make(good.kind, good.a, good.b);
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.77, 0.999}) {
      const double x = d->quantile(p);
      EXPECT_TRUE(d->canBe(x)) << d->str() << ' ' << x;
      if (d->isDiscrete()) {
        EXPECT_GE(d->cdf(x), p * (1 - 1e-12)) << d->str();
        EXPECT_LT(d->cdf(x - 1), p) << d->str();
      } else {
        EXPECT_NEAR(d->cdf(x), p, 1e-12) << d->str();
      }
      EXPECT_NEAR(d->cdf(x) + d->upperTail(x), 1, 1e-12) << d->str();
    }
  }
}

}  // namespace
}  // namespace neuroncheck::numerics
