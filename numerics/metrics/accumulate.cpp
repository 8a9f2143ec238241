// SPDX-License-Identifier: Apache-2.0
// The pass itself: blocks of finite values go through vector loops, what is rare is looked at
// singly.
#include <algorithm>
#include <bit>
#include <cmath>

#include "numerics/format/round_run.h"
#include "numerics/format/vector_clones.h"
#include "numerics/metrics/metrics.h"

namespace neuroncheck::numerics {
namespace {

double binadeOf(double size) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & 0x7ff0000000000000ULL);
}

bool finite(double value) { return value - value == 0; }

/// Elements of one turn of the vector loops: all their runs stay in the first cache.
constexpr std::size_t kBlock = 512;

}  // namespace

MetricsAccumulator::MetricsAccumulator(Format format, SpecialPolicy policy,
                                       std::vector<std::int64_t> sizes,
                                       std::optional<AllcloseTolerance> allclose)
    : format_(traits(format)),
      policy_(policy),
      allclose_(allclose),
      defaultAtol_(assertCloseDefaults(format).atol),
      uselessShare_(std::max(0.125, 2 * format_.unitRoundoff())),
      overflowAt_(format_.maxFinite() + ulp(format, format_.maxFinite()) / 2),
      metrics_(std::move(sizes)) {}

Fault MetricsAccumulator::judge(double actual, double truth, double rounded,
                                double expected) const {
  if (std::isnan(truth)) {
    return std::isnan(actual) || policy_.relaxedNan ? Fault::None : Fault::NanLost;
  }
  const bool overflows = !std::isfinite(rounded);
  if (std::isnan(actual)) {
    return std::isnan(rounded) ? Fault::None : Fault::NanAppeared;
  }
  const bool sameSign = std::signbit(actual) == std::signbit(truth);
  if (std::isinf(actual)) {
    if (overflows) {
      return sameSign ? Fault::None : Fault::InfLost;
    }
    // Rounding that is legal may pass the threshold where H itself does not.
    return sameSign && std::abs(truth) + expected >= overflowAt_ ? Fault::None : Fault::InfAppeared;
  }
  const double error = std::abs(actual - truth);
  if (overflows) {
    if (std::isfinite(truth) && error <= expected) {
      return Fault::None;
    }
    return sameSign && std::abs(actual) == format_.maxFinite() ? Fault::InfSaturated
                                                               : Fault::InfLost;
  }
  if (error > expected) {
    return Fault::BeyondExpected;
  }
  const bool zeroes = rounded == 0 && actual == 0;
  return policy_.zeroSignMatters && zeroes && std::signbit(rounded) != std::signbit(actual)
             ? Fault::ZeroSign
             : Fault::None;
}

// The loops over a block of finite values. Sums are of at most kBlock terms, so their order does
// not matter beyond the last bit of a double; the clones let one program use what the machine has.

namespace {

struct ErrorSums {
  double squaredError = 0, squaredTruth = 0, squaredActual = 0, product = 0, signedError = 0,
         absoluteError = 0, absoluteTruth = 0, squaredRounding = 0, maxAbs = 0;
};

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

struct RatioSums {
  double signedRatio = 0, outwardRatio = 0, maxRatio = 0, beyond = 0, useless = 0, signDiffers = 0,
         beyondMaximal = 0;
};

/// `ratio` is where each |D - H| / B_exp goes.
NEURONCHECK_CLONES
RatioSums ratioSums(std::size_t n, const MetricsBlock& block, double uselessShare, double* ratio) {
  const double* actual = block.actual.data();
  const double* truth = block.truth.data();
  const double* expected = block.expected.data();
  const double* maximal = block.maximal.data();
  double signedRatio = 0, outwardRatio = 0, maxRatio = 0, beyond = 0, useless = 0, signDiffers = 0,
         beyondMaximal = 0;
#pragma omp simd reduction(+ : signedRatio, outwardRatio, beyond, useless, signDiffers, \
                               beyondMaximal) reduction(max : maxRatio)
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
    maxRatio = maxRatio > r ? maxRatio : r;
    beyond += size > expected[i] ? 1 : 0;
    beyondMaximal += size > maximal[i] ? 1 : 0;
    // Without short cuts, which would be branches.
    useless += (h != 0) & (expected[i] > uselessShare * std::abs(h)) ? 1.0 : 0.0;
    signDiffers += (h * actual[i] < 0) & (std::abs(h) > expected[i]) ? 1.0 : 0.0;
  }
  return {signedRatio, outwardRatio, maxRatio, beyond, useless, signDiffers, beyondMaximal};
}

