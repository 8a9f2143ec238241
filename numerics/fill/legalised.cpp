// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

/// A value in [low, high], or strictly between, that the dtype holds.
struct Interval {
  DType dtype = DType::Float32;
  double low = 0;
  double high = 1;
  bool open = false;
  std::uint64_t middle = 0;  ///< pattern of a value certainly inside

  [[nodiscard]] bool holds(double value) const {
    return open ? value > low && value < high : value >= low && value <= high;
  }
  [[nodiscard]] std::uint64_t pick(std::uint64_t word) const {
    double value = low + (high - low) * unitInterval(word);
    if (!formatOf(dtype)) {
      // Whole numbers: each of [low, high] alike.
      value = std::min(std::floor(low + (high - low + 1) * unitInterval(word)), high);
    }
    const std::uint64_t pattern = toPattern(dtype, value);
    return holds(toValue(dtype, pattern)) ? pattern : middle;
  }
};

Result<ElementSource> inRange(const FillPlan& plan, ElementSource source) {
  const Legality& legality = plan.request.legality;
  Interval interval{plan.dtype(), legality.low, legality.high,
                    legality.kind == LegalityKind::OpenRange, 0};
  if (!(std::isfinite(interval.low) && std::isfinite(interval.high)) ||
      interval.low > interval.high) {
    return inputError(fmt::format("no value lies from {} to {}", interval.low, interval.high));
  }
  if (!plan.format) {
    interval.low = std::ceil(interval.low) +
                   (interval.open && std::ceil(interval.low) == interval.low ? 1 : 0);
    interval.high = std::floor(interval.high) -
                    (interval.open && std::floor(interval.high) == interval.high ? 1 : 0);
    interval.low = std::max(interval.low, static_cast<double>(lowestInteger(plan.dtype())));
    interval.high = std::min(interval.high, static_cast<double>(highestInteger(plan.dtype())));
    interval.open = false;
  }
  bool found = false;
  for (const double candidate : {std::floor((interval.low + interval.high) / 2),
                                 (interval.low + interval.high) / 2, interval.low, interval.high}) {
    interval.middle = found ? interval.middle : toPattern(plan.dtype(), candidate);
    found = found || (interval.holds(toValue(plan.dtype(), interval.middle)));
  }
  if (!found) {
    return inputError(fmt::format("{} has no value from {} to {}", name(plan.dtype()), legality.low,
                                  legality.high));
  }
  return [interval, source = std::move(source), random = plan.random](std::int64_t index,
                                                                      std::uint64_t word) {
    const std::uint64_t pattern = source(index, word);
    return interval.holds(toValue(interval.dtype, pattern))
               ? pattern
               : interval.pick(random.word(CounterRandom::Stream::Legality, index));
  };
}

/// The legal value for `value`; 1 where nothing of it can be kept.
double corrected(LegalityKind kind, double value) {
  switch (kind) {
    case LegalityKind::NonZero:
    case LegalityKind::NonZeroInteger:
      return value == 0 ? 1 : value;
    case LegalityKind::Positive:
      return std::isnan(value) || value == 0 ? 1 : std::abs(value);
    case LegalityKind::Sign:
      return std::signbit(value) ? -1 : 1;
    default:
      return std::isnan(value) ? 1 : std::abs(value);
  }
}

/// The same for integers, which a double might not hold.
std::int64_t correctedInteger(LegalityKind kind, DType dtype, std::int64_t value) {
  const std::int64_t size = value == lowestInteger(dtype) ? highestInteger(dtype) : std::abs(value);
  switch (kind) {
    case LegalityKind::NonZero:
    case LegalityKind::NonZeroInteger:
      return value == 0 ? 1 : value;
    case LegalityKind::Positive:
      return value == 0 ? 1 : size;
    case LegalityKind::Sign:
      return value < 0 ? -1 : 1;
    default:
      return value == 0 ? 0 : size;
  }
}

}  // namespace

Result<ElementSource> legalised(const FillPlan& plan, ElementSource source) {
  const LegalityKind kind = plan.request.legality.kind;
  const bool integersOnly =
      kind == LegalityKind::NonZeroInteger || kind == LegalityKind::NonNegativeInteger;
  if (kind == LegalityKind::Any || (integersOnly && plan.format)) {
    return source;
  }
  if (kind == LegalityKind::Range || kind == LegalityKind::OpenRange) {
    return inRange(plan, std::move(source));
  }
  const DType dtype = plan.dtype();
  if (plan.format) {
    return [=, source = std::move(source)](std::int64_t index, std::uint64_t word) {
      const std::uint64_t pattern = source(index, word);
      const double value = toValue(dtype, pattern);
      const double legal = corrected(kind, value);
      return legal == value || std::isnan(legal) ? pattern : toPattern(dtype, legal);
    };
  }
  const bool isSigned = neuroncheck::kind(dtype) == DTypeKind::SignedInt;
  return [=, source = std::move(source)](std::int64_t index, std::uint64_t word) {
    const std::uint64_t pattern = source(index, word);
    if (!isSigned) {
      const bool zero = kind != LegalityKind::NonNegative &&
                        kind != LegalityKind::NonNegativeInteger && pattern == 0;
      return zero ? std::uint64_t{1} : pattern;
    }
    const auto shift = static_cast<unsigned>(64 - 8 * itemSize(dtype));
    const std::int64_t value = static_cast<std::int64_t>(pattern << shift) >> shift;
    return integerPattern(dtype, correctedInteger(kind, dtype, value));
  };
}

}  // namespace neuroncheck::numerics
