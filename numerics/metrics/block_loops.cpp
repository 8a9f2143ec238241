// SPDX-License-Identifier: Apache-2.0
// The clones let one program use what the machine has. Reductions keep their lanes: which values a
// sum adds in which order is part of its result.
#include "numerics/metrics/block_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "numerics/format/round_run.h"
#include "numerics/format/vector_clones.h"

namespace neuroncheck::numerics::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 1 / 2^e of a power of two between 2^-1022 and 2^1022, without a division.
double reciprocalOfPower(double power) {
  return std::bit_cast<double>(0x7fe0000000000000ULL - std::bit_cast<std::uint64_t>(power));
}

/// An integer below 2^52 as a double, by no instruction that only some have.
double smallWhole(std::uint64_t value) {
  return std::bit_cast<double>(value | 0x4330000000000000ULL) - 0x1p52;
}

}  // namespace

NEURONCHECK_CLONES
ErrorSums errorSums(std::size_t n, const double* actual, const double* truth,
                    const double* rounded) {
  double squaredError = 0, squaredTruth = 0, squaredActual = 0, product = 0, signedError = 0,
         absoluteError = 0, absoluteTruth = 0, squaredRounding = 0, maxAbs = 0;
#pragma omp simd reduction(+ : squaredError, squaredTruth, squaredActual, product, signedError, \
                               absoluteError, absoluteTruth, squaredRounding)                   \
    reduction(max : maxAbs)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = truth[i];
    const double a = actual[i];
    const double d = a - h;
    const double r = rounded[i] - h;
    const double size = std::abs(d);
    squaredError += d * d;
    squaredTruth += h * h;
    squaredActual += a * a;
    product += h * a;
    signedError += d;
    absoluteError += size;
    absoluteTruth += std::abs(h);
    squaredRounding += r * r;
    maxAbs = maxAbs > size ? maxAbs : size;
  }
  return {squaredError,  squaredTruth,  squaredActual,   product, signedError,
          absoluteError, absoluteTruth, squaredRounding, maxAbs};
}

NEURONCHECK_CLONES
RatioSums ratioSums(std::size_t n, const double* actual, const double* truth,
                    const double* expected, double uselessShare, double* ratio) {
  double signedRatio = 0, outwardRatio = 0, maxRatio = 0, leastRoom = kInfinity;
#pragma omp simd reduction(+ : signedRatio, outwardRatio) reduction(max : maxRatio) \
    reduction(min : leastRoom)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = truth[i];
    const double d = actual[i] - h;
    const double size = std::abs(d);
    const double r = size == 0 ? 0 : size / expected[i];
    ratio[i] = r;
    // An exact operator has no bound; one wrong element of it must not make the mean infinite.
    const double share = expected[i] > 0 ? std::copysign(r, d) : 0;
    signedRatio += share;
    outwardRatio += std::copysign(share, d * h);
    // The other way round a NaN, which a bound may be, would take the place of the maximum.
    maxRatio = r > maxRatio ? r : maxRatio;
    const double room = uselessShare * std::abs(h) - expected[i];
    leastRoom = room < leastRoom ? room : leastRoom;
  }
  return {signedRatio, outwardRatio, maxRatio, leastRoom};
}

NEURONCHECK_CLONES
RareCounts rareCounts(std::size_t n, const MetricsBlock& block, double uselessShare,
                      double largest) {
  const double* actual = block.actual.data();
  const double* truth = block.truth.data();
  const double* rounded = block.rounded.data();
  const double* expected = block.expected.data();
  const double* maximal = block.maximal.data();
  double useless = 0, signDiffers = 0, beyondMaximal = 0, zeroTruth = 0, saturated = 0,
         zeroSign = 0;
#pragma omp simd reduction(+ : useless, signDiffers, beyondMaximal, zeroTruth, saturated, zeroSign)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = truth[i];
    const double a = actual[i];
    const double r = rounded[i];
    beyondMaximal += std::abs(a - h) > maximal[i] ? 1.0 : 0.0;
    // Without short cuts, which would be branches.
    useless += (h != 0) & (expected[i] > uselessShare * std::abs(h)) ? 1.0 : 0.0;
    signDiffers += (h * a < 0) & (std::abs(h) > expected[i]) ? 1.0 : 0.0;
    zeroTruth += h == 0 ? 1.0 : 0.0;
    saturated += std::abs(r) >= largest ? 1.0 : 0.0;
    zeroSign += (r == 0) & (a == 0) & (std::copysign(1.0, r) != std::copysign(1.0, a)) ? 1.0 : 0.0;
  }
  const auto whole = [](double count) { return static_cast<std::int64_t>(count); };
  return {whole(useless),   whole(signDiffers), whole(beyondMaximal),
          whole(zeroTruth), whole(saturated),   whole(zeroSign)};
}

