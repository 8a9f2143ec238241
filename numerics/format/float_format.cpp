// SPDX-License-Identifier: Apache-2.0
#include "numerics/format/float_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace neuroncheck::numerics {
namespace {

constexpr std::array<FormatTraits, kFormatCount> kTraits = {{
    {"fp64", 53, 11, 1023, 64, 0, Specials::Ieee},
    {"fp32", 24, 8, 127, 32, 0, Specials::Ieee},
    {"tf32", 11, 8, 127, 32, 13, Specials::Ieee},
    {"bf16", 8, 8, 127, 16, 0, Specials::Ieee},
    {"fp16", 11, 5, 15, 16, 0, Specials::Ieee},
    {"e5m2", 3, 5, 15, 8, 0, Specials::Ieee},
    {"e4m3fn", 4, 4, 7, 8, 0, Specials::FiniteNan},
    {"e4m3", 4, 4, 7, 8, 0, Specials::Ieee},
    {"e3m4", 5, 3, 3, 8, 0, Specials::Ieee},
    {"e5m2fnuz", 3, 5, 16, 8, 0, Specials::UnsignedZero},
    {"e4m3fnuz", 4, 4, 8, 8, 0, Specials::UnsignedZero},
    {"e8m0", 1, 8, 127, 8, 0, Specials::ExponentOnly},
}};

constexpr int kDoubleFractionBits = 52;
constexpr std::uint64_t kDoubleFractionMask = (std::uint64_t{1} << kDoubleFractionBits) - 1;

/// 2^exponent; the library function is many times slower, and some are asked for every element.
double powerOfTwo(int exponent) {
  return exponent >= -1022 && exponent <= 1023
             ? std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023)
                                     << kDoubleFractionBits)
             : std::ldexp(1.0, exponent);
}

struct Parts {
  bool negative = false;
  std::uint64_t magnitude = 0;  ///< exponent and fraction, without the low zero bits
};

Parts split(const FormatTraits& f, std::uint64_t pattern) {
  if (!f.isSigned()) {
    return {false, pattern & ((std::uint64_t{1} << f.storageBits) - 1)};
  }
  const std::uint64_t sign = std::uint64_t{1} << (f.storageBits - 1);
  return {(pattern & sign) != 0, (pattern & (sign - 1)) >> f.lowZeroBits};
}

std::uint64_t join(const FormatTraits& f, bool negative, std::uint64_t magnitude) {
  const std::uint64_t sign = negative && f.isSigned() ? std::uint64_t{1} << (f.storageBits - 1) : 0;
  return sign | (magnitude << f.lowZeroBits);
}

/// Exponent of all ones, fraction zero: where the IEEE forms leave the finite numbers.
std::uint64_t infinityMagnitude(const FormatTraits& f) {
  return ((std::uint64_t{1} << f.exponentBits) - 1) << (f.significandBits - 1);
}

std::uint64_t nanPattern(const FormatTraits& f, bool negative) {
  switch (f.specials) {
    case Specials::Ieee:
      return join(f, negative,
                  infinityMagnitude(f) | (std::uint64_t{1} << (f.significandBits - 2)));
    case Specials::FiniteNan:
      return join(f, negative, f.maxFinitePattern() + 1);
    case Specials::UnsignedZero:
      return std::uint64_t{1} << (f.storageBits - 1);
    case Specials::ExponentOnly:
      break;
  }
  return 0xff;
}

bool isNan(const FormatTraits& f, const Parts& parts) {
  switch (f.specials) {
    case Specials::Ieee:
      return parts.magnitude > infinityMagnitude(f);
    case Specials::UnsignedZero:
      return parts.negative && parts.magnitude == 0;
    case Specials::FiniteNan:
    case Specials::ExponentOnly:
      break;
  }
  return parts.magnitude > f.maxFinitePattern();
}

std::uint64_t overflowed(const FormatTraits& f, bool negative, Rounding rounding,
                         Overflow overflow) {
  if (overflow == Overflow::Saturate || rounding == Rounding::TowardZero) {
    return join(f, negative, f.maxFinitePattern());
  }
  return f.hasInfinity() ? join(f, negative, infinityMagnitude(f)) : nanPattern(f, negative);
}

