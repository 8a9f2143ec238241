// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "numerics/format/float_format.h"

namespace neuroncheck::numerics {

/// What kind of value an element is, in a format.
enum class ValueClass : std::uint8_t {
  Normal,
  Subnormal,
  PositiveZero,
  NegativeZero,
  PositiveInfinity,
  NegativeInfinity,
  NotANumber,
};
inline constexpr std::size_t kValueClassCount =
    static_cast<std::size_t>(ValueClass::NotANumber) + 1;

/// "normal", "subnormal", "+0", "-0", "+inf", "-inf", "nan".
[[nodiscard]] std::string_view name(ValueClass valueClass);
[[nodiscard]] ValueClass classify(const FormatTraits& format, double value);

/// How often each expected class met each actual one: [expected][actual].
struct ClassTable {
  std::array<std::array<std::int64_t, kValueClassCount>, kValueClassCount> counts{};

  void add(ValueClass expected, ValueClass actual, std::int64_t times = 1) {
    counts.at(static_cast<std::size_t>(expected)).at(static_cast<std::size_t>(actual)) += times;
  }
  void merge(const ClassTable& other);
  [[nodiscard]] std::int64_t at(ValueClass expected, ValueClass actual) const {
    return counts.at(static_cast<std::size_t>(expected)).at(static_cast<std::size_t>(actual));
  }
  [[nodiscard]] std::int64_t expected(ValueClass valueClass) const;
  [[nodiscard]] std::int64_t actual(ValueClass valueClass) const;
  bool operator==(const ClassTable&) const = default;
};

}  // namespace neuroncheck::numerics