/// A step of the format is a power of two: dividing by it is multiplying by its reciprocal,
/// exactly.
NEURONCHECK_CLONES
ScaledExtremes scaledExtremes(std::size_t n, const double* actual, const double* truth,
                              const double* rounded, const FormatTraits& format,
                              const RelativeLimits& limits) {
  const double least = format.minNormal();
  const double relative = limits.relative;
  const double needed = limits.needed;
  double maxUlp = 0, overRelative = 0, overNeeded = 0, smallest = kInfinity, distance = 0;
  double truthMin = rounded[0], truthMax = rounded[0], actualMin = actual[0], actualMax = actual[0];
  std::uint64_t signs = 0;
#pragma omp simd reduction(| : signs) reduction(min : smallest, truthMin, actualMin) \
    reduction(max : maxUlp, overRelative, overNeeded, distance, truthMax, actualMax)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::abs(truth[i]);
    const double a = actual[i];
    const double r = rounded[i];
    const double size = std::abs(a - truth[i]);
    const double binade = binadeOf(h);
    const double unit = binade > least ? binade : least;
    const double ulps = size * reciprocalOfPower(unit);
    maxUlp = maxUlp > ulps ? maxUlp : ulps;
    const double more = size - relative * h;
    overRelative = overRelative > more ? overRelative : more;
    const double moreNeeded = size - needed * h;
    overNeeded = overNeeded > moreNeeded ? overNeeded : moreNeeded;
    truthMin = truthMin < r ? truthMin : r;
    truthMax = truthMax > r ? truthMax : r;
    actualMin = actualMin < a ? actualMin : a;
    actualMax = actualMax > a ? actualMax : a;
    const double aSize = std::abs(a);
    const double rSize = std::abs(r);
    const double high = aSize > rSize ? aSize : rSize;
    const double low = aSize < rSize ? aSize : rSize;
    smallest = smallest < low ? smallest : low;
    // Patterns of numbers of one sign are ordered as the numbers are; as doubles, so that there is
    // an instruction for the larger one everywhere.
    const auto apart = std::bit_cast<double>(std::bit_cast<std::uint64_t>(high) -
                                             std::bit_cast<std::uint64_t>(low));
    distance = distance > apart ? distance : apart;
    signs |= std::bit_cast<std::uint64_t>(a) ^ std::bit_cast<std::uint64_t>(r);
  }
  const int cut = 53 - format.significandBits;
  const auto steps = static_cast<double>(std::bit_cast<std::uint64_t>(distance) >> cut);
  return {maxUlp / (2 * format.unitRoundoff()),
          overRelative,
          overNeeded,
          truthMin,
          truthMax,
          actualMin,
          actualMax,
          smallest,
          steps,
          signs >> 63 == 0};
}

