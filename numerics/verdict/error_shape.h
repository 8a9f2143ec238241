// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "numerics/format/float_format.h"

namespace neuroncheck::numerics::detail {

/// Whether errors look like what rounding partial sums to a coarse format makes of a sum: of the
/// right size, everywhere, to both sides, and not following the values. A bound alone lets pass
/// whatever is smaller: a scale that is off by 1 %, a tail that was dropped, a transposed result.
class RoundingShape {
 public:
  RoundingShape(Format output, Format coarse);

  /// One finite element: the result, its error, the value without the error, and how far off
  /// 4 standard roundoffs are.
  void add(double actual, double error, double value, double room);

  /// Why these errors are not such roundings; empty where they may be.
  [[nodiscard]] std::string objection() const;
  /// Every result is a number of the coarse format although the output's format has more: a trace
  /// that only an accumulator of that format leaves.
  [[nodiscard]] bool leavesTrace() const { return nonZero_ >= kFew && outside_ == 0 && finer_; }
  /// How far the size of the errors is from the size expected: |log| of their ratio.
  [[nodiscard]] double misfit() const;

 private:
  static constexpr std::int64_t kFew = 8;
  [[nodiscard]] double size() const;

  Format coarse_;
  bool finer_;         ///< the output can hold what the coarse format cannot
  bool coarserStill_;  ///< all results are numbers of bf16, where that says something
  std::int64_t count_ = 0;
  std::int64_t nonZero_ = 0;  ///< zero is a number of every format
  std::int64_t outside_ = 0;
  double errors_ = 0, sizes_ = 0, squares_ = 0, values_ = 0, squaredValues_ = 0, products_ = 0;
};

/// Whether errors follow those that other operands would cause: the slope of the errors over the
/// predicted ones is 1, and known well enough to say so.
class FollowsPrediction {
 public:
  /// `error` D - H, `predicted` H' - H, `unit` B_exp at H.
  void add(double error, double predicted, double unit);
  [[nodiscard]] std::string objection() const;

 private:
  double product_ = 0, squaredPrediction_ = 0, squaredRest_ = 0, count_ = 0;
};

}  // namespace neuroncheck::numerics::detail
