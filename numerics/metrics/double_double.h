// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace neuroncheck::numerics {

/// A sum carried to about 106 bits (TwoSum, Knuth TAOCP 4.2.2), so that merging partial sums gives
/// what one pass gives, to the last bit of the double it is read as.
class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(double value) : high_(value) {}

  void add(double value) {
    const double sum = high_ + value;
    const double other = sum - high_;
    low_ += (high_ - (sum - other)) + (value - other);
    high_ = sum;
  }
  void add(const ExactSum& other) {
    add(other.high_);
    add(other.low_);
  }
  /// Not finite once the sum passed the range of doubles.
  [[nodiscard]] double value() const {
    const double sum = high_ + low_;
    return std::isnan(sum) ? high_ : sum;
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace neuroncheck::numerics