NEURONCHECK_CLONES
ScaledExtremes scaledExtremesWide(std::size_t n, const double* actual, const double* truth,
                                  const double* rounded, const FormatTraits& format,
                                  const RelativeLimits& limits) {
  const double least = format.minNormal();
  const double step = 2 * format.unitRoundoff();
  const double relative = limits.relative;
  const double needed = limits.needed;
  double maxUlp = 0, overRelative = 0, overNeeded = 0, smallest = kInfinity;
  double truthMin = rounded[0], truthMax = rounded[0], actualMin = actual[0], actualMax = actual[0];
#pragma omp simd reduction(min : smallest, truthMin, actualMin) \
    reduction(max : maxUlp, overRelative, overNeeded, truthMax, actualMax)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::abs(truth[i]);
    const double a = actual[i];
    const double r = rounded[i];
    const double size = std::abs(a - truth[i]);
    const double binade = binadeOf(h);
    const double ulps = size / ((binade > least ? binade : least) * step);
    maxUlp = maxUlp > ulps ? maxUlp : ulps;
    const double more = size - relative * h;
    overRelative = overRelative > more ? overRelative : more;
    const double moreNeeded = size - needed * h;
    overNeeded = overNeeded > moreNeeded ? overNeeded : moreNeeded;
    truthMin = truthMin < r ? truthMin : r;
    truthMax = truthMax > r ? truthMax : r;
    actualMin = actualMin < a ? actualMin : a;
    actualMax = actualMax > a ? actualMax : a;
    const double low = std::abs(a) < std::abs(r) ? std::abs(a) : std::abs(r);
    smallest = smallest < low ? smallest : low;
  }
  return {maxUlp,    overRelative, overNeeded, truthMin, truthMax,
          actualMin, actualMax,    smallest,   0,        false};
}

NEURONCHECK_CLONES
RelativeMaxima relativeMaxima(std::size_t n, const double* actual, const double* truth,
                              double atol) {
  double maxRel = 0, maxNeeded = 0;
#pragma omp simd reduction(max : maxRel, maxNeeded)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::abs(truth[i]);
    const double size = std::abs(actual[i] - truth[i]);
    const double perTruth = h > 0 ? 1 / h : 0;
    const double relative = size * perTruth;
    const double needed = (size - atol) * perTruth;
    maxRel = maxRel > relative ? maxRel : relative;
    maxNeeded = maxNeeded > needed ? maxNeeded : needed;
  }
  return {maxRel, maxNeeded};
}

namespace {

NEURONCHECK_CLONES
double maxDistanceNarrow(std::size_t n, const double* actual, const double* rounded,
                         const FormatTraits& format) {
  const double least = format.minNormal();
  const double leastSteps = least / format.minSubnormal();
  const double perStep = 1 / format.minSubnormal();
  const auto leastBits = std::bit_cast<std::uint64_t>(least);
  const int cut = 53 - format.significandBits;
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < n; ++i) {
    const double a = std::abs(actual[i]);
    const double r = std::abs(rounded[i]);
    const double aNormal =
        smallWhole((std::bit_cast<std::uint64_t>(a) - leastBits) >> cut) + leastSteps;
    const double rNormal =
        smallWhole((std::bit_cast<std::uint64_t>(r) - leastBits) >> cut) + leastSteps;
    const double aSteps = std::copysign(a >= least ? aNormal : a * perStep, actual[i]);
    const double rSteps = std::copysign(r >= least ? rNormal : r * perStep, rounded[i]);
    const double distance = std::abs(aSteps - rSteps);
    largest = largest > distance ? largest : distance;
  }
  return largest;
}

}  // namespace

double maxDistance(std::size_t n, const double* actual, const double* rounded,
                   const FormatTraits& format) {
  if (format.significandBits < 53) {
    return maxDistanceNarrow(n, actual, rounded, format);
  }
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest =
        std::max(largest, std::abs(ordinalOf(format, actual[i]) - ordinalOf(format, rounded[i])));
  }
  return largest;
}

NEURONCHECK_CLONES
EqualSums equalSums(std::size_t n, const double* values) {
  double squared = 0, absolute = 0, smallest = kInfinity;
  double min = values[0], max = values[0];
#pragma omp simd reduction(+ : squared, absolute) reduction(min : min, smallest) \
    reduction(max : max)
  for (std::size_t i = 0; i < n; ++i) {
    const double v = values[i];
    const double size = std::abs(v);
    squared += v * v;
    absolute += size;
    smallest = smallest < size ? smallest : size;
    min = min < v ? min : v;
    max = max > v ? max : v;
  }
  return {squared, absolute, smallest, min, max};
}