/// 1 / 2^e of a power of two between 2^-1022 and 2^1022, without a division.
double reciprocalOfPower(double power) {
  return std::bit_cast<double>(0x7fe0000000000000ULL - std::bit_cast<std::uint64_t>(power));
}

struct ScaledSums {
  double maxUlp = 0, maxRel = 0, maxNeeded = 0, zeroTruth = 0, saturated = 0, small = 0;
  double truthMin = 0, truthMax = 0, actualMin = 0, actualMax = 0;
};

NEURONCHECK_CLONES
ScaledSums scaledSums(std::size_t n, const MetricsBlock& block, const FormatTraits& format,
                      double atol) {
  const double* actual = block.actual.data();
  const double* truth = block.truth.data();
  const double* rounded = block.rounded.data();
  const double least = format.minNormal();
  const double largest = format.maxFinite();
  const double step = 2 * format.unitRoundoff();
  const double perStep = 1 / step;
  const bool wide = format.significandBits == 53;
  double maxUlp = 0, maxRel = 0, maxNeeded = 0, zeroTruth = 0, saturated = 0, small = 0;
  double truthMin = rounded[0], truthMax = rounded[0], actualMin = actual[0], actualMax = actual[0];
#pragma omp simd reduction(+ : zeroTruth, saturated, small) reduction( \
        max : maxUlp, maxRel, maxNeeded, truthMax, actualMax) reduction(min : truthMin, actualMin)
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::abs(truth[i]);
    const double a = actual[i];
    const double r = rounded[i];
    const double size = std::abs(a - truth[i]);
    const double binade = binadeOf(h);
    // The step is a power of two: dividing by it is multiplying by its reciprocal, exactly.
    const double unit = binade > least ? binade : least;
    const double ulps = wide ? size / (unit * step) : size * reciprocalOfPower(unit) * perStep;
    const double perTruth = h > 0 ? 1 / h : 0;
    const double relative = size * perTruth;
    const double needed = (size - atol) * perTruth;
    maxUlp = maxUlp > ulps ? maxUlp : ulps;
    maxRel = maxRel > relative ? maxRel : relative;
    maxNeeded = maxNeeded > needed ? maxNeeded : needed;
    zeroTruth += h == 0 ? 1 : 0;
    saturated += std::abs(r) >= largest ? 1 : 0;
    small += (std::abs(r) < least) | (std::abs(a) < least) ? 1.0 : 0.0;
    truthMin = truthMin < r ? truthMin : r;
    truthMax = truthMax > r ? truthMax : r;
    actualMin = actualMin < a ? actualMin : a;
    actualMax = actualMax > a ? actualMax : a;
  }
  return {maxUlp, maxRel,   maxNeeded, zeroTruth, saturated,
          small,  truthMin, truthMax,  actualMin, actualMax};
}

/// An integer below 2^52 as a double, by no instruction that only some have.
double smallWhole(std::uint64_t value) {
  return std::bit_cast<double>(value | 0x4330000000000000ULL) - 0x1p52;
}

NEURONCHECK_CLONES
double maxDistance(std::size_t n, const double* actual, const double* rounded,
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

double maxDistanceWide(std::size_t n, const double* actual, const double* rounded,
                       const FormatTraits& format) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest =
        std::max(largest, std::abs(ordinalOf(format, actual[i]) - ordinalOf(format, rounded[i])));
  }
  return largest;
}

