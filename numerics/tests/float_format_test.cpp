// SPDX-License-Identifier: Apache-2.0
#include "numerics/format/float_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace neuroncheck::numerics {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The definition, bit by bit and by no code of the library: sign, exponent field, fraction field.
double byDefinition(const FormatTraits& f, std::uint64_t pattern) {
  const int fractionBits = f.significandBits - 1;
  const auto bit = [&](int i) { return (pattern >> (f.lowZeroBits + i)) & 1U; };
  int exponent = 0;
  for (int i = 0; i < f.exponentBits; ++i) {
    exponent += static_cast<int>(bit(fractionBits + i)) << i;
  }
  double fraction = 0;
  int ones = 0;
  for (int i = 0; i < fractionBits; ++i) {
    fraction += static_cast<double>(bit(i)) * std::pow(2.0, i - fractionBits);
    ones += static_cast<int>(bit(i));
  }
  const bool negative = f.isSigned() && bit(fractionBits + f.exponentBits) != 0;
  const bool topExponent = exponent == (1 << f.exponentBits) - 1;
  const double sign = negative ? -1.0 : 1.0;
  switch (f.specials) {
    case Specials::Ieee:
      if (topExponent) {
        return ones == 0 ? sign * kInf : kNan;
      }
      break;
    case Specials::FiniteNan:
      if (topExponent && ones == fractionBits) {
        return kNan;
      }
      break;
    case Specials::UnsignedZero:
      if (negative && exponent == 0 && ones == 0) {
        return kNan;
      }
      break;
    case Specials::ExponentOnly:
      return topExponent ? kNan : std::pow(2.0, exponent - f.bias);
  }
  return exponent == 0 ? sign * fraction * std::pow(2.0, 1 - f.bias)
                       : sign * (1 + fraction) * std::pow(2.0, exponent - f.bias);
}

bool sameNumber(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

class NarrowFormat : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] const FormatTraits& f() const { return traits(GetParam()); }
  /// Patterns of the non-negative finite numbers, ascending.
  [[nodiscard]] std::vector<std::uint64_t> ladder() const {
    std::vector<std::uint64_t> patterns;
    for (std::uint64_t m = 0; m <= f().maxFinitePattern(); ++m) {
      patterns.push_back(m << f().lowZeroBits);
    }
    return patterns;
  }
};

TEST_P(NarrowFormat, EveryPatternHasTheValueOfItsDefinition) {
  const std::uint64_t count = std::uint64_t{1} << (f().storageBits - f().lowZeroBits);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t pattern = i << f().lowZeroBits;
    const double value = decode(GetParam(), pattern);
    ASSERT_TRUE(sameNumber(value, byDefinition(f(), pattern))) << f().name << ' ' << pattern;
    if (!std::isnan(value)) {
      ASSERT_EQ(encode(GetParam(), value), pattern) << f().name;
      ASSERT_EQ(encode(GetParam(), value, Rounding::TowardZero), pattern) << f().name;
      ASSERT_EQ(encode(GetParam(), value, Rounding::Stochastic, Overflow::Default, 0), pattern);
    } else {
      ASSERT_TRUE(std::isnan(decode(GetParam(), encode(GetParam(), value))));
    }
  }
}

/// Between each pair of neighbours: just above the lower, the middle and its neighbours in fp64,
/// just below the upper; both signs.
TEST_P(NarrowFormat, RoundsBetweenEveryPairOfNeighbours) {
  const auto patterns = ladder();
  for (std::size_t i = 0; i + 1 < patterns.size(); ++i) {
    const double low = byDefinition(f(), patterns[i]);
    const double high = byDefinition(f(), patterns[i + 1]);
    const double middle = low + (high - low) / 2;
    // e8m0 has no fraction: its hidden bit is odd, so a tie always goes up (torch's conversion).
    const bool lowIsEven =
        f().specials != Specials::ExponentOnly && ((patterns[i] >> f().lowZeroBits) & 1U) == 0;
    const double atTie = lowIsEven ? low : high;
    for (const double sign : {1.0, -1.0}) {
      if (sign < 0 && !f().isSigned()) {
        continue;
      }
      const auto check = [&](double value, double nearest) {
        ASSERT_EQ(roundTo(GetParam(), sign * value), sign * nearest) << f().name << ' ' << value;
        ASSERT_EQ(roundTo(GetParam(), sign * value, Rounding::TowardZero), sign * low)
            << f().name << ' ' << value;
      };
      check(std::nextafter(low, high), low);
      check(std::nextafter(middle, low), low);
      check(middle, atTie);
      check(std::nextafter(middle, high), high);
      check(std::nextafter(high, low), high);
    }
  }
}