NEURONCHECK_CLONES
std::int64_t unusualCount(std::size_t n, const double* actual, const double* truth,
                          const double* rounded) {
  double unusual = 0;
#pragma omp simd reduction(+ : unusual)
  for (std::size_t i = 0; i < n; ++i) {
    const double zero = (actual[i] - actual[i]) + (truth[i] - truth[i]) + (rounded[i] - rounded[i]);
    unusual += zero == 0 ? 0 : 1;
  }
  return static_cast<std::int64_t>(unusual);
}

namespace {

/// In two loops: compilers narrow by one step at a time, or not in vectors at all.
NEURONCHECK_CLONES
void narrow(std::size_t n, const std::uint32_t* wide, std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint8_t>(wide[i]);
  }
}

NEURONCHECK_CLONES
void binsOf(std::size_t n, const double* ratios, std::uint32_t* bins) {
  constexpr std::int32_t kBottom = 1023 + RatioHistogram::kFirstExponent - 1;
  constexpr auto kTop = static_cast<std::int32_t>(RatioHistogram::kBins) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    // Ratios are never negative; zero and what is below the first bin have small exponents.
    const auto exponent = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(ratios[i]) >> 52);
    const std::int32_t above = exponent > kBottom ? exponent - kBottom : 0;
    bins[i] = static_cast<std::uint32_t>(above < kTop ? above : kTop);
  }
}

NEURONCHECK_CLONES
void classesOf(std::size_t n, const double* rounded, const double* actual, double leastNormal,
               std::uint32_t* codes) {
  const auto classOf = [leastNormal](double value) {
    const double size = std::abs(value);
    const double zero = std::copysign(1.0, value) < 0 ? 3 : 2;
    const double small = size == 0 ? zero : 1;
    return size < leastNormal ? small : 0;
  };
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<std::uint32_t>(
        static_cast<std::int32_t>(4 * classOf(rounded[i]) + classOf(actual[i])));
  }
}

/// Occurrences in each of 64 places of the eight rows of a block.
NEURONCHECK_CLONES
void countRows(const std::uint8_t* codes, std::uint8_t code, std::uint8_t* counts) {
  constexpr std::size_t kRow = 64;
  for (std::size_t j = 0; j < kRow; ++j) {
    std::uint8_t count = 0;
    for (std::size_t row = 0; row < kBlock / kRow; ++row) {
      count = static_cast<std::uint8_t>(count + (codes[row * kRow + j] == code ? 1 : 0));
    }
    counts[j] = count;
  }
}

}  // namespace

void ratioBins(std::size_t n, const double* ratios, Codes& codes) {
  std::array<std::uint32_t, kBlock> wide;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  binsOf(n, ratios, wide.data());
  narrow(n, wide.data(), codes.data());
  std::fill(codes.begin() + static_cast<std::ptrdiff_t>(n), codes.end(), std::uint8_t{255});
}

void classCodes(std::size_t n, const double* rounded, const double* actual, double leastNormal,
                Codes& codes) {
  std::array<std::uint32_t, kBlock> wide;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  classesOf(n, rounded, actual, leastNormal, wide.data());
  narrow(n, wide.data(), codes.data());
  std::fill(codes.begin() + static_cast<std::ptrdiff_t>(n), codes.end(), std::uint8_t{255});
}

std::int64_t countCode(const Codes& codes, std::uint8_t code) {
  std::array<std::uint8_t, 64> places;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  countRows(codes.data(), code, places.data());
  const auto words = std::bit_cast<std::array<std::uint64_t, 8>>(places);
  // Each byte is 8 at most, so the bytes of eight words add up without a carry.
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) {
    sum += word;
  }
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffULL;
  return static_cast<std::int64_t>(
      (((sum & kEven) + ((sum >> 8) & kEven)) * 0x0001000100010001ULL) >> 48);
}

}  // namespace neuroncheck::numerics::detail
