// SPDX-License-Identifier: Apache-2.0
// G5, G7 and G8: bit patterns, chosen, random and all.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

/// Numbers around which conversions, accumulators and formulas change, beside those of the format.
constexpr double kPlainValues[] = {0.5, 1.5, 2, 2.5, 3, 10, 255, 256, 257, 0x1p24, 0x1p24 + 1};

std::vector<std::uint64_t> floatTable(Format format, DType dtype) {
  const FormatTraits& t = traits(format);
  std::vector<double> values = {0,
                                t.minSubnormal(),
                                t.minNormal() - t.minSubnormal(),
                                t.minNormal(),
                                t.minNormal() * 2,
                                1 - ulp(format, 1) / 2,
                                1,
                                1 + ulp(format, 1),
                                std::ldexp(1.0, t.significandBits) - 1,
                                std::ldexp(1.0, t.significandBits),
                                std::ldexp(1.0, t.minExponent() / 2 - 1),
                                std::ldexp(1.0, t.maxExponent() / 2 + 1),
                                t.maxFinite() / 2,
                                t.maxFinite(),
                                std::numeric_limits<double>::infinity()};
  values.insert(values.end(), std::begin(kPlainValues), std::end(kPlainValues));
  std::vector<std::uint64_t> table;
  for (const double value : values) {
    if (std::isfinite(value) ? value <= t.maxFinite() : t.hasInfinity()) {
      table.push_back(toPattern(dtype, value));
      if (t.isSigned()) {
        table.push_back(toPattern(dtype, -value));
      }
    }
  }
  table.push_back(toPattern(dtype, std::numeric_limits<double>::quiet_NaN()));
  return table;
}