/// significand / 2^shift as an integer, rounded; `shift` is at least 1.
std::uint64_t shiftRounded(std::uint64_t significand, int shift, Rounding rounding,
                           std::uint64_t randomBits) {
  const std::uint64_t whole = shift < 64 ? significand >> shift : 0;
  if (rounding == Rounding::TowardZero) {
    return whole;
  }
  // The part cut off as a 64-bit fraction; what lies below the fraction is kept as `below`.
  std::uint64_t fraction = 0;
  bool below = false;
  if (shift <= 64) {
    fraction = significand << (64 - shift);
  } else if (shift < 128) {
    fraction = significand >> (shift - 64);
    below = (significand & ((std::uint64_t{1} << (shift - 64)) - 1)) != 0;
  } else {
    below = significand != 0;
  }
  if (rounding == Rounding::Stochastic) {
    return whole + (randomBits < fraction ? 1 : 0);
  }
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  const bool up = fraction > kHalf || (fraction == kHalf && (below || (whole & 1) != 0));
  return whole + (up ? 1 : 0);
}

}  // namespace

int FormatTraits::minExponent() const {
  return specials == Specials::ExponentOnly ? -bias : 1 - bias;
}

int FormatTraits::maxExponent() const {
  const int top = (1 << exponentBits) - 1 - bias;
  return specials == Specials::Ieee || specials == Specials::ExponentOnly ? top - 1 : top;
}

double FormatTraits::maxFinite() const {
  const int missing = specials == Specials::FiniteNan ? 2 : 1;
  return std::ldexp(2.0 - std::ldexp(1.0, missing - significandBits), maxExponent());
}

double FormatTraits::minNormal() const { return powerOfTwo(minExponent()); }

double FormatTraits::minSubnormal() const {
  return powerOfTwo(minExponent() - (significandBits - 1));
}

double FormatTraits::unitRoundoff() const { return powerOfTwo(-significandBits); }

std::uint64_t FormatTraits::maxFinitePattern() const {
  const std::uint64_t ones = (std::uint64_t{1} << (exponentBits + significandBits - 1)) - 1;
  switch (specials) {
    case Specials::Ieee:
      return infinityMagnitude(*this) - 1;
    case Specials::UnsignedZero:
      return ones;
    case Specials::FiniteNan:
    case Specials::ExponentOnly:
      break;
  }
  return ones - 1;
}

const FormatTraits& traits(Format format) { return kTraits.at(static_cast<std::size_t>(format)); }

std::optional<Format> parseFormat(std::string_view text) {
  for (std::size_t i = 0; i < kFormatCount; ++i) {
    if (kTraits.at(i).name == text) {
      return static_cast<Format>(i);
    }
  }
  return std::nullopt;
}

std::optional<Format> formatOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
    case DType::Complex128:
      return Format::Float64;
    case DType::Float32:
    case DType::Complex64:
      return Format::Float32;
    case DType::Float16:
    case DType::Complex32:
      return Format::Float16;
    case DType::BFloat16:
      return Format::BFloat16;
    case DType::Float8E5M2:
      return Format::E5M2;
    case DType::Float8E4M3FN:
      return Format::E4M3FN;
    case DType::Float8E5M2FNUZ:
      return Format::E5M2FNUZ;
    case DType::Float8E4M3FNUZ:
      return Format::E4M3FNUZ;
    case DType::Float8E8M0FNU:
      return Format::E8M0;
    default:
      return std::nullopt;
  }
}

double decode(Format format, std::uint64_t pattern) {
  if (format == Format::Float64) {
    return std::bit_cast<double>(pattern);
  }
  const FormatTraits& f = traits(format);
  const Parts parts = split(f, pattern);
  if (isNan(f, parts)) {
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), parts.negative ? -1.0 : 1.0);
  }
  double value = 0;
  if (f.specials == Specials::ExponentOnly) {
    value = std::ldexp(1.0, static_cast<int>(parts.magnitude) - f.bias);
  } else if (f.hasInfinity() && parts.magnitude == infinityMagnitude(f)) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const int fractionBits = f.significandBits - 1;
    const auto exponent = static_cast<int>(parts.magnitude >> fractionBits);
    const std::uint64_t fraction = parts.magnitude & ((std::uint64_t{1} << fractionBits) - 1);
    const std::uint64_t hidden = exponent == 0 ? 0 : std::uint64_t{1} << fractionBits;
    value = static_cast<double>(fraction | hidden) *
            powerOfTwo(std::max(exponent, 1) - f.bias - fractionBits);
  }
  return parts.negative ? -value : value;
}

