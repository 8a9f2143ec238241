// SPDX-License-Identifier: Apache-2.0
#include "numerics/metrics/value_class.h"

#include <cmath>
#include <numeric>

namespace neuroncheck::numerics {

std::string_view name(ValueClass valueClass) {
  static constexpr std::array<std::string_view, kValueClassCount> kNames = {
      "normal", "subnormal", "+0", "-0", "+inf", "-inf", "nan"};
  return kNames.at(static_cast<std::size_t>(valueClass));
}

ValueClass classify(const FormatTraits& format, double value) {
  if (std::isnan(value)) {
    return ValueClass::NotANumber;
  }
  const bool negative = std::signbit(value);
  if (std::isinf(value)) {
    return negative ? ValueClass::NegativeInfinity : ValueClass::PositiveInfinity;
  }
  if (value == 0) {
    return negative ? ValueClass::NegativeZero : ValueClass::PositiveZero;
  }
  return std::abs(value) < format.minNormal() ? ValueClass::Subnormal : ValueClass::Normal;
}

void ClassTable::merge(const ClassTable& other) {
  for (std::size_t e = 0; e < kValueClassCount; ++e) {
    for (std::size_t a = 0; a < kValueClassCount; ++a) {
      counts.at(e).at(a) += other.counts.at(e).at(a);
    }
  }
}

std::int64_t ClassTable::expected(ValueClass valueClass) const {
  const auto& row = counts.at(static_cast<std::size_t>(valueClass));
  return std::accumulate(row.begin(), row.end(), std::int64_t{0});
}

std::int64_t ClassTable::actual(ValueClass valueClass) const {
  std::int64_t sum = 0;
  for (const auto& row : counts) {
    sum += row.at(static_cast<std::size_t>(valueClass));
  }
  return sum;
}

}  // namespace neuroncheck::numerics
