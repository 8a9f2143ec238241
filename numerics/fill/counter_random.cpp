// SPDX-License-Identifier: Apache-2.0
#include "numerics/fill/counter_random.h"

#include <Random123/philox.h>

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace neuroncheck::numerics {
namespace {

using Philox = r123::Philox4x32;

Philox::ctr_type block(std::uint64_t seed, std::uint32_t tensor, CounterRandom::Stream stream,
                       std::int64_t index) {
  const auto chunk = static_cast<std::uint64_t>(index / kFillChunk);
  const auto pair = static_cast<std::uint32_t>(index % kFillChunk / 2);
  const Philox::ctr_type counter = {{static_cast<std::uint32_t>(chunk),
                                     static_cast<std::uint32_t>(chunk >> 32U),
                                     pair | (static_cast<std::uint32_t>(stream) << 8U), tensor}};
  const Philox::key_type key = {
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
  return Philox()(counter, key);
}

std::uint64_t half(const Philox::ctr_type& block, std::int64_t index) {
  const std::size_t at = index % 2 == 0 ? 0 : 2;
  return block.at(at) | (std::uint64_t{block.at(at + 1)} << 32U);
}

/// c[0] + c[1] x + ... + c[7] x^7.
double polynomial(const std::array<double, 8>& c, double x) {
  double sum = c[7];
  for (std::size_t i = 7; i-- > 0;) {
    sum = sum * x + c.at(i);
  }
  return sum;
}

/// ln x of a positive normal number: x = m 2^e with m about 1, and 2 artanh((m-1)/(m+1)) by its
/// series, whose eleventh term is below 2^-58.
double logarithm(double x) {
  constexpr int kTerms = 12;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 1 / std::numbers::sqrt2) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int i = kTerms; i-- > 0;) {
    sum = sum * s * s + 1.0 / (2 * i + 1);
  }
  return exponent * std::numbers::ln2 + 2 * s * sum;
}

// Coefficients of PPND16: M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal
// Distribution", Applied Statistics 37 (1988) 477-484.
constexpr std::array<double, 8> kA = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                      1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                      4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                      3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr std::array<double, 8> kB = {1.0,
                                      4.2313330701600911252e+1,
                                      6.8718700749205790830e+2,
                                      5.3941960214247511077e+3,
                                      2.1213794301586595867e+4,
                                      3.9307895800092710610e+4,
                                      2.8729085735721942674e+4,
                                      5.2264952788528545610e+3};
constexpr std::array<double, 8> kC = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                      5.76949722146069140550e0,  3.64784832476320460504e0,
                                      1.27045825245236838258e0,  2.41780725177450611770e-1,
                                      2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kD = {1.0,
                                      2.05319162663775882187e0,
                                      1.67638483018380384940e0,
                                      6.89767334985100004550e-1,
                                      1.48103976427480074590e-1,
                                      1.51986665636164571966e-2,
                                      5.47593808499534494600e-4,
                                      1.05075007164441684324e-9};
constexpr std::array<double, 8> kE = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                      1.78482653991729133580e0,  2.96560571828504891230e-1,
                                      2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                      2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> kF = {1.0,
                                      5.99832206555887937690e-1,
                                      1.36929880922735805310e-1,
                                      1.48753612908506148525e-2,
                                      7.86869131145613259100e-4,
                                      1.84631831751005468180e-5,
                                      1.42151175831644588870e-7,
                                      2.04426310338993978564e-15};

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

std::uint64_t CounterRandom::word(Stream stream, std::int64_t index) const {
  return half(block(seed_, tensor_, stream, index), index);
}

void CounterRandom::words(Stream stream, std::int64_t first, std::span<std::uint64_t> out) const {
  for (std::size_t i = 0; i < out.size();) {
    const std::int64_t index = first + static_cast<std::int64_t>(i);
    const auto both = block(seed_, tensor_, stream, index);
    out[i++] = half(both, index);
    if (index % 2 == 0 && i < out.size()) {
      out[i++] = half(both, index + 1);
    }
  }
}

double unitInterval(std::uint64_t word) {
  return (static_cast<double>(word >> 12U) + 0.5) * 0x1p-52;
}

std::int64_t below(std::uint64_t word, std::int64_t size) {
  using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{word} * static_cast<std::uint64_t>(size)) >> 64U);
}

IndexPermutation::IndexPermutation(std::int64_t size, std::uint64_t key)
    : size_(static_cast<std::uint64_t>(size)),
      key_(key),
      halfBits_(size_ < 2 ? 1 : (static_cast<unsigned>(std::bit_width(size_ - 1)) + 1) / 2) {}

std::int64_t IndexPermutation::at(std::int64_t place) const {
  constexpr std::uint64_t kRounds = 6;
  const std::uint64_t mask = (std::uint64_t{1} << halfBits_) - 1;
  auto value = static_cast<std::uint64_t>(place);
  do {
    std::uint64_t left = value >> halfBits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next =
          left ^ (mixed(key_ + round * 0x9e3779b97f4a7c15U + mixed(right + 1)) & mask);
      left = right;
      right = next;
    }
    value = (left << halfBits_) | right;
  } while (value >= size_);
  return static_cast<std::int64_t>(value);
}

double normalQuantile(double p) {
  constexpr double kMiddle = 0.425;
  constexpr double kFar = 5;
  const double q = p - 0.5;
  if (std::abs(q) <= kMiddle) {
    const double r = kMiddle * kMiddle - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p));
  const double tail = r <= kFar ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                                : polynomial(kE, r - kFar) / polynomial(kF, r - kFar);
  return q < 0 ? -tail : tail;
}

}  // namespace neuroncheck::numerics