TEST_P(NarrowFormat, StochasticRoundingGoesUpInProportion) {
  const auto patterns = ladder();
  for (std::size_t i = 0; i + 1 < patterns.size(); i += 1 + patterns.size() / 257) {
    const double low = byDefinition(f(), patterns[i]);
    const double high = byDefinition(f(), patterns[i + 1]);
    for (const double part : {0.25, 0.5, 0.75}) {
      const double value = low + part * (high - low);
      int up = 0;
      constexpr int kSteps = 64;
      for (std::uint64_t r = 0; r < kSteps; ++r) {
        const double got =
            roundTo(GetParam(), value, Rounding::Stochastic, Overflow::Default, r << 58);
        ASSERT_TRUE(got == low || got == high);
        up += got == high ? 1 : 0;
      }
      ASSERT_EQ(up, static_cast<int>(part * kSteps)) << f().name << ' ' << value;
    }
  }
}

TEST_P(NarrowFormat, BeyondTheLargestNumber) {
  const Format format = GetParam();
  const double max = f().maxFinite();
  EXPECT_EQ(max, byDefinition(f(), ladder().back()));
  const double step = ulp(format, max);
  const double justFits = max + step / 2 * (1 - 1e-9);
  EXPECT_EQ(roundTo(format, justFits), max);
  const double over = roundTo(format, max + step);
  EXPECT_TRUE(f().hasInfinity() ? std::isinf(over) : std::isnan(over));
  EXPECT_EQ(roundTo(format, max + step, Rounding::TowardZero), max);
  EXPECT_EQ(roundTo(format, kInf, Rounding::NearestEven, Overflow::Saturate), max);
  EXPECT_EQ(roundTo(format, 1e300, Rounding::NearestEven, Overflow::Saturate), max);
  if (f().hasInfinity()) {
    EXPECT_EQ(roundTo(format, -kInf), -kInf);
  } else {
    EXPECT_TRUE(std::isnan(roundTo(format, kInf)));
  }
}

TEST_P(NarrowFormat, UlpIsTheDistanceToTheNextNumberAbove) {
  const auto patterns = ladder();
  for (std::size_t i = 0; i + 1 < patterns.size(); ++i) {
    const double low = byDefinition(f(), patterns[i]);
    const double high = byDefinition(f(), patterns[i + 1]);
    ASSERT_EQ(ulp(GetParam(), low), high - low) << f().name << ' ' << low;
    ASSERT_EQ(ulp(GetParam(), -low), high - low);
    ASSERT_EQ(ulpError(GetParam(), high, low), 1.0);
    ASSERT_EQ(ulpDistance(GetParam(), patterns[i], patterns[i + 1]), 1U);
  }
}

TEST_P(NarrowFormat, LimitsFollowFromThePatterns) {
  const auto patterns = ladder();
  const double smallest = f().specials == Specials::ExponentOnly ? byDefinition(f(), 0)
                                                                 : byDefinition(f(), patterns[1]);
  EXPECT_EQ(f().minSubnormal(), smallest);
  EXPECT_EQ(f().unitRoundoff(), std::pow(2.0, -f().significandBits));
  // A number as large as the smallest normal one has the full relative precision.
  EXPECT_EQ(ulp(GetParam(), f().minNormal()), 2 * f().unitRoundoff() * f().minNormal());
}