std::uint64_t encode(Format format, double value, Rounding rounding, Overflow overflow,
                     std::uint64_t randomBits) {
  if (format == Format::Float64 && !(std::isinf(value) && overflow == Overflow::Saturate)) {
    return std::bit_cast<std::uint64_t>(value);
  }
  const FormatTraits& f = traits(format);
  const bool negative = std::signbit(value);
  if (std::isnan(value) || (negative && value != 0 && !f.isSigned())) {
    return nanPattern(f, negative);
  }
  if (std::isinf(value)) {
    return overflowed(f, negative, Rounding::NearestEven, overflow);
  }
  if (value == 0) {
    return join(f, negative && f.specials != Specials::UnsignedZero, 0);
  }
  const auto pattern = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((pattern >> kDoubleFractionBits) & 0x7ff);
  const std::uint64_t significand =
      (pattern & kDoubleFractionMask) | (biased == 0 ? 0 : std::uint64_t{1} << kDoubleFractionBits);
  // value = significand * 2^lowest; its leading bit has the weight 2^leading.
  const int lowest = std::max(biased, 1) - 1023 - kDoubleFractionBits;
  const int leading = lowest + static_cast<int>(std::bit_width(significand)) - 1;
  const int exponent = std::max(leading, f.minExponent());
  const int shift = exponent - (f.significandBits - 1) - lowest;
  const std::uint64_t rounded =
      shift > 0 ? shiftRounded(significand, shift, rounding, randomBits) : significand << -shift;
  // With the hidden bit counted in `rounded`, a carry into the exponent needs no case of its own.
  const auto steps = static_cast<std::uint64_t>(exponent - f.minExponent());
  std::uint64_t magnitude = (steps << (f.significandBits - 1)) + rounded;
  if (f.specials == Specials::ExponentOnly) {
    magnitude = rounded == 0 ? 0 : magnitude - 1;
  }
  if (magnitude > f.maxFinitePattern()) {
    return overflowed(f, negative, rounding, overflow);
  }
  return join(f, negative && (magnitude != 0 || f.specials != Specials::UnsignedZero), magnitude);
}

double roundTo(Format format, double value, Rounding rounding, Overflow overflow,
               std::uint64_t randomBits) {
  return decode(format, encode(format, value, rounding, overflow, randomBits));
}

double ulp(Format format, double value) {
  if (!std::isfinite(value)) {
    return std::numeric_limits<double>::infinity();
  }
  const FormatTraits& f = traits(format);
  // Subnormal doubles and zero count as 2^-1023 here, which is below the least of every format.
  const auto biased =
      static_cast<int>((std::bit_cast<std::uint64_t>(value) >> kDoubleFractionBits) & 0x7ff);
  return powerOfTwo(std::max(biased - 1023, f.minExponent()) - (f.significandBits - 1));
}

double ulpError(Format format, double actual, double truth) {
  if (std::isnan(actual) || !std::isfinite(truth)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (std::isinf(actual)) {
    actual = std::copysign(std::ldexp(1.0, traits(format).maxExponent() + 1), actual);
  }
  return (actual - truth) / ulp(format, truth);
}

std::optional<std::int64_t> ordinal(Format format, std::uint64_t pattern) {
  const FormatTraits& f = traits(format);
  const Parts parts = split(f, pattern);
  if (isNan(f, parts)) {
    return std::nullopt;
  }
  const auto magnitude = static_cast<std::int64_t>(parts.magnitude);
  return parts.negative ? -magnitude : magnitude;
}

std::optional<std::uint64_t> ulpDistance(Format format, std::uint64_t a, std::uint64_t b) {
  const auto left = ordinal(format, a);
  const auto right = ordinal(format, b);
  if (!left || !right) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax(*left, *right);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

}  // namespace neuroncheck::numerics
