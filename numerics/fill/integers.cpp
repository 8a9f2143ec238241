// SPDX-License-Identifier: Apache-2.0
// G1, G2 and G9: integers whose arithmetic is exact, so that the threshold is zero.
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

constexpr double kLargestCode = 0x1p53;

/// Largest factor used, well inside what the dtype holds: oneDNN's ranges are of this size. Sums
/// are to pass the output's exact integers, so that its rounding is tested too.
std::int64_t widestFactor(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1024;
    case DType::Float32:
    case DType::Int32:
    case DType::Int64:
    case DType::UInt32:
    case DType::UInt64:
      return 64;
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
      return 4;
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
      return 8;
    case DType::Bool:
      return 1;
    default:
      return 16;
  }
}

double power(std::int64_t base, int exponent) {
  double product = 1;
  for (int i = 0; i < exponent; ++i) {
    product *= static_cast<double>(base);
  }
  return product;
}

/// Largest m with terms * m^factors <= limit, at most `widest`; 0 when there is none.
std::int64_t factorWithin(double limit, std::int64_t terms, int factors, std::int64_t widest) {
  for (std::int64_t m = widest; m > 0; --m) {
    if (static_cast<double>(terms) * power(m, factors) <= limit) {
      return m;
    }
  }
  return 0;
}

bool holdsSigns(const FillPlan& plan) {
  return plan.format ? traits(*plan.format).isSigned() : kind(plan.dtype()) == DTypeKind::SignedInt;
}

/// A non-zero integer of at most m, of either sign where the dtype has one.
std::uint64_t nonZero(DType dtype, bool isSigned, std::int64_t m, std::uint64_t word) {
  const std::int64_t magnitude = 1 + below(word << 1U, m);
  const std::int64_t value = isSigned && (word >> 63U) != 0 ? -magnitude : magnitude;
  return formatOf(dtype) ? toPattern(dtype, static_cast<double>(value))
                         : integerPattern(dtype, value);
}

Result<void> needIntegers(const FillPlan& plan) {
  if (plan.format == Format::E8M0) {
    return inputError(
        fmt::format("{} holds powers of two only: no integer fill", name(plan.dtype())));
  }
  return {};
}

/// Where a tile or an instruction begins or ends: what an indexing error leaves out.
constexpr std::array<std::int64_t, 7> kPlaces = {0, 127, 128, 255, 256, 511, 512};

bool isForced(std::int64_t place, std::int64_t size) {
  return place == size - 1 || std::find(kPlaces.begin(), kPlaces.end(), place) != kPlaces.end();
}

std::int64_t forcedCount(std::int64_t size) {
  std::int64_t count = 0;
  for (const std::int64_t place : kPlaces) {
    count += place < size - 1 ? 1 : 0;
  }
  return count + 1;
}

/// Non-zeros beside the forced ones: one at a random place of each of `extra` equal parts of a row,
/// so that their number is known.
struct Strata {
  std::int64_t size = 1;
  std::int64_t extra = 0;

  [[nodiscard]] bool chosen(const CounterRandom& random, std::int64_t row,
                            std::int64_t place) const {
    if (extra == 0) {
      return false;
    }
    const std::int64_t part = place * extra / size;
    const std::int64_t start = (part * size + extra - 1) / extra;
    const std::int64_t end = ((part + 1) * size + extra - 1) / extra;
    const std::uint64_t word = random.word(CounterRandom::Stream::Rows, row * extra + part);
    return place == start + below(word, end - start);
  }
};

/// Elementwise operators have no row to be sparse in: an eighth of all elements, the forced places
/// of the last dimension, and the last row of each.
ElementSource sparseElements(const FillPlan& plan, std::int64_t m) {
  const AxisWalk last = lastAxis(plan.sizes());
  std::vector<AxisWalk> dims;
  dims.reserve(plan.sizes().size());
  for (std::size_t d = 0; d < plan.sizes().size(); ++d) {
    dims.push_back(AxisWalk::of(plan.sizes(), static_cast<std::int64_t>(d)));
  }
  return [=, dtype = plan.dtype(), isSigned = holdsSigns(plan)](std::int64_t index,
                                                                std::uint64_t word) {
    const bool atEnd = std::any_of(dims.begin(), dims.end(), [&](const AxisWalk& dim) {
      return dim.place(index) == dim.size - 1;
    });
    const bool keep = atEnd || isForced(last.place(index), last.size) || word % 8 == 0;
    return keep ? nonZero(dtype, isSigned, m, word) : toPattern(dtype, 0);
  };
}

}  // namespace