std::string nameOf(const testing::TestParamInfo<Format>& info) {
  return std::string(name(info.param));
}
INSTANTIATE_TEST_SUITE_P(EightBits, NarrowFormat,
                         testing::Values(Format::E5M2, Format::E4M3FN, Format::E4M3, Format::E3M4,
                                         Format::E5M2FNUZ, Format::E4M3FNUZ, Format::E8M0),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(SixteenBits, NarrowFormat,
                         testing::Values(Format::BFloat16, Format::Float16, Format::TFloat32),
                         nameOf);

TEST(FloatFormat, PublishedConstants) {
  EXPECT_EQ(traits(Format::E4M3FN).maxFinite(), 448.0);
  EXPECT_EQ(traits(Format::E4M3).maxFinite(), 240.0);
  EXPECT_EQ(traits(Format::E5M2).maxFinite(), 57344.0);
  EXPECT_EQ(traits(Format::E3M4).maxFinite(), 15.5);
  EXPECT_EQ(traits(Format::E4M3FNUZ).maxFinite(), 240.0);
  EXPECT_EQ(traits(Format::E5M2FNUZ).maxFinite(), 57344.0);
  EXPECT_EQ(traits(Format::Float16).maxFinite(), 65504.0);
  EXPECT_EQ(traits(Format::E8M0).maxFinite(), std::ldexp(1.0, 127));
  EXPECT_EQ(traits(Format::Float32).minSubnormal(),
            static_cast<double>(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(encode(Format::E4M3FN, 464.0), 0x7eU);  // the tie below 480 goes to the even 448
  EXPECT_EQ(encode(Format::E4M3FN, 465.0), 0x7fU);
  EXPECT_EQ(encode(Format::E8M0, 0.0), 0U);
  EXPECT_EQ(encode(Format::E8M0, -1.0), 0xffU);
  EXPECT_EQ(encode(Format::E8M0, 3.0), 129U);
}

/// The processor's own conversion is the second definition for fp32.
RC_GTEST_PROP(FloatFormat, Fp32IsTheHardwareCast, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  const auto expected = static_cast<float>(value);
  if (std::isnan(value)) {
    RC_ASSERT(std::isnan(decode(Format::Float32, encode(Format::Float32, value))));
    return;
  }
  RC_ASSERT(encode(Format::Float32, value) == std::bit_cast<std::uint32_t>(expected));
}

TEST(FloatFormat, Fp32OfEveryExponentAndTie) {
  // Values of every fp32 binade, subnormal and overflowing ones too, at and around ties.
  for (int exponent = -160; exponent <= 130; ++exponent) {
    for (std::uint64_t fraction = 0; fraction < 64; ++fraction) {
      for (const std::uint64_t low : {0ULL, 1ULL, 0x0fffffffULL, 0x10000000ULL, 0x10000001ULL}) {
        const double value = std::ldexp(
            1.0 + std::ldexp(static_cast<double>((fraction << 29) + low), -52), exponent);
        ASSERT_EQ(encode(Format::Float32, value),
                  std::bit_cast<std::uint32_t>(static_cast<float>(value)))
            << value;
      }
    }
  }
}

RC_GTEST_PROP(FloatFormat, Fp64IsItself, (std::uint64_t bits)) {
  RC_ASSERT(encode(Format::Float64, decode(Format::Float64, bits)) == bits);
}

RC_GTEST_PROP(FloatFormat, UlpDistanceIsAMetricAndFollowsOrder,
              (std::uint32_t a, std::uint32_t b, std::uint32_t c)) {
  const auto between = [](std::uint32_t x, std::uint32_t y) {
    return ulpDistance(Format::Float32, x, y);
  };
  const auto isNan = [](std::uint32_t x) { return std::isnan(std::bit_cast<float>(x)); };
  if (isNan(a) || isNan(b) || isNan(c)) {
    RC_ASSERT(!ordinal(Format::Float32, isNan(a) ? a : isNan(b) ? b : c));
    return;
  }
  RC_ASSERT(between(a, b) == between(b, a));
  RC_ASSERT(*between(a, c) <= *between(a, b) + *between(b, c));
  RC_ASSERT((*between(a, b) == 0) == (std::bit_cast<float>(a) == std::bit_cast<float>(b)));
  RC_ASSERT((std::bit_cast<float>(a) < std::bit_cast<float>(b)) ==
            (*ordinal(Format::Float32, a) < *ordinal(Format::Float32, b)));
}

TEST(FloatFormat, UlpErrorOfSpecialValues) {
  EXPECT_TRUE(std::isnan(ulpError(Format::Float32, kNan, 1.0)));
  EXPECT_TRUE(std::isnan(ulpError(Format::Float32, 1.0, kInf)));
  EXPECT_EQ(ulpError(Format::Float16, kInf, 65504.0), 1.0);
  EXPECT_EQ(ulpError(Format::Float16, -kInf, -65504.0), -1.0);
  EXPECT_EQ(ulpError(Format::BFloat16, 1.0, 1.0 + 0x1p-9), -0.25);  // truth is not of the format
  // One below a power of two is half an ulp of the binade above.
  EXPECT_EQ(ulpError(Format::BFloat16, 1.0 - 0x1p-8, 1.0), -0.5);
}

TEST(FloatFormat, NamesReadBack) {
  for (std::size_t i = 0; i < kFormatCount; ++i) {
    const auto format = static_cast<Format>(i);
    EXPECT_EQ(parseFormat(name(format)), format);
  }
  EXPECT_FALSE(parseFormat("fp12"));
  EXPECT_EQ(formatOf(DType::BFloat16), Format::BFloat16);
  EXPECT_EQ(formatOf(DType::Complex64), Format::Float32);
  EXPECT_FALSE(formatOf(DType::Int32));
  EXPECT_FALSE(formatOf(DType::Float4E2M1FNx2));
}

}  // namespace
}  // namespace neuroncheck::numerics
