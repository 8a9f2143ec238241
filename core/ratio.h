// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace neuroncheck {

/// An exact fraction in lowest terms with a positive denominator, for symbolic arithmetic. Every
/// operation gives nullopt when the result does not fit 64 bits or is not defined.
class Ratio {
 public:
  constexpr Ratio() = default;
  constexpr explicit Ratio(std::int64_t whole) : numerator_(whole) {}
  /// nullopt for a zero denominator or a result beyond 64 bits.
  [[nodiscard]] static std::optional<Ratio> make(std::int64_t numerator, std::int64_t denominator);
  /// nullopt unless the value is a multiple of 2^-20 of moderate size, so that it is exact.
  [[nodiscard]] static std::optional<Ratio> fromReal(double value);

  [[nodiscard]] std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t denominator() const { return denominator_; }
  [[nodiscard]] bool isWhole() const { return denominator_ == 1; }
  [[nodiscard]] bool isZero() const { return numerator_ == 0; }
  [[nodiscard]] std::int64_t floor() const;
  [[nodiscard]] std::int64_t ceil() const;
  /// To the nearest integer, halves to the even one, as Python's round().
  [[nodiscard]] std::int64_t round() const;

  bool operator==(const Ratio&) const = default;
  [[nodiscard]] std::strong_ordering operator<=>(const Ratio& other) const;

  [[nodiscard]] std::optional<Ratio> plus(const Ratio& other) const;
  [[nodiscard]] std::optional<Ratio> times(const Ratio& other) const;
  [[nodiscard]] std::optional<Ratio> dividedBy(const Ratio& other) const;
  /// 0^0 is 1, as in Python; 0 to a negative power is not defined.
  [[nodiscard]] std::optional<Ratio> power(std::int64_t exponent) const;

 private:
  using Wide = __int128;
  /// top / bottom in lowest terms; `bottom` is positive.
  static std::optional<Ratio> reduced(Wide top, Wide bottom);

  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

}  // namespace neuroncheck
