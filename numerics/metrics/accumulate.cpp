// SPDX-License-Identifier: Apache-2.0
// The pass itself: blocks of finite values go through vector loops, what is rare is looked at
// singly.
#include <algorithm>
#include <bit>
#include <cmath>

#include "numerics/format/round_run.h"
#include "numerics/metrics/block_loops.h"
#include "numerics/metrics/metrics.h"

namespace neuroncheck::numerics {
namespace {

using detail::kBlock;

bool finite(double value) { return value - value == 0; }

/// What an error relative to the truth has to be above, with room for the roundings of both ways to
/// work it out: a block that stays below cannot change the maximum. Nothing is below nothing.
constexpr double kSurelyBelow = 1 - 0x1p-48;

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

MetricsAccumulator::MetricsAccumulator(Format format, SpecialPolicy policy,
                                       std::vector<std::int64_t> sizes,
                                       std::optional<AllcloseTolerance> allclose)
    : format_(traits(format)),
      policy_(policy),
      allclose_(allclose),
      narrow_(format_.significandBits < 53),
      leastNormal_(format_.minNormal()),
      maxFinite_(format_.maxFinite()),
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
    return sameSign && std::abs(actual) == maxFinite_ ? Fault::InfSaturated : Fault::InfLost;
  }
  if (error > expected) {
    return Fault::BeyondExpected;
  }
  const bool zeroes = rounded == 0 && actual == 0;
  return policy_.zeroSignMatters && zeroes && std::signbit(rounded) != std::signbit(actual)
             ? Fault::ZeroSign
             : Fault::None;
}

void MetricsAccumulator::commit(const BlockSums& sums) {
  if (deferred_ != nullptr) {
    deferred_->push_back(sums);
  } else {
    metrics_.add(sums);
  }
}

