// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dtype.h"

namespace neuroncheck::numerics {

/// Binary floating-point formats a Trainium engine reads, writes or accumulates in. TFloat32 is
/// stored in 32 bits whose low 13 are zero. E4M3 and E3M4 are the IEEE-like forms (an exponent of
/// all ones is infinity or NaN); the `FN` and `FNUZ` forms are those of torch's dtypes.
enum class Format : std::uint8_t {
  Float64,
  Float32,
  TFloat32,
  BFloat16,
  Float16,
  E5M2,
  E4M3FN,
  E4M3,
  E3M4,
  E5M2FNUZ,
  E4M3FNUZ,
  E8M0,
};
inline constexpr std::size_t kFormatCount = static_cast<std::size_t>(Format::E8M0) + 1;

/// How a format writes what is not a finite number.
enum class Specials : std::uint8_t {
  Ieee,          ///< all-ones exponent: infinity (zero fraction) or NaN
  FiniteNan,     ///< "fn": no infinity, only the pattern of all ones is NaN
  UnsignedZero,  ///< "fnuz": no infinity, no negative zero; the pattern of -0 is NaN
  ExponentOnly,  ///< e8m0: no sign, zero or infinity; 0xff is NaN
};

/// The parameters of a format. Sources: IEEE 754-2019 3.4; OCP 8-bit Floating Point Specification
/// 1.0 (e4m3fn, e5m2) and MX 1.0 (e8m0); torch/headeronly/util/Float8_*.h of torch 2.13 (fnuz).
struct FormatTraits {
  std::string_view name;
  int significandBits = 0;  ///< p, with the hidden bit
  int exponentBits = 0;
  int bias = 0;
  int storageBits = 0;
  int lowZeroBits = 0;  ///< storage bits below the significand (tf32: 13)
  Specials specials = Specials::Ieee;

  [[nodiscard]] bool isSigned() const { return specials != Specials::ExponentOnly; }
  [[nodiscard]] bool hasInfinity() const { return specials == Specials::Ieee; }
  /// Exponent of the smallest normal number: 1 - bias (-127 for e8m0, which has no subnormals).
  [[nodiscard]] int minExponent() const;
  /// floor(log2) of the largest finite number.
  [[nodiscard]] int maxExponent() const;
  [[nodiscard]] double maxFinite() const;
  [[nodiscard]] double minNormal() const;
  /// The smallest positive number (e8m0: its smallest).
  [[nodiscard]] double minSubnormal() const;
  /// u = 2^-p: the largest relative error of rounding a normal number to nearest.
  [[nodiscard]] double unitRoundoff() const;
  /// Largest pattern of a positive finite number, without the low zero bits.
  [[nodiscard]] std::uint64_t maxFinitePattern() const;
};

[[nodiscard]] const FormatTraits& traits(Format format);
[[nodiscard]] inline std::string_view name(Format format) { return traits(format).name; }
[[nodiscard]] std::optional<Format> parseFormat(std::string_view text);
/// The format of a floating-point or complex dtype's real component; nullopt for the others and for
/// packed float4.
[[nodiscard]] std::optional<Format> formatOf(DType dtype);

enum class Rounding : std::uint8_t {
  NearestEven,
  TowardZero,
  /// Up with the probability of the fraction cut off, decided by 64 random bits.
  Stochastic,
};
/// What a value beyond the largest finite one becomes.
enum class Overflow : std::uint8_t {
  Default,   ///< infinity, or NaN where the format has none; rounding toward zero: the largest
             ///< finite number
  Saturate,  ///< the largest finite number, infinities too
};

/// The value of a bit pattern, exact. Patterns are right-aligned; bits above the storage are
/// ignored.
[[nodiscard]] double decode(Format format, std::uint64_t pattern);
/// Rounds to the format. NaN becomes the format's quiet NaN with the sign kept where it has one;
/// a negative value in e8m0 is NaN, zero its smallest number, as torch converts it.
/// `randomBits` is used by Stochastic only.
[[nodiscard]] std::uint64_t encode(Format format, double value,
                                   Rounding rounding = Rounding::NearestEven,
                                   Overflow overflow = Overflow::Default,
                                   std::uint64_t randomBits = 0);
/// decode(encode(value)): the nearest number of the format.
[[nodiscard]] double roundTo(Format format, double value, Rounding rounding = Rounding::NearestEven,
                             Overflow overflow = Overflow::Default, std::uint64_t randomBits = 0);

/// Distance of neighbouring numbers of the format at `value`: 2^(max(floor(log2|value|), emin) -
/// (p-1)). At a power of two it is the distance above (Muller's and Goldberg's definitions differ
/// there), so the neighbour below is half of it away. Zero and subnormals have the fixed step of
/// the format. Infinite for a value that is not finite.
[[nodiscard]] double ulp(Format format, double value);
/// Signed (actual - truth) / ulp(truth), in units that may be fractions; an infinite `actual`
/// counts as +-2^(emax+1). NaN when either is NaN or `truth` is infinite.
[[nodiscard]] double ulpError(Format format, double actual, double truth);

/// An integer that orders the patterns of finite and infinite numbers as their values; -0 and +0
/// are both 0. nullopt for NaN.
[[nodiscard]] std::optional<std::int64_t> ordinal(Format format, std::uint64_t pattern);
/// |ordinal(a) - ordinal(b)|: how many numbers of the format lie between the two, plus one.
[[nodiscard]] std::optional<std::uint64_t> ulpDistance(Format format, std::uint64_t a,
                                                       std::uint64_t b);

}  // namespace neuroncheck::numerics