Result<ElementSource> denseIntegers(const FillPlan& plan) {
  NEURONCHECK_TRY_VOID(needIntegers(plan));
  const FillRequest& request = plan.request;
  const std::int64_t m = factorWithin(request.accumulatorLimit, request.k, request.factors,
                                      widestFactor(plan.dtype()));
  if (m == 0) {
    return inputError(fmt::format("a sum of {} terms is not exact up to {} even for ones: use G2",
                                  request.k, request.accumulatorLimit));
  }
  return [dtype = plan.dtype(), isSigned = holdsSigns(plan), m](std::int64_t, std::uint64_t word) {
    return nonZero(dtype, isSigned, m, word);
  };
}

Result<ElementSource> sparseIntegers(const FillPlan& plan) {
  NEURONCHECK_TRY_VOID(needIntegers(plan));
  const FillRequest& request = plan.request;
  const double limit = std::min(request.outputLimit, request.accumulatorLimit);
  const bool rows = request.reductionAxis.has_value();
  const AxisWalk axis = rows ? AxisWalk::of(plan.sizes(), request.reductionAxis) : AxisWalk{};
  // A convolution sums over more than one dimension of each operand; what is sparse is this one.
  const std::int64_t others = std::max<std::int64_t>(request.k / axis.size, 1);
  const std::int64_t forced = rows ? forcedCount(axis.size) : 1;
  const std::int64_t m = factorWithin(limit, forced * others, request.factors, 2);
  if (m == 0) {
    return inputError(
        fmt::format("{} forced terms do not fit into integers up to {}", forced * others, limit));
  }
  if (!rows) {
    return sparseElements(plan, m);
  }
  const DType dtype = plan.dtype();
  const bool isSigned = holdsSigns(plan);
  if (request.variant == 1) {
    return [=](std::int64_t, std::uint64_t word) { return nonZero(dtype, isSigned, m, word); };
  }
  const auto budget =
      static_cast<std::int64_t>(std::min(limit / power(m, request.factors), 0x1p40));
  const Strata strata{axis.size,
                      std::clamp<std::int64_t>(budget / others - forced, 0, axis.size / 8)};
  return [=, random = plan.random](std::int64_t index, std::uint64_t word) {
    const std::int64_t place = axis.place(index);
    return isForced(place, axis.size) || strata.chosen(random, axis.row(index), place)
               ? nonZero(dtype, isSigned, m, word)
               : toPattern(dtype, 0);
  };
}

std::int64_t positionBase(DType dtype) {
  if (dtype == DType::Float8E8M0FNU) {
    return 128;  // powers of two, by their patterns
  }
  const double exact = exactIntegers(dtype);
  // Below the limit even for the last digit; powers of two, so that digits are bits of the index.
  double base = 2;
  while (base * 2 <= std::min(exact + 1, kLargestCode)) {
    base *= 2;
  }
  return static_cast<std::int64_t>(dtype == DType::BFloat16 ? base / 2 : base);
}

int positionPasses(DType dtype, std::int64_t count) {
  int passes = 1;
  const std::int64_t base = positionBase(dtype);
  for (std::int64_t rest = (std::max<std::int64_t>(count, 1) - 1) / base; rest > 0; rest /= base) {
    ++passes;
  }
  return passes;
}

Result<ElementSource> positionCodes(const FillPlan& plan) {
  const std::int64_t base = positionBase(plan.dtype());
  if (plan.request.variant >= positionPasses(plan.dtype(), plan.count)) {
    return inputError(fmt::format("{} positions have {} digits in {}", plan.count,
                                  positionPasses(plan.dtype(), plan.count), name(plan.dtype())));
  }
  std::int64_t unit = 1;
  for (int pass = 0; pass < plan.request.variant; ++pass) {
    unit *= base;
  }
  return [=, dtype = plan.dtype()](std::int64_t index, std::uint64_t) -> std::uint64_t {
    const std::int64_t digit = index / unit % base;
    if (dtype == DType::Float8E8M0FNU) {
      return static_cast<std::uint64_t>(digit) + 64;
    }
    return formatOf(dtype) ? toPattern(dtype, static_cast<double>(digit))
                           : integerPattern(dtype, digit);
  };
}

}  // namespace neuroncheck::numerics