struct EqualSums {
  double squared = 0, absolute = 0, unusual = 0, small = 0, saturated = 0, min = 0, max = 0;
};

/// What there is to know of values that are bit for bit those of the truth.
NEURONCHECK_CLONES
EqualSums equalSums(std::size_t n, const double* values, const FormatTraits& format) {
  const double least = format.minNormal();
  const double most = format.maxFinite();
  double squared = 0, absolute = 0, unusual = 0, small = 0, saturated = 0;
  double min = values[0], max = values[0];
#pragma omp simd reduction(+ : squared, absolute, unusual, small, saturated) reduction(min : min) \
    reduction(max : max)
  for (std::size_t i = 0; i < n; ++i) {
    const double v = values[i];
    const double size = std::abs(v);
    squared += v * v;
    absolute += size;
    unusual += v - v == 0 ? 0.0 : 1.0;
    small += size < least ? 1.0 : 0.0;
    saturated += size >= most ? 1.0 : 0.0;
    min = min < v ? min : v;
    max = max > v ? max : v;
  }
  return {squared, absolute, unusual, small, saturated, min, max};
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

MetricsBlock part(const MetricsBlock& block, std::size_t from, std::size_t count) {
  const auto cut = [&](std::span<const double> all) {
    return all.empty() ? all : all.subspan(from, count);
  };
  return {block.first + static_cast<std::int64_t>(from),
          cut(block.actual),
          cut(block.truth),
          cut(block.rounded),
          cut(block.expected),
          cut(block.maximal),
          cut(block.emulated),
          cut(block.unstable)};
}

/// Offers the largest value of a run to `best`; the place is looked for only when it wins.
template <typename ValueAt>
bool offerLargest(Extreme& best, double largest, const MetricsBlock& block,
                  const ValueAt& valueAt) {
  if (best.index >= 0 && largest <= best.value &&
      (largest < best.value || block.first > best.index)) {
    return false;
  }
  for (std::size_t i = 0; i < block.actual.size(); ++i) {
    if (valueAt(i) == largest) {
      best.offer(largest, block.first + static_cast<std::int64_t>(i));
      return best.index == block.first + static_cast<std::int64_t>(i);
    }
  }
  return false;
}

}  // namespace

void MetricsAccumulator::addEqual(std::int64_t first, std::span<const double> values) {
  for (std::size_t from = 0; from < values.size(); from += kBlock) {
    const auto piece = values.subspan(from, std::min(kBlock, values.size() - from));
    const std::size_t n = piece.size();
    const EqualSums sums = equalSums(n, piece.data(), format_);
    if (sums.unusual != 0 || sums.small != 0) {
      const std::vector<double> none(n, 0.0);
      add({first + static_cast<std::int64_t>(from), piece, piece, piece, none, none, {}, {}});
      continue;
    }
    Metrics& m = metrics_;
    const std::int64_t index = first + static_cast<std::int64_t>(from);
    for (Extreme* extreme :
         {&m.maxAbs, &m.maxRel, &m.maxUlp, &m.maxUlpDistance, &m.maxRatio, &m.neededRtol}) {
      extreme->offer(0, index);
    }
    m.count += static_cast<std::int64_t>(n);
    m.finitePairs += static_cast<std::int64_t>(n);
    m.ratios.addZeros(static_cast<std::int64_t>(n));
    m.squaredTruth.add(sums.squared);
    m.squaredActual.add(sums.squared);
    m.product.add(sums.squared);
    m.absoluteTruth.add(sums.absolute);
    m.classes.add(ValueClass::Normal, ValueClass::Normal, static_cast<std::int64_t>(n));
    m.saturatedTruth += static_cast<std::int64_t>(sums.saturated);
    m.truthMin = std::min(m.truthMin, sums.min);
    m.truthMax = std::max(m.truthMax, sums.max);
    m.actualMin = m.truthMin;
    m.actualMax = m.truthMax;
  }
}

