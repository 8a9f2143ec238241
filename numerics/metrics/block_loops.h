// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "numerics/format/float_format.h"
#include "numerics/metrics/metrics.h"

/// The loops over one block of values, each of them vector code. All arrays have `n` elements, at
/// most kBlock, and hold finite values unless said otherwise.
namespace neuroncheck::numerics::detail {

/// Elements of one turn: all their runs stay in the first cache.
inline constexpr std::size_t kBlock = 512;

/// Sums are of at most kBlock terms, so their order does not matter beyond the last bit of a
/// double. Not finite where a value is not (or a sum overflows): that is how such a block is told.
struct ErrorSums {
  double squaredError = 0, squaredTruth = 0, squaredActual = 0, product = 0, signedError = 0,
         absoluteError = 0, absoluteTruth = 0, squaredRounding = 0, maxAbs = 0;
};
[[nodiscard]] ErrorSums errorSums(std::size_t n, const double* actual, const double* truth,
                                  const double* rounded);

struct RatioSums {
  double signedRatio = 0, outwardRatio = 0;
  double maxRatio = 0;   ///< above 1 exactly where an element is beyond its bound
  double leastRoom = 0;  ///< below 0 where a bound is useless; not above 0 where a truth is zero
};
/// `ratio` is where each |D - H| / B_exp goes.
[[nodiscard]] RatioSums ratioSums(std::size_t n, const double* actual, const double* truth,
                                  const double* expected, double uselessShare, double* ratio);

/// What there rarely is any of, so that it is only counted where another loop saw a sign of it.
struct RareCounts {
  std::int64_t useless = 0, signDiffers = 0, beyondMaximal = 0, zeroTruth = 0, saturated = 0,
               zeroSignDiffers = 0;
};
[[nodiscard]] RareCounts rareCounts(std::size_t n, const MetricsBlock& block, double uselessShare,
                                    double largest);

/// The largest relative errors that were seen, which a block has to beat.
struct RelativeLimits {
  double relative = 0, needed = 0;
};
struct ScaledExtremes {
  double maxUlp = 0;
  /// Positive where an element may beat RelativeLimits::relative; the same for `needed` with atol
  /// not yet taken off. Neither needs a division.
  double overRelative = 0, overNeeded = 0;
  double truthMin = 0, truthMax = 0, actualMin = 0, actualMax = 0;
  double smallest = 0;  ///< of |D| and |H rounded|
  /// Numbers of the format between D and H rounded, where none is smaller than a normal number and
  /// all signs agree.
  double distance = 0;
  bool signsAgree = true;
};
/// For formats narrower than fp64.
[[nodiscard]] ScaledExtremes scaledExtremes(std::size_t n, const double* actual,
                                            const double* truth, const double* rounded,
                                            const FormatTraits& format,
                                            const RelativeLimits& limits);
/// The same for fp64, whose steps leave the range of the arithmetic above.
[[nodiscard]] ScaledExtremes scaledExtremesWide(std::size_t n, const double* actual,
                                                const double* truth, const double* rounded,
                                                const FormatTraits& format,
                                                const RelativeLimits& limits);

struct RelativeMaxima {
  double relative = 0, needed = 0;
};
[[nodiscard]] RelativeMaxima relativeMaxima(std::size_t n, const double* actual,
                                            const double* truth, double atol);

/// Largest distance in numbers of the format, whatever the signs and sizes.
[[nodiscard]] double maxDistance(std::size_t n, const double* actual, const double* rounded,
                                 const FormatTraits& format);

struct EqualSums {
  double squared = 0, absolute = 0, smallest = 0, min = 0, max = 0;
};
/// What there is to know of values that are bit for bit those of the truth; `absolute` is not
/// finite where a value is not.
[[nodiscard]] EqualSums equalSums(std::size_t n, const double* values);

/// Elements that are not finite in one of the three; any values.
[[nodiscard]] std::int64_t unusualCount(std::size_t n, const double* actual, const double* truth,
                                        const double* rounded);

/// Small codes of the elements of a block, to be counted value by value.
using Codes = std::array<std::uint8_t, kBlock>;
/// The bins of RatioHistogram; codes beyond `n` are 255.
void ratioBins(std::size_t n, const double* ratios, Codes& codes);
/// kValueClassCount values of finite numbers are 4: 4 * class of `rounded` + class of `actual`.
void classCodes(std::size_t n, const double* rounded, const double* actual, double leastNormal,
                Codes& codes);
[[nodiscard]] std::int64_t countCode(const Codes& codes, std::uint8_t code);

/// 2^floor(log2 size) of a normal number, 0 for zero and subnormals.
[[nodiscard]] inline double binadeOf(double size) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & 0x7ff0000000000000ULL);
}

}  // namespace neuroncheck::numerics::detail
