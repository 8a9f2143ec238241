// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/error_shape.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace neuroncheck::numerics::detail {
namespace {

/// Rounding to nearest errs evenly within half a step, which is between u/2 and u of the value:
/// its deviation is u |s| / sqrt(3) at most and half of that at least, 0.42 u |s| over a binade.
/// The room is 4 u sqrt(sum s^2).
constexpr double kExpectedSize = 0.42 / 4;
constexpr double kSmallest = 0.15 / 4;
constexpr double kLargest = 0.8 / 4;
/// Mean size over root mean square: 0.87 for even errors, 0.80 for normal ones, less where few
/// elements hold all of them.
constexpr double kEven = 0.6;
/// Student's t beyond which a mean or a correlation is no accident: once in 10^4 for 32 elements,
/// in 10^5 for many.
constexpr double kAccident = 4.5;
constexpr double kSlopeOff = 0.25;
constexpr double kSlopeUnsure = 0.1;

}  // namespace

RoundingShape::RoundingShape(Format output, Format coarse)
    : coarse_(coarse), finer_(traits(output).significandBits > traits(coarse).significandBits) {
  const int coarsest = traits(Format::BFloat16).significandBits;
  coarserStill_ =
      traits(coarse).significandBits > coarsest && traits(output).significandBits > coarsest;
}

void RoundingShape::add(double actual, double error, double value, double room) {
  if (!(room > 0) || !std::isfinite(actual) || !std::isfinite(value)) {
    return;
  }
  const double z = error / room;
  ++count_;
  nonZero_ += actual != 0 ? 1 : 0;
  outside_ += finer_ && roundTo(coarse_, actual) != actual ? 1 : 0;
  coarserStill_ = coarserStill_ && roundTo(Format::BFloat16, actual) == actual;
  errors_ += z;
  sizes_ += std::abs(z);
  squares_ += z * z;
  values_ += value;
  squaredValues_ += value * value;
  products_ += z * value;
}

double RoundingShape::size() const {
  return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
}

double RoundingShape::misfit() const {
  const double measured = size();
  return measured > 0 ? std::abs(std::log(measured / kExpectedSize)) : 1e9;
}

std::string RoundingShape::objection() const {
  if (count_ < kFew || squares_ == 0) {
    return {};
  }
  if (coarserStill_ && nonZero_ >= kFew) {
    return "the results are numbers of bf16, which is coarser";
  }
  if (size() < kSmallest || size() > kLargest) {
    return fmt::format("the errors are {:.2g} times the size that it makes",
                       size() / kExpectedSize);
  }
  const auto n = static_cast<double>(count_);
  if (sizes_ / n < kEven * size()) {
    return "few elements hold most of the error";
  }
  const double spread = squares_ - errors_ * errors_ / n;
  if (std::abs(errors_) * std::sqrt((n - 1) / n) > kAccident * std::sqrt(spread)) {
    return "the errors lean to one side, those of rounding to nearest do not";
  }
  const double covariance = products_ - errors_ * values_ / n;
  const double both = spread * (squaredValues_ - values_ * values_ / n);
  const double rest = both - covariance * covariance;
  if (both > 0 &&
      std::abs(covariance) * std::sqrt(n - 2) > kAccident * std::sqrt(std::max(rest, 0.0))) {
    return "the errors follow the values, those of rounding do not";
  }
  return {};
}

void FollowsPrediction::add(double error, double predicted, double unit) {
  if (!(unit > 0) || !std::isfinite(error) || !std::isfinite(predicted)) {
    return;
  }
  const double e = error / unit;
  const double p = predicted / unit;
  product_ += e * p;
  squaredPrediction_ += p * p;
  squaredRest_ += (e - p) * (e - p);
  count_ += 1;
}

std::string FollowsPrediction::objection() const {
  if (squaredPrediction_ == 0) {
    return "it predicts no error";
  }
  const double slope = product_ / squaredPrediction_;
  const double unsure = std::sqrt(squaredRest_ / count_ / squaredPrediction_);
  if (unsure > kSlopeUnsure || std::abs(slope - 1) > kSlopeOff) {
    return fmt::format("the errors follow those it predicts with a slope of {:.2g} +- {:.1g}",
                       slope, unsure);
  }
  return {};
}

}  // namespace neuroncheck::numerics::detail
