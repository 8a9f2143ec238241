// SPDX-License-Identifier: Apache-2.0
#include "numerics/format/round_run.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "numerics/format/vector_clones.h"

namespace neuroncheck::numerics {
namespace {

constexpr int kDoubleBits = 53;
constexpr std::uint64_t kMagnitude = 0x7fffffffffffffffULL;
constexpr std::uint64_t kInfinity = 0x7ff0000000000000ULL;

NEURONCHECK_CLONES
void toFloat32(std::size_t n, const double* values, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<double>(static_cast<float>(values[i]));
  }
}

/// Formats with infinity and a fraction: the significand cut by integer arithmetic.
NEURONCHECK_CLONES
void toNarrow(std::size_t n, const double* values, double* out, const FormatTraits& f) {
  const int cut = kDoubleBits - f.significandBits;
  const std::uint64_t half = (std::uint64_t{1} << (cut - 1)) - 1;
  const std::uint64_t keep = ~((std::uint64_t{1} << cut) - 1);
  // Adding and taking away 1.5 * 2^52 steps leaves a multiple of the step, to nearest even.
  const double magic = 0x1.8p52 * f.minSubnormal();
  const double smallest = f.minNormal();
  const double largest = f.maxFinite();
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    const std::uint64_t magnitude = bits & kMagnitude;
    const double size = std::bit_cast<double>(magnitude);
    const std::uint64_t normal = (magnitude + half + ((magnitude >> cut) & 1U)) & keep;
    const double subnormal = (size + magic) - magic;
    const double rounded = size < smallest ? subnormal : std::bit_cast<double>(normal);
    const double limited = rounded > largest ? std::bit_cast<double>(kInfinity) : rounded;
    const double finite = size < std::bit_cast<double>(kInfinity) ? limited : size;
    out[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(finite) | (bits & ~kMagnitude));
  }
}

}  // namespace

void roundRun(Format format, std::span<const double> values, std::span<double> out) {
  const FormatTraits& f = traits(format);
  if (format == Format::Float64) {
    std::copy(values.begin(), values.end(), out.begin());
  } else if (format == Format::Float32) {
    toFloat32(values.size(), values.data(), out.data());
  } else if (f.hasInfinity() && f.significandBits > 1) {
    toNarrow(values.size(), values.data(), out.data(), f);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[i] = roundTo(format, values[i]);
    }
  }
}

double ordinalOf(const FormatTraits& format, double value) {
  const double size = std::abs(value);
  const double least = format.minNormal();
  double steps = size / format.minSubnormal();
  if (size >= least) {
    const auto above = std::bit_cast<std::uint64_t>(size) - std::bit_cast<std::uint64_t>(least);
    steps = static_cast<double>(above >> (kDoubleBits - format.significandBits)) +
            least / format.minSubnormal();
  }
  return std::signbit(value) ? -steps : steps;
}

}  // namespace neuroncheck::numerics
