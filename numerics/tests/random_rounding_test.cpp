// SPDX-License-Identifier: Apache-2.0
// Dropout and stochastic rounding: good ones pass for many seeds, each kind of bad one is caught.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numerics/random/dropout.h"
#include "numerics/random/stochastic_rounding.h"
#include "numerics/tensor/tensor_view.h"
#include "numerics/tests/generators.h"

namespace neuroncheck::numerics {
namespace {

using testing::HasSubstr;

struct Dropped {
  std::vector<std::byte> input;
  std::vector<std::byte> output;
  std::vector<bool> kept;
};

std::vector<std::byte> encoded(DType dtype, const std::vector<double>& values) {
  const auto item = static_cast<std::size_t>(itemSize(dtype));
  std::vector<std::byte> bytes(values.size() * item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    encodeElement(dtype, values[i], bytes.data() + i * item);
  }
  return bytes;
}

template <typename Scale>
std::vector<std::byte> masked(DType dtype, const std::vector<std::byte>& input,
                              const std::vector<bool>& kept, Scale scale) {
  std::vector<double> values(kept.size());
  decodeRun(dtype, input, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = kept[i] ? scale(values[i]) : 0;
  }
  return encoded(dtype, values);
}

template <typename Scale>
Dropped dropped(DType dtype, double realP, std::uint64_t seed, Scale scale,
                std::int64_t n = 20000) {
  Dropped result;
  result.input = encoded(dtype, draw(DistributionKind::Normal, 0, 1, seed + 1000, n));
  Engine engine = engineOf(seed);
  std::bernoulli_distribution drop(realP);
  for (std::int64_t i = 0; i < n; ++i) {
    result.kept.push_back(!drop(engine));
  }
  result.output = masked(dtype, result.input, result.kept, scale);
  return result;
}

RandomFinding judge(DType dtype, const Dropped& d, double p) {
  return *dropoutTest({dtype, d.input, d.output, p});
}

TEST(Dropout, GoodOnesPass) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Float64}) {
    for (const double p : {0.1, 0.5, 0.9}) {
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const auto once = [&](double x) { return x / (1 - p); };
        EXPECT_EQ(judge(dtype, dropped(dtype, p, seed, once), p).verdict, RandomVerdict::Pass);
      }
      const auto reciprocal = [&](double x) {
        return static_cast<double>(static_cast<float>(x) * static_cast<float>(1 / (1 - p)));
      };
      if (dtype != DType::Float64) {
        EXPECT_EQ(judge(dtype, dropped(dtype, p, 1, reciprocal), p).verdict, RandomVerdict::Pass);
      }
    }
  }
}

TEST(Dropout, BadOnesFail) {
  const double p = 0.1;
  const auto once = [&](double x) { return x / (1 - p); };
  const auto why = [&](DType dtype, const Dropped& d) {
    const RandomFinding finding = judge(dtype, d, p);
    return std::string(name(finding.verdict)) + ": " + finding.words;
  };
  // No scale, the scale of p instead of 1 - p, and a scale that was itself rounded.
  const auto unscaled = dropped(DType::Float32, p, 1, [](double x) { return x; });
  EXPECT_THAT(why(DType::Float32, unscaled), HasSubstr("fail: survivors are not x / (1 - p)"));
  const auto wrong = dropped(DType::BFloat16, p, 1, [&](double x) { return x / p; });
  EXPECT_THAT(why(DType::BFloat16, wrong), HasSubstr("fail"));
  const auto coarse = dropped(DType::BFloat16, p, 1,
                              [&](double x) { return x * roundTo(Format::BFloat16, 1 / (1 - p)); });
  EXPECT_THAT(why(DType::BFloat16, coarse), HasSubstr("fail: survivors are not x / (1 - p)"));
  EXPECT_THAT(why(DType::BFloat16, coarse), HasSubstr("rounded to the format"));
  // Too few zeros, one survivor one bit off, and zeros that come alive.
  EXPECT_THAT(why(DType::Float32, dropped(DType::Float32, 0.12, 1, once)), HasSubstr("fail"));
  auto bit = dropped(DType::Float32, p, 1, once);
  const auto kept = static_cast<std::size_t>(std::find(bit.kept.begin(), bit.kept.end(), true) -
                                             bit.kept.begin());
  bit.output[kept * 4] ^= std::byte{1};
  EXPECT_THAT(why(DType::Float32, bit), HasSubstr("first at " + std::to_string(kept)));
  const auto few = dropped(DType::Float32, p, 1, once, 100);
  EXPECT_THAT(why(DType::Float32, few), HasSubstr("mistrusted"));
  auto zeros = encoded(DType::Float32, std::vector<double>(5000, 0.0));
  const auto ones = encoded(DType::Float32, std::vector<double>(5000, 1.0));
  EXPECT_EQ(dropoutTest({DType::Float32, zeros, ones, p})->verdict, RandomVerdict::Fail);
  EXPECT_EQ(dropoutTest({DType::Float32, zeros, zeros, p})->verdict, RandomVerdict::Mistrusted);
}

