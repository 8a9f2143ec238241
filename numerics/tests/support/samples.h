// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <random>
#include <vector>

#include "numerics/format/round_run.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline std::vector<double> ramp(std::size_t n, double start = 1.0) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = start + static_cast<double>(i) / 16;
  }
  return values;
}

inline std::vector<double> noise(std::size_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

inline std::vector<double> rounded(Format format, std::vector<double> values) {
  roundRun(format, values, values);
  return values;
}

inline Judgement judged(DType dtype, std::vector<std::int64_t> sizes,
                        const std::vector<double>& actual, const std::vector<double>& truth,
                        const OutputRule& rule, double length = 1) {
  const Output output(dtype, std::move(sizes), actual, rule, length);
  VectorReference reference(truth);
  return judge(output.request, reference);
}

struct Sum {
  std::vector<double> truth, magnitude, sequential, truncating;
};

/// Sums of k fp32 numbers in fp32, rounding to nearest and truncating.
inline Sum sums(std::size_t n, std::size_t k, bool positive) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Sum s{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n),
        std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    float run = 0;
    double cut = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const auto x = static_cast<float>(positive ? std::abs(normal(random)) : normal(random));
      s.truth[i] += static_cast<double>(x);
      s.magnitude[i] += std::abs(static_cast<double>(x));
      run += x;
      cut = roundTo(Format::Float32, cut + static_cast<double>(x), Rounding::TowardZero);
    }
    s.sequential[i] = static_cast<double>(run);
    s.truncating[i] = cut;
  }
  return s;
}

inline Judgement judgedSum(const Sum& s, const std::vector<double>& actual, std::size_t k) {
  const Output output(DType::Float32, {static_cast<std::int64_t>(actual.size())}, actual,
                      ruleOf(OpClass::Reduction), static_cast<double>(k));
  VectorReference reference(s.truth);
  reference.set({Quantity::Magnitude, {}}, s.magnitude);
  return judge(output.request, reference);
}

}  // namespace neuroncheck::numerics::testing