/// G5 of docs/numerics.md: widths and exactness limits of int, fp32 and fp64, and one to either
/// side.
std::vector<std::uint64_t> integerTable(DType dtype) {
  std::vector<std::int64_t> values = {0, 1, 2, 3, 7, 10, 100};
  for (const unsigned bits : {7U, 8U, 15U, 16U, 24U, 31U, 32U, 53U}) {
    const std::int64_t power = std::int64_t{1} << bits;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  values.push_back(std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = values.size(); i-- > 1;) {
    values.push_back(-values[i]);
  }
  values.push_back(lowestInteger(dtype));
  values.push_back(highestInteger(dtype));
  std::vector<std::uint64_t> table;
  for (const std::int64_t value : values) {
    if (value >= lowestInteger(dtype) && value <= highestInteger(dtype)) {
      table.push_back(integerPattern(dtype, value));
    }
  }
  if (dtype == DType::UInt64) {
    table.push_back(std::uint64_t{1} << 63U);
    table.push_back(~std::uint64_t{0});
  }
  return table;
}

std::vector<std::uint64_t> specialTable(DType dtype) {
  const auto format = formatOf(dtype);
  std::vector<std::uint64_t> table = format ? floatTable(*format, dtype) : integerTable(dtype);
  std::vector<std::uint64_t> unique;
  for (const std::uint64_t pattern : table) {
    if (std::find(unique.begin(), unique.end(), pattern) == unique.end()) {
      unique.push_back(pattern);
    }
  }
  return unique;
}

/// A finite number with every exponent as likely as another, subnormals counting as one exponent.
std::uint64_t evenExponents(Format format, std::uint64_t word) {
  const FormatTraits& t = traits(format);
  const std::uint64_t fractionBits = static_cast<unsigned>(t.significandBits - 1);
  const std::uint64_t most = t.maxFinitePattern();
  const auto exponents = static_cast<std::int64_t>((most >> fractionBits) + 1);
  // The exponent from the high bits, the fraction from low ones that it hardly depends on.
  const auto exponent = static_cast<std::uint64_t>(below(word, exponents));
  const std::uint64_t fraction = (word >> 1U) & ((std::uint64_t{1} << fractionBits) - 1);
  const std::uint64_t magnitude = std::min((exponent << fractionBits) | fraction, most);
  const std::uint64_t sign = t.isSigned() && magnitude != 0 ? word & 1U : 0;
  return (sign << static_cast<unsigned>(t.storageBits - 1)) | magnitude;
}

/// An integer with every number of bits as likely as another.
std::uint64_t evenWidths(DType dtype, std::uint64_t word) {
  const auto bits = static_cast<std::int64_t>(8 * itemSize(dtype));
  const auto width = static_cast<unsigned>(below(word, bits + 1));
  const std::uint64_t magnitude = width == 0 ? 0 : (word << 1U) >> (64U - width);
  const std::uint64_t value =
      kind(dtype) == DTypeKind::SignedInt && (word & 1U) != 0 ? ~magnitude : magnitude;
  return integerPattern(dtype, static_cast<std::int64_t>(value));
}

std::uint64_t maskOf(DType dtype) {
  const auto bits = static_cast<unsigned>(8 * itemSize(dtype));
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

using Wide = unsigned __int128;

/// Through all patterns of a dtype. 8-bit operands run through all their pairs; wider ones beside
/// the first are shuffled.
struct PatternWalk {
  Wide total;
  Wide count;  ///< elements
  CounterRandom shared;
  IndexPermutation order;
  unsigned width;
  unsigned shift;
  bool pairs;
  bool shuffled;

  [[nodiscard]] std::uint64_t at(std::int64_t index, std::uint64_t own) const {
    const auto place = static_cast<Wide>(shuffled ? order.at(index) : index);
    Wide pattern = place % total;
    if (count < total) {
      // One at random of each of `count` equal parts of the patterns; the halves of a pair come
      // from one draw.
      const std::uint64_t word = pairs ? shared.word(CounterRandom::Stream::Shared, index) : own;
      const Wide start = place * total / count;
      const Wide end = (place + 1) * total / count;
      pattern = start + ((Wide{word} * (end - start)) >> 64U);
    }
    return static_cast<std::uint64_t>((pattern >> shift) & ((Wide{1} << width) - 1));
  }
};

}  // namespace

std::int64_t specialValueCount(DType dtype) {
  const bool has = formatOf(dtype) || isIntegral(dtype);
  return has && !isComplex(dtype) ? static_cast<std::int64_t>(specialTable(dtype).size()) : 0;
}

Result<ElementSource> specialValues(const FillPlan& plan) {
  const auto table = std::make_shared<const std::vector<std::uint64_t>>(specialTable(plan.dtype()));
  const auto size = static_cast<std::int64_t>(table->size());
  // Operand 0 changes fastest; one beyond the product repeats the last.
  std::int64_t unit = 1;
  const auto operand = std::min<std::int64_t>(plan.request.tensor, plan.request.operands - 1);
  for (std::int64_t i = 0; i < operand; ++i) {
    unit *= size;
  }
  return [=](std::int64_t index, std::uint64_t) {
    return (*table)[static_cast<std::size_t>(index / unit % size)];
  };
}

Result<ElementSource> bitPatterns(const FillPlan& plan) {
  const DType dtype = plan.dtype();
  if (plan.request.variant > 1) {
    return inputError(fmt::format("G7 has variants 0 and 1, not {}", plan.request.variant));
  }
  if (dtype == DType::Bool) {
    return [](std::int64_t, std::uint64_t word) { return word >> 63U; };
  }
  if (plan.request.variant == 0) {
    return [mask = maskOf(dtype)](std::int64_t, std::uint64_t word) { return word & mask; };
  }
  if (plan.format) {
    return [format = *plan.format](std::int64_t, std::uint64_t word) {
      return evenExponents(format, word);
    };
  }
  return [dtype](std::int64_t, std::uint64_t word) { return evenWidths(dtype, word); };
}

Result<ElementSource> exhaustive(const FillPlan& plan) {
  const FillRequest& request = plan.request;
  const auto width =
      request.dtype == DType::Bool ? 1U : static_cast<unsigned>(8 * itemSize(request.dtype));
  const auto operands = static_cast<unsigned>(request.operands);
  const unsigned operand = std::min(request.tensor, operands - 1);
  const bool pairs = operands > 1 && width * operands <= 16;
  const PatternWalk walk{
      Wide{1} << (pairs ? width * operands : width),
      static_cast<Wide>(plan.count),
      CounterRandom(request.seed, 0),
      IndexPermutation(std::max<std::int64_t>(plan.count, 1), request.seed + request.tensor),
      width,
      pairs ? width * operand : 0,
      pairs,
      operand > 0 && !pairs};
  return [walk](std::int64_t index, std::uint64_t word) { return walk.at(index, word); };
}

}  // namespace neuroncheck::numerics