TEST(Dropout, TheEndsAreExact) {
  const auto x = encoded(DType::Float32, {1, -2, 3});
  const auto zeros = encoded(DType::Float32, {0, -0.0, 0});
  const auto one = encoded(DType::Float32, {0, -2, 0});
  const auto at = [&](double p, const std::vector<std::byte>& y) {
    return dropoutTest({DType::Float32, x, y, p})->verdict;
  };
  EXPECT_EQ(at(0, x), RandomVerdict::Pass);
  EXPECT_EQ(at(0, one), RandomVerdict::Fail);
  EXPECT_EQ(at(1, zeros), RandomVerdict::Pass);
  EXPECT_EQ(at(1, one), RandomVerdict::Fail);
  EXPECT_FALSE(dropoutTest({DType::Float32, x, x, 1.5}));
  EXPECT_FALSE(dropoutTest({DType::Int32, x, x, 0.5}));
  EXPECT_FALSE(dropoutTest({DType::Float32, x, {}, 0.5}));
}

TEST(Dropout, BackwardUsesTheSameMask) {
  const double p = 0.3;
  const auto once = [&](double x) { return x / (1 - p); };
  const auto d = dropped(DType::Float32, p, 3, once);
  const auto grad = encoded(DType::Float32, draw(DistributionKind::Normal, 0, 1, 77, 20000));
  const auto judged = [&](const std::vector<std::byte>& gradInput) {
    return *dropoutBackwardTest({DType::Float32, d.input, d.output, p}, grad, gradInput);
  };
  EXPECT_EQ(judged(masked(DType::Float32, grad, d.kept, once)).verdict, RandomVerdict::Pass);
  auto other = d.kept;
  other[12345] = !other[12345];
  EXPECT_THAT(judged(masked(DType::Float32, grad, other, once)).words,
              HasSubstr("element 12345 was"));
  EXPECT_EQ(
      judged(masked(DType::Float32, grad, dropped(DType::Float32, p, 4, once).kept, once)).verdict,
      RandomVerdict::Fail);
  EXPECT_EQ(judged(masked(DType::Float32, grad, d.kept, [](double g) { return g; })).verdict,
            RandomVerdict::Fail);
  EXPECT_FALSE(dropoutBackwardTest({DType::Float32, d.input, d.output, p}, grad, {}));
}

constexpr std::int64_t kTrials = 65536;

template <typename Round>
std::vector<std::uint64_t> roundings(const std::vector<RoundingProbe>& probes, Round round,
                                     std::int64_t trials = kTrials, std::uint64_t seed = 1) {
  Engine engine = engineOf(seed);
  std::vector<std::uint64_t> patterns;
  patterns.reserve(probes.size() * static_cast<std::size_t>(trials));
  for (const RoundingProbe& probe : probes) {
    for (std::int64_t i = 0; i < trials; ++i) {
      const std::uint64_t bits = (std::uint64_t{engine()} << 32U) | engine();
      patterns.push_back(round(probe.exact, bits));
    }
  }
  return patterns;
}

auto rounder(Format format) {
  return [format](double x, std::uint64_t bits) {
    return encode(format, x, Rounding::Stochastic, Overflow::Default, bits);
  };
}

