// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>

#include <Random123/conventional/Engine.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "numerics/format/float_format.h"
#include "numerics/random/distribution.h"

namespace neuroncheck::numerics {

/// Philox4x32-10 as a standard engine: the good generator of these tests.
using Engine = r123::Engine<r123::Philox4x32>;

inline Engine engineOf(std::uint64_t seed) {
  return Engine(r123::Philox4x32::ukey_type{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}});
}

/// n values of a distribution by the standard library's samplers.
inline std::vector<double> draw(DistributionKind kind, double a, double b, std::uint64_t seed,
                                std::int64_t n) {
  Engine engine = engineOf(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  const auto fillWith = [&](auto distribution, double offset = 0) {
    for (double& value : values) {
      value = static_cast<double>(distribution(engine)) + offset;
    }
  };
  switch (kind) {
    case DistributionKind::Uniform:
      fillWith(std::uniform_real_distribution<double>(a, b));
      break;
    case DistributionKind::Normal:
      fillWith(std::normal_distribution<double>(a, b));
      break;
    case DistributionKind::Exponential:
      fillWith(std::exponential_distribution<double>(a));
      break;
    case DistributionKind::LogNormal:
      fillWith(std::lognormal_distribution<double>(a, b));
      break;
    case DistributionKind::Cauchy:
      fillWith(std::cauchy_distribution<double>(a, b));
      break;
    case DistributionKind::Gamma:
      fillWith(std::gamma_distribution<double>(a));
      break;
    case DistributionKind::Geometric:
      fillWith(std::geometric_distribution<std::int64_t>(a), 1);
      break;
    case DistributionKind::Poisson:
      fillWith(std::poisson_distribution<std::int64_t>(a));
      break;
    case DistributionKind::Binomial:
      fillWith(std::binomial_distribution<std::int64_t>(static_cast<std::int64_t>(a), b));
      break;
    case DistributionKind::Integers:
      fillWith(std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(a),
                                                           static_cast<std::int64_t>(b) - 1));
      break;
  }
  return values;
}

inline std::vector<double> rounded(std::vector<double> values, Format format,
                                   Rounding rounding = Rounding::NearestEven) {
  for (double& value : values) {
    value = roundTo(format, value, rounding);
  }
  return values;
}

template <typename T>
std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

inline std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace neuroncheck::numerics