void MetricsAccumulator::addEqual(std::int64_t first, std::span<const double> values) {
  for (std::size_t from = 0; from < values.size(); from += kBlock) {
    const auto piece = values.subspan(from, std::min(kBlock, values.size() - from));
    const std::size_t n = piece.size();
    const detail::EqualSums equal = detail::equalSums(n, piece.data());
    if (!finite(equal.absolute) || equal.smallest < leastNormal_) {
      const std::array<double, kBlock> zeros{};
      const std::span none(zeros.data(), n);
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
    m.classes.add(ValueClass::Normal, ValueClass::Normal, static_cast<std::int64_t>(n));
    if (std::max(equal.max, -equal.min) >= maxFinite_) {
      m.saturatedTruth +=
          std::ranges::count_if(piece, [&](double value) { return std::abs(value) >= maxFinite_; });
    }
    BlockSums sums;
    sums.squaredTruth = sums.squaredActual = sums.product = equal.squared;
    sums.absoluteTruth = equal.absolute;
    sums.truthMin = sums.actualMin = equal.min;
    sums.truthMax = sums.actualMax = equal.max;
    commit(sums);
  }
}

void MetricsAccumulator::add(const MetricsBlock& block) {
  for (std::size_t from = 0; from < block.actual.size(); from += kBlock) {
    const MetricsBlock piece = part(block, from, std::min(kBlock, block.actual.size() - from));
    const std::size_t n = piece.actual.size();
    const double* actual = piece.actual.data();
    const double* truth = piece.truth.data();
    const double* rounded = piece.rounded.data();
    metrics_.count += static_cast<std::int64_t>(n);
    const detail::ErrorSums errors = detail::errorSums(n, actual, truth, rounded);
    const bool sumsFinite = finite(errors.absoluteError) && finite(errors.absoluteTruth) &&
                            finite(errors.squaredRounding);
    if (sumsFinite || detail::unusualCount(n, actual, truth, rounded) == 0) {
      addFinite(piece, errors);
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {
      addOne(part(piece, i, 1));
    }
  }
}

/// One element that may be anything: only finite pairs enter the sums.
void MetricsAccumulator::addOne(const MetricsBlock& one) {
  const double actual = one.actual[0];
  const double truth = one.truth[0];
  const double rounded = one.rounded[0];
  if (finite(actual) && finite(truth) && finite(rounded)) {
    addFinite(one, detail::errorSums(1, &actual, &truth, &rounded));
    return;
  }
  metrics_.classes.add(classify(format_, rounded), classify(format_, actual));
  metrics_.saturatedTruth += std::isinf(rounded) ? 1 : 0;
  if (finite(actual)) {
    BlockSums sums;
    sums.actualMin = sums.actualMax = actual;
    commit(sums);
  }
  if (allclose_ && !(actual == truth)) {
    ++metrics_.allcloseFailures;
  }
  if (judge(actual, truth, rounded, one.expected[0]) != Fault::None) {
    addFault(one, 0, std::numeric_limits<double>::infinity());
  }
}

void MetricsAccumulator::addFinite(const MetricsBlock& block, const detail::ErrorSums& errors) {
  const std::size_t n = block.actual.size();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written below
  std::array<double, kBlock> ratio;
  const detail::RatioSums ratios =
      detail::ratioSums(n, block.actual.data(), block.truth.data(), block.expected.data(),
                        uselessShare_, ratio.data());
  const double atol = defaultAtol_;
  const detail::RelativeLimits limits{metrics_.maxRel.value * kSurelyBelow,
                                      metrics_.neededRtol.value * kSurelyBelow};
  const detail::ScaledExtremes scaled =
      (narrow_ ? detail::scaledExtremes : detail::scaledExtremesWide)(
          n, block.actual.data(), block.truth.data(), block.rounded.data(), format_, limits);
  const bool anySmall = scaled.smallest < leastNormal_;
  const bool beyond = ratios.maxRatio > 1;

  Metrics& m = metrics_;
  m.finitePairs += static_cast<std::int64_t>(n);
  if (errors.maxAbs == 0) {
    m.ratios.addZeros(static_cast<std::int64_t>(n));
  } else {
    m.ratios.add(std::span<const double>(ratio.data(), n), ratios.maxRatio);
  }
  addExtremes(block, scaled, errors.maxAbs, anySmall);
  offerLargest(m.maxRatio, ratios.maxRatio, block, [&](std::size_t i) { return ratio[i]; });
  if (anySmall || m.maxRel.index < 0 || scaled.overRelative > 0 ||
      (atol > 0 ? scaled.overNeeded >= atol : scaled.overNeeded > 0)) {
    addRelative(block);
  }
  std::int64_t zeroSigns = 0;
  if (beyond || anySmall || ratios.leastRoom <= 0 ||
      std::max(scaled.truthMax, -scaled.truthMin) >= maxFinite_) {
    const detail::RareCounts rare = detail::rareCounts(n, block, uselessShare_, maxFinite_);
    m.signDiffers += rare.signDiffers;
    m.uselessBounds += rare.useless;
    m.beyondMaximal += rare.beyondMaximal;
    m.relUndefined += rare.zeroTruth;
    m.saturatedTruth += rare.saturated;
    m.zeroSignDiffers += zeroSigns = rare.zeroSignDiffers;
  }
  addClasses(block, anySmall);
  BlockSums sums{errors.squaredError,
                 errors.squaredTruth,
                 errors.squaredActual,
                 errors.product,
                 errors.signedError,
                 errors.absoluteError,
                 errors.absoluteTruth,
                 ratios.signedRatio,
                 ratios.outwardRatio,
                 errors.squaredRounding,
                 0,
                 scaled.truthMin,
                 scaled.truthMax,
                 scaled.actualMin,
                 scaled.actualMax};
  addOptional(block, sums);
  commit(sums);
  // Of finite values only these two faults come.
  if (beyond || (policy_.zeroSignMatters && zeroSigns != 0)) {
    for (std::size_t i = 0; i < n; ++i) {
      if (judge(block.actual[i], block.truth[i], block.rounded[i], block.expected[i]) !=
          Fault::None) {
        addFault(block, i, ratio[i]);
      }
    }
  }
}

void MetricsAccumulator::addExtremes(const MetricsBlock& block,
                                     const detail::ScaledExtremes& scaled, double maxAbs,
                                     bool anySmall) {
  const auto error = [&](std::size_t i) { return std::abs(block.actual[i] - block.truth[i]); };
  Metrics& m = metrics_;
  offerLargest(m.maxAbs, maxAbs, block, error);
  const double step = 2 * format_.unitRoundoff();
  const auto ulps = [&](std::size_t i) {
    return error(i) / (std::max(detail::binadeOf(std::abs(block.truth[i])), leastNormal_) * step);
  };
  if (offerLargest(m.maxUlp, scaled.maxUlp, block, ulps)) {
    const auto at = static_cast<std::size_t>(m.maxUlp.index - block.first);
    m.maxUlpSigned = std::copysign(m.maxUlp.value, block.actual[at] - block.truth[at]);
  }
  const double distance = anySmall || !scaled.signsAgree
                              ? detail::maxDistance(block.actual.size(), block.actual.data(),
                                                    block.rounded.data(), format_)
                              : scaled.distance;
  offerLargest(m.maxUlpDistance, distance, block, [&](std::size_t i) {
    return std::abs(ordinalOf(format_, block.actual[i]) - ordinalOf(format_, block.rounded[i]));
  });
}

void MetricsAccumulator::addRelative(const MetricsBlock& block) {
  const auto error = [&](std::size_t i) { return std::abs(block.actual[i] - block.truth[i]); };
  const auto size = [&](std::size_t i) { return std::abs(block.truth[i]); };
  const detail::RelativeMaxima maxima = detail::relativeMaxima(
      block.actual.size(), block.actual.data(), block.truth.data(), defaultAtol_);
  offerLargest(metrics_.maxRel, maxima.relative, block,
               [&](std::size_t i) { return size(i) > 0 ? error(i) * (1 / size(i)) : 0; });
  offerLargest(metrics_.neededRtol, maxima.needed, block, [&](std::size_t i) {
    return size(i) > 0 ? std::max((error(i) - defaultAtol_) * (1 / size(i)), 0.0) : 0;
  });
}

void MetricsAccumulator::addClasses(const MetricsBlock& block, bool anySmall) {
  std::int64_t left = std::ssize(block.actual);
  if (!anySmall) {
    metrics_.classes.add(ValueClass::Normal, ValueClass::Normal, left);
    return;
  }
  detail::Codes codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  detail::classCodes(block.actual.size(), block.rounded.data(), block.actual.data(), leastNormal_,
                     codes);
  constexpr std::uint8_t kFiniteClasses = 4;
  for (std::uint8_t code = 0; left > 0 && code < kFiniteClasses * kFiniteClasses; ++code) {
    const std::int64_t times = detail::countCode(codes, code);
    metrics_.classes.add(static_cast<ValueClass>(code / kFiniteClasses),
                         static_cast<ValueClass>(code % kFiniteClasses), times);
    left -= times;
  }
}

void MetricsAccumulator::addOptional(const MetricsBlock& block, BlockSums& sums) {
  if (!block.emulated.empty()) {
    metrics_.hasEmulated = true;
    double sum = 0;
    for (std::size_t i = 0; i < block.truth.size(); ++i) {
      const double d = block.emulated[i] - block.truth[i];
      sum += finite(d) ? d * d : 0;
    }
    sums.squaredEmulated = sum;
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
