// SPDX-License-Identifier: Apache-2.0
#include "core/ratio.h"

#include <cmath>
#include <limits>

namespace neuroncheck {
namespace {

using Wide = __int128;

std::optional<std::int64_t> narrow(Wide value) {
  if (value < std::numeric_limits<std::int64_t>::min() ||
      value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

Wide magnitude(Wide value) { return value < 0 ? -value : value; }

Wide greatestDivisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide next = a % b;
    a = b;
    b = next;
  }
  return a;
}

}  // namespace

std::optional<Ratio> Ratio::reduced(Wide top, Wide bottom) {
  const Wide divisor = greatestDivisor(bottom, magnitude(top));
  const auto numerator = narrow(top / divisor);
  const auto denominator = narrow(bottom / divisor);
  if (!numerator || !denominator) {
    return std::nullopt;
  }
  Ratio out(*numerator);
  out.denominator_ = *denominator;
  return out;
}

std::optional<Ratio> Ratio::make(std::int64_t numerator, std::int64_t denominator) {
  return Ratio(numerator).dividedBy(Ratio(denominator));
}

std::optional<Ratio> Ratio::fromReal(double value) {
  constexpr double kScale = 1048576.0;
  const double scaled = value * kScale;
  if (!std::isfinite(scaled) || std::abs(scaled) > 9007199254740992.0 ||
      std::floor(scaled) != scaled) {
    return std::nullopt;
  }
  return make(static_cast<std::int64_t>(scaled), static_cast<std::int64_t>(kScale));
}

std::int64_t Ratio::floor() const {
  const std::int64_t quotient = numerator_ / denominator_;
  return numerator_ % denominator_ < 0 ? quotient - 1 : quotient;
}

std::int64_t Ratio::ceil() const {
  const std::int64_t quotient = numerator_ / denominator_;
  return numerator_ % denominator_ > 0 ? quotient + 1 : quotient;
}

std::int64_t Ratio::round() const {
  const std::int64_t low = floor();
  const Wide twice = 2 * (static_cast<Wide>(numerator_) - static_cast<Wide>(low) * denominator_);
  if (twice == denominator_) {
    return low % 2 == 0 ? low : low + 1;
  }
  return twice < denominator_ ? low : low + 1;
}

std::strong_ordering Ratio::operator<=>(const Ratio& other) const {
  const Wide left = static_cast<Wide>(numerator_) * other.denominator_;
  const Wide right = static_cast<Wide>(other.numerator_) * denominator_;
  if (left == right) {
    return std::strong_ordering::equal;
  }
  return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::optional<Ratio> Ratio::plus(const Ratio& other) const {
  const Wide top = static_cast<Wide>(numerator_) * other.denominator_;
  const Wide otherTop = static_cast<Wide>(other.numerator_) * denominator_;
  Wide sum = 0;
  if (__builtin_add_overflow(top, otherTop, &sum)) {
    return std::nullopt;
  }
  const Wide bottom = static_cast<Wide>(denominator_) * other.denominator_;
  return reduced(sum, bottom);
}

std::optional<Ratio> Ratio::times(const Ratio& other) const {
  const Wide top = static_cast<Wide>(numerator_) * other.numerator_;
  const Wide bottom = static_cast<Wide>(denominator_) * other.denominator_;
  return reduced(top, bottom);
}

std::optional<Ratio> Ratio::dividedBy(const Ratio& other) const {
  if (other.isZero()) {
    return std::nullopt;
  }
  Wide top = static_cast<Wide>(numerator_) * other.denominator_;
  Wide bottom = static_cast<Wide>(denominator_) * other.numerator_;
  if (bottom < 0) {
    top = -top;
    bottom = -bottom;
  }
  return reduced(top, bottom);
}

std::optional<Ratio> Ratio::power(std::int64_t exponent) const {
  if (exponent == std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  std::optional<Ratio> square = *this;
  if (exponent < 0) {
    square = Ratio(1).dividedBy(*this);
    exponent = -exponent;
  }
  Ratio out(1);
  while (exponent > 0) {
    if (!square) {
      return std::nullopt;
    }
    if (exponent % 2 == 1) {
      const auto next = out.times(*square);
      if (!next) {
        return std::nullopt;
      }
      out = *next;
    }
    exponent /= 2;
    // The last square is never used and may leave the range.
    square = exponent > 0 ? square->times(*square) : square;
  }
  return out;
}

}  // namespace neuroncheck