TEST(StochasticRounding, GoodOnesPass) {
  for (const Format format : {Format::BFloat16, Format::Float16, Format::E4M3FN, Format::E5M2}) {
    const auto probes = roundingProbes(format, Format::Float32);
    EXPECT_GE(probes.size(), 50U) << name(format);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const auto patterns = roundings(probes, rounder(format), 8192, seed);
      for (const RandomFinding& finding : stochasticRoundingTests(format, probes, patterns)) {
        EXPECT_EQ(finding.verdict, RandomVerdict::Pass) << name(format) << ": " << finding.words;
      }
    }
  }
}

TEST(StochasticRounding, ProbesCoverFractionsSignsAndSubnormals) {
  const auto probes = roundingProbes(Format::BFloat16, Format::Float32);
  const auto has = [&](auto what) { return std::any_of(probes.begin(), probes.end(), what); };
  for (const double fraction : {0.0, 0.5, 0.25, 0.75, 0x1p-8, 1 - 0x1p-8}) {
    for (const double sign : {1.0, -1.0}) {
      EXPECT_TRUE(has([&](const RoundingProbe& p) {
        return p.fraction == fraction && std::copysign(1, p.exact) == sign && p.exact != 0 &&
               std::abs(p.exact) < 0x1p-126;
      })) << fraction;
    }
  }
  for (const RoundingProbe& probe : probes) {
    EXPECT_EQ(neighboursOf(Format::BFloat16, probe.exact).fraction, probe.fraction);
    EXPECT_EQ(roundTo(Format::Float32, probe.exact), probe.exact);
  }
}

TEST(StochasticRounding, PretendersAndBiasedOnesFail) {
  const Format format = Format::BFloat16;
  const auto probes = roundingProbes(format, Format::Float32);
  const auto verdicts = [&](auto round) {
    std::string text;
    for (const RandomFinding& finding :
         stochasticRoundingTests(format, probes, roundings(probes, round, 8192))) {
      text += std::string(name(finding.verdict)) + ": " + finding.words + "\n";
    }
    return text;
  };
  const std::string nearest = verdicts([&](double x, std::uint64_t) { return encode(format, x); });
  EXPECT_THAT(nearest, HasSubstr("fail"));
  EXPECT_THAT(nearest, HasSubstr("nearest number: nothing is stochastic"));
  EXPECT_THAT(
      verdicts([&](double x, std::uint64_t) { return encode(format, x, Rounding::TowardZero); }),
      HasSubstr("truncated: nothing is stochastic"));
  // Only four random bits: fractions of 2^-8 never go up.
  EXPECT_THAT(verdicts([&](double x, std::uint64_t bits) {
                return rounder(format)(x, bits & (std::uint64_t{0xf} << 60U));
              }),
              HasSubstr("fail"));
  // Up in 55 of 100 where 50 are due.
  EXPECT_THAT(
      verdicts([&](double x, std::uint64_t bits) { return rounder(format)(x, bits - bits / 10); }),
      HasSubstr("fail"));
  // A number of the format that moves, once.
  bool moved = false;
  EXPECT_THAT(verdicts([&](double x, std::uint64_t bits) {
                if (x == 1.5 && !moved) {
                  moved = true;
                  return encode(format, x) + 1;
                }
                return rounder(format)(x, bits);
              }),
              HasSubstr("although the format has it"));
  // Two steps away, and zero flushed instead of a subnormal.
  EXPECT_THAT(verdicts([&](double x, std::uint64_t bits) {
                return rounder(format)(x, bits) + (bits % 4096 == 0 ? 1 : 0);
              }),
              HasSubstr("fail"));
  EXPECT_THAT(verdicts([&](double x, std::uint64_t bits) {
                return std::abs(x) < 0x1p-126 ? encode(format, std::copysign(0, x))
                                              : rounder(format)(x, bits);
              }),
              HasSubstr("fail"));
  const auto few = roundings(probes, rounder(format), 8);
  EXPECT_EQ(stochasticRoundingTests(format, probes, few)[1].verdict, RandomVerdict::Mistrusted);
  EXPECT_EQ(stochasticRoundingTests(format, probes, {})[0].verdict, RandomVerdict::Mistrusted);
}

}  // namespace
}  // namespace neuroncheck::numerics