void MetricsAccumulator::add(const MetricsBlock& block) {
  for (std::size_t from = 0; from < block.actual.size(); from += kBlock) {
    const MetricsBlock piece = part(block, from, std::min(kBlock, block.actual.size() - from));
    const std::size_t n = piece.actual.size();
    metrics_.count += static_cast<std::int64_t>(n);
    if (unusualCount(n, piece.actual.data(), piece.truth.data(), piece.rounded.data()) == 0) {
      addFinite(piece);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        addOne(part(piece, i, 1));
      }
    }
  }
}

/// One element that may be anything: only finite pairs enter the sums.
void MetricsAccumulator::addOne(const MetricsBlock& one) {
  const double actual = one.actual[0];
  const double truth = one.truth[0];
  const double rounded = one.rounded[0];
  if (finite(actual) && finite(truth) && finite(rounded)) {
    addFinite(one);
    return;
  }
  metrics_.classes.add(classify(format_, rounded), classify(format_, actual));
  metrics_.saturatedTruth += std::isinf(rounded) ? 1 : 0;
  if (finite(actual)) {
    metrics_.actualMin = std::min(metrics_.actualMin, actual);
    metrics_.actualMax = std::max(metrics_.actualMax, actual);
  }
  if (allclose_ && !(actual == truth)) {
    ++metrics_.allcloseFailures;
  }
  if (judge(actual, truth, rounded, one.expected[0]) != Fault::None) {
    addFault(one, 0, std::numeric_limits<double>::infinity());
  }
}

void MetricsAccumulator::addFinite(const MetricsBlock& block) {
  const std::size_t n = block.actual.size();
  std::array<double, kBlock>
      ratio;  // NOLINT(cppcoreguidelines-pro-type-member-init): written below
  const ErrorSums errors =
      errorSums(n, block.actual.data(), block.truth.data(), block.rounded.data());
  const RatioSums ratios = ratioSums(n, block, uselessShare_, ratio.data());
  const ScaledSums scaled = scaledSums(n, block, format_, defaultAtol_);
  const bool narrow = format_.significandBits < 53;
  const double distance = (narrow ? maxDistance : maxDistanceWide)(n, block.actual.data(),
                                                                   block.rounded.data(), format_);

  Metrics& m = metrics_;
  m.finitePairs += static_cast<std::int64_t>(n);
  m.squaredError.add(errors.squaredError);
  m.squaredTruth.add(errors.squaredTruth);
  m.squaredActual.add(errors.squaredActual);
  m.product.add(errors.product);
  m.signedError.add(errors.signedError);
  m.absoluteError.add(errors.absoluteError);
  m.absoluteTruth.add(errors.absoluteTruth);
  m.squaredRounding.add(errors.squaredRounding);
  m.signedRatio.add(ratios.signedRatio);
  m.outwardRatio.add(ratios.outwardRatio);
  m.signDiffers += static_cast<std::int64_t>(ratios.signDiffers);
  m.uselessBounds += static_cast<std::int64_t>(ratios.useless);
  m.beyondMaximal += static_cast<std::int64_t>(ratios.beyondMaximal);
  m.relUndefined += static_cast<std::int64_t>(scaled.zeroTruth);
  m.saturatedTruth += static_cast<std::int64_t>(scaled.saturated);
  m.truthMin = std::min(m.truthMin, scaled.truthMin);
  m.truthMax = std::max(m.truthMax, scaled.truthMax);
  m.actualMin = std::min(m.actualMin, scaled.actualMin);
  m.actualMax = std::max(m.actualMax, scaled.actualMax);
  m.ratios.add(std::span<const double>(ratio.data(), n));

  const auto error = [&](std::size_t i) { return std::abs(block.actual[i] - block.truth[i]); };
  const auto size = [&](std::size_t i) { return std::abs(block.truth[i]); };
  offerLargest(m.maxAbs, errors.maxAbs, block, error);
  offerLargest(m.maxRatio, ratios.maxRatio, block, [&](std::size_t i) { return ratio.at(i); });
  offerLargest(m.maxRel, scaled.maxRel, block,
               [&](std::size_t i) { return size(i) > 0 ? error(i) * (1 / size(i)) : 0; });
  offerLargest(m.neededRtol, scaled.maxNeeded, block, [&](std::size_t i) {
    return size(i) > 0 ? std::max((error(i) - defaultAtol_) * (1 / size(i)), 0.0) : 0;
  });
  const auto ulps = [&](std::size_t i) {
    const double step = 2 * format_.unitRoundoff();
    return error(i) / (std::max(binadeOf(size(i)), format_.minNormal()) * step);
  };
  if (offerLargest(m.maxUlp, scaled.maxUlp, block, ulps)) {
    const auto at = static_cast<std::size_t>(m.maxUlp.index - block.first);
    m.maxUlpSigned = std::copysign(m.maxUlp.value, block.actual[at] - block.truth[at]);
  }
  offerLargest(m.maxUlpDistance, distance, block, [&](std::size_t i) {
    return std::abs(ordinalOf(format_, block.actual[i]) - ordinalOf(format_, block.rounded[i]));
  });
  addClasses(block, scaled.small != 0);
  addOptional(block);
  if (ratios.beyond != 0 || scaled.small != 0) {
    for (std::size_t i = 0; i < n; ++i) {
      if (judge(block.actual[i], block.truth[i], block.rounded[i], block.expected[i]) !=
          Fault::None) {
        addFault(block, i, ratio.at(i));
      }
    }
  }
}

