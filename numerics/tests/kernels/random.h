// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "numerics/format/round_run.h"

namespace neuroncheck::numerics::testing {

using Values = std::vector<double>;

/// Numbers that are the same on every machine and with every standard library: no distribution of
/// <random>, no function of libm.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  /// SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }
  /// Twelve uniform numbers less six (Irwin and Hall): mean 0, deviation 1, within +-6.
  double normal() {
    double sum = uniform() * 0x1p-16 - 6.0;
    for (int word = 0; word < 3; ++word) {
      for (std::uint64_t w = bits(), i = 0; i < 4; ++i, w >>= 16) {
        sum += static_cast<double>(w & 0xffff) * 0x1p-16;
      }
    }
    return sum;
  }
  /// Normal over uniform: a few of a thousand are hundreds of times the rest.
  double heavyTailed() { return normal() / (uniform() + 0x1p-10); }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

/// What test inputs look like. Each shows faults the others hide.
enum class Family : std::uint8_t {
  Normal,     ///< N(0,1) in the output's dtype
  NormalF32,  ///< N(0,1) in fp32, whatever the output
  Small,      ///< N(0,1) * 1e-3 in the output's dtype: what an absolute tolerance forgives
  Positive,   ///< U(0,1) in the output's dtype: no cancellation, so bias adds up
  HeavyTail,  ///< a few terms far larger than the rest
  Scales,     ///< N(0,1), times 1, 2^-4, 2^-8, 2^-12 by rows
  Offset,     ///< N(0,1) + 10: a mean to be taken off
  Large,      ///< N(0,1) * 60: the sum of squares overflows fp16
  High,       ///< N(0,1) * 3 + 100: exp of it overflows fp32
};

[[nodiscard]] inline std::string_view name(Family family) {
  switch (family) {
    case Family::Normal:
      return "normal";
    case Family::NormalF32:
      return "normal fp32";
    case Family::Small:
      return "small";
    case Family::Positive:
      return "positive";
    case Family::HeavyTail:
      return "heavy tail";
    case Family::Scales:
      return "scales";
    case Family::Offset:
      return "offset";
    case Family::Large:
      return "large";
    case Family::High:
      return "high";
  }
  return "";
}

/// `n` numbers of a family, each a number of `format`. `row` is the length of a row, for Scales.
[[nodiscard]] inline Values fill(Family family, Format format, std::int64_t n, std::uint64_t seed,
                                 std::int64_t row = 1) {
  Random random(seed);
  Values values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& x = values[i];
    if (family == Family::Positive) {
      x = random.uniform();
    } else if (family == Family::HeavyTail) {
      x = random.heavyTailed();
    } else {
      x = random.normal();
    }
    if (family == Family::Small) {
      x *= 1e-3;
    } else if (family == Family::Scales) {
      x = std::ldexp(x, -4 * static_cast<int>(static_cast<std::int64_t>(i) / row % 4));
    } else if (family == Family::Offset) {
      x += 10;
    } else if (family == Family::Large) {
      x *= 60;
    } else if (family == Family::High) {
      x = 3 * x + 100;
    }
  }
  roundRun(family == Family::NormalF32 ? Format::Float32 : format, values, values);
  return values;
}

[[nodiscard]] inline Values roundedTo(Format format, Values values) {
  roundRun(format, values, values);
  return values;
}

[[nodiscard]] inline Values absolute(Values values) {
  for (double& x : values) {
    x = std::abs(x);
  }
  return values;
}

}  // namespace neuroncheck::numerics::testing