void MetricsAccumulator::addClasses(const MetricsBlock& block, bool anySmall) {
  if (!anySmall) {
    metrics_.classes.add(ValueClass::Normal, ValueClass::Normal, std::ssize(block.actual));
    return;
  }
  for (std::size_t i = 0; i < block.actual.size(); ++i) {
    metrics_.classes.add(classify(format_, block.rounded[i]), classify(format_, block.actual[i]));
    metrics_.zeroSignDiffers +=
        block.rounded[i] == 0 && block.actual[i] == 0 &&
                std::signbit(block.rounded[i]) != std::signbit(block.actual[i])
            ? 1
            : 0;
  }
}

void MetricsAccumulator::addOptional(const MetricsBlock& block) {
  if (!block.emulated.empty()) {
    metrics_.hasEmulated = true;
    double sum = 0;
    for (std::size_t i = 0; i < block.truth.size(); ++i) {
      const double d = block.emulated[i] - block.truth[i];
      sum += finite(d) ? d * d : 0;
    }
    metrics_.squaredEmulated.add(sum);
  }
  for (std::size_t i = 0; i < block.unstable.size(); ++i) {
    const double error = std::abs(block.actual[i] - block.truth[i]);
    metrics_.beyondUnstable += error > block.unstable[i] ? 1 : 0;
  }
  if (allclose_) {
    for (std::size_t i = 0; i < block.truth.size(); ++i) {
      metrics_.allcloseFailures +=
          std::abs(block.actual[i] - block.truth[i]) >
                  allclose_->atol + allclose_->rtol * std::abs(block.truth[i])
              ? 1
              : 0;
    }
  }
}

void MetricsAccumulator::addFault(const MetricsBlock& block, std::size_t i, double ratio) {
  const double actual = block.actual[i];
  const Fault fault = judge(actual, block.truth[i], block.rounded[i], block.expected[i]);
  ++metrics_.faults.at(static_cast<std::size_t>(fault));
  const bool special = fault != Fault::BeyondExpected;
  metrics_.beyondMaximal += special ? 1 : 0;
  metrics_.beyondUnstable += special && !block.unstable.empty() ? 1 : 0;
  const std::int64_t index = block.first + static_cast<std::int64_t>(i);
  metrics_.pattern.add(index, actual);
  metrics_.keep({index, fault, actual, block.truth[i], block.expected[i], block.maximal[i],
                 special ? std::numeric_limits<double>::infinity() : ratio});
}

}  // namespace neuroncheck::numerics
