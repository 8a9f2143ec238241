// SPDX-License-Identifier: Apache-2.0
// Arguments whose values are a structure: indices, offsets, masks, matrices.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

using Stream = CounterRandom::Stream;

std::uint64_t whole(DType dtype, std::int64_t value) {
  return formatOf(dtype) ? toPattern(dtype, static_cast<double>(value))
                         : integerPattern(dtype, value);
}

struct Bounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

Result<Bounds> wholeBounds(const FillPlan& plan) {
  const Legality& legality = plan.request.legality;
  constexpr double kMost = 0x1p62;
  if (!(std::abs(legality.low) < kMost && std::abs(legality.high) < kMost)) {
    return inputError(fmt::format("bounds {} and {} are no indices", legality.low, legality.high));
  }
  const Bounds bounds{static_cast<std::int64_t>(std::ceil(legality.low)),
                      static_cast<std::int64_t>(std::floor(legality.high))};
  const double exact = exactIntegers(plan.dtype());
  if (static_cast<double>(std::max(std::abs(bounds.low), std::abs(bounds.high))) > exact + 1) {
    return inputError(
        fmt::format("{} cannot hold integers up to {}", name(plan.dtype()), bounds.high));
  }
  return bounds;
}

Result<ElementSource> indices(const FillPlan& plan) {
  NEURONCHECK_TRY(const Bounds bounds, wholeBounds(plan));
  const std::int64_t size = bounds.high - bounds.low;
  if (size < 1 && plan.count > 0) {
    return inputError(fmt::format("no index lies in [{}, {})", bounds.low, bounds.high));
  }
  return [=, dtype = plan.dtype(), last = plan.count - 1](std::int64_t index, std::uint64_t word) {
    // Both ends occur, where an index too far would be.
    const std::int64_t offset =
        index == last && last > 0 ? size - 1 : (index == 0 ? 0 : below(word, size));
    return whole(dtype, bounds.low + offset);
  };
}

Result<ElementSource> uniqueIndices(const FillPlan& plan) {
  const Legality& legality = plan.request.legality;
  const AxisWalk axis = AxisWalk::of(plan.sizes(), legality.axis);
  Bounds bounds{0, axis.size};
  if (legality.kind == LegalityKind::UniqueIndex) {
    NEURONCHECK_TRY(bounds, wholeBounds(plan));
  }
  const std::int64_t size = bounds.high - bounds.low;
  if (plan.count > 0 && size < axis.size) {
    return inputError(fmt::format("{} different indices do not lie in [{}, {})", axis.size,
                                  bounds.low, bounds.high));
  }
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t) {
    const IndexPermutation order(size, random.word(Stream::Rows, axis.row(index)));
    return whole(dtype, bounds.low + order.at(axis.place(index)));
  };
}

/// Values one after the other in equal parts of [low, high]: ascending, and each can be asked for.
Result<ElementSource> sortedValues(const FillPlan& plan) {
  const Legality& legality = plan.request.legality;
  const AxisWalk last = lastAxis(plan.sizes());
  const double low = legality.low;
  const double width = legality.high - legality.low;
  if (!(width >= 0) || !std::isfinite(width)) {
    return inputError(fmt::format("nothing is sorted from {} to {}", low, legality.high));
  }
  return [=, dtype = plan.dtype()](std::int64_t index, std::uint64_t word) {
    const double part = (static_cast<double>(last.place(index)) + unitInterval(word)) /
                        static_cast<double>(last.size);
    const double value = std::min(low + width * part, low + width);
    return formatOf(dtype) ? toPattern(dtype, value)
                           : integerPattern(dtype, static_cast<std::int64_t>(std::floor(value)));
  };
}

/// Ascending whole numbers from 0 to at most `high`; place `size - 1` is `high` when closed.
struct Steps {
  AxisWalk last;
  std::int64_t high = 0;
  bool closed = false;
  std::int64_t size = 1;

  [[nodiscard]] std::int64_t at(const CounterRandom& random, std::int64_t row,
                                std::int64_t place) const {
    if (place == 0) {
      return 0;
    }
    if (closed && place >= size - 1) {
      return high;
    }
    using Wide = __int128;
    const auto start = static_cast<std::int64_t>(Wide{place} * high / size);
    const auto end = static_cast<std::int64_t>(Wide{place + 1} * high / size);
    return start + below(random.word(Stream::Matrix, row * size + place), end - start + 1);
  }
};

Result<ElementSource> offsets(const FillPlan& plan) {
  NEURONCHECK_TRY(const Bounds bounds, wholeBounds(plan));
  const LegalityKind kind = plan.request.legality.kind;
  const AxisWalk last = lastAxis(plan.sizes());
  const bool partition = kind == LegalityKind::Partition;
  const Steps steps{last, bounds.high, kind != LegalityKind::Offsets,
                    partition ? last.size + 1 : last.size};
  if (plan.count > 0 && (bounds.high < 0 || (steps.closed && steps.size == 1 && bounds.high > 0))) {
    return inputError(fmt::format("{} offsets do not lead from 0 to {}", steps.size, bounds.high));
  }
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t) {
    const std::int64_t row = last.row(index);
    const std::int64_t place = last.place(index);
    const std::int64_t at = steps.at(random, row, place);
    return whole(dtype, partition ? steps.at(random, row, place + 1) - at : at);
  };
}

Result<ElementSource> lengths(const FillPlan& plan) {
  NEURONCHECK_TRY(const Bounds bounds, wholeBounds(plan));
  const AxisWalk last = lastAxis(plan.sizes());
  if (bounds.low > bounds.high) {
    return inputError(fmt::format("no length lies in [{}, {}]", bounds.low, bounds.high));
  }
  const Steps steps{last, bounds.high - bounds.low, false, last.size};
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t) {
    return whole(dtype, bounds.high - steps.at(random, last.row(index), last.place(index)));
  };
}

/// One place of each row that stays, one that goes, the others by chance.
Result<ElementSource> masks(const FillPlan& plan) {
  const Legality& legality = plan.request.legality;
  const AxisWalk last = lastAxis(plan.sizes());
  const bool additive = plan.format && traits(*plan.format).isSigned();
  const double minus = !additive ? 0
                       : traits(*plan.format).hasInfinity()
                           ? -std::numeric_limits<double>::infinity()
                           : -traits(*plan.format).maxFinite();
  const bool trueStays = legality.kind == LegalityKind::Mask;
  const bool anyRow = legality.allowFullyMasked;
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t word) {
    const std::uint64_t row = random.word(Stream::Rows, last.row(index));
    const std::int64_t place = last.place(index);
    const std::int64_t staying = below(row, last.size);
    bool stays = place == staying || (word >> 63U) != 0;
    stays = stays && (place == staying || place != (staying + 1) % last.size);
    if (anyRow && row % 4 == 0) {
      stays = false;
    }
    return additive ? toPattern(dtype, stays ? 0 : minus)
                    : integerPattern(dtype, stays == trueStays ? 1 : 0);
  };
}

Result<ElementSource> weights(const FillPlan& plan) {
  const AxisWalk last = lastAxis(plan.sizes());
  const double least = std::max(plan.request.legality.low, 1.0);
  if (!plan.format || (plan.count > 0 && least > static_cast<double>(last.size))) {
    return inputError(fmt::format("{} of {} weights cannot be positive", least, last.size));
  }
  const auto positive = static_cast<std::int64_t>(least);
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t word) {
    const IndexPermutation order(last.size, random.word(Stream::Rows, last.row(index)));
    const bool zero = order.at(last.place(index)) >= positive && word % 4 == 0;
    return toPattern(dtype, zero ? 0 : 0.125 + unitInterval(word));
  };
}

/// Entries of a square matrix of the last two dimensions.
struct Matrix {
  std::int64_t n = 1;
  CounterRandom random{0, 0};

  /// Multiples of 1/8 in [-1, 1]: sums of their products are exact.
  [[nodiscard]] double entry(std::int64_t index) const {
    return static_cast<double>(below(random.word(Stream::Matrix, index), 17) - 8) / 8;
  }
};

Result<ElementSource> matrices(const FillPlan& plan) {
  const auto& sizes = plan.sizes();
  if (!plan.format || sizes.size() < 2 || sizes[sizes.size() - 1] != sizes[sizes.size() - 2]) {
    return inputError("a square matrix of floating-point numbers is needed");
  }
  const std::int64_t n = std::max<std::int64_t>(sizes.back(), 1);
  if (static_cast<double>(n) * 2 > traits(*plan.format).maxFinite()) {
    return inputError(fmt::format("{} has no diagonal of {}", name(plan.dtype()), n));
  }
  const LegalityKind kind = plan.request.legality.kind;
  return [=, dtype = plan.dtype(), matrix = Matrix{n, plan.random}](std::int64_t index,
                                                                    std::uint64_t) {
    const std::int64_t row = index / n % n;
    const std::int64_t column = index % n;
    const std::int64_t start = index - row * n - column;
    const double diagonal = row == column ? static_cast<double>(n) : 0;
    if (kind == LegalityKind::PositiveDefinite) {
      double sum = diagonal;
      for (std::int64_t i = 0; i < n; ++i) {
        sum += matrix.entry(start + row * n + i) * matrix.entry(start + column * n + i);
      }
      return toPattern(dtype, sum);
    }
    const bool outside = (kind == LegalityKind::LowerTriangular && column > row) ||
                         (kind == LegalityKind::UpperTriangular && column < row);
    return toPattern(dtype, outside ? 0 : diagonal * 2 + (row == column ? 0 : matrix.entry(index)));
  };
}

ElementSource pivots(const FillPlan& plan) {
  const AxisWalk last = lastAxis(plan.sizes());
  return [=, dtype = plan.dtype()](std::int64_t index, std::uint64_t word) {
    const std::int64_t place = last.place(index);
    return whole(dtype, place + 1 + below(word, last.size - place));
  };
}

}  // namespace

bool replacesFill(LegalityKind kind) { return kind >= LegalityKind::Index; }

Result<ElementSource> legalValues(const FillPlan& plan) {
  switch (plan.request.legality.kind) {
    case LegalityKind::Index:
      return indices(plan);
    case LegalityKind::UniqueIndex:
    case LegalityKind::Permutation:
      return uniqueIndices(plan);
    case LegalityKind::Sorted:
      return sortedValues(plan);
    case LegalityKind::Offsets:
    case LegalityKind::ClosedOffsets:
    case LegalityKind::Partition:
      return offsets(plan);
    case LegalityKind::Lengths:
      return lengths(plan);
    case LegalityKind::Mask:
    case LegalityKind::Masked:
      return masks(plan);
    case LegalityKind::Weights:
      return weights(plan);
    case LegalityKind::Pivots:
      return pivots(plan);
    default:
      return matrices(plan);
  }
}

}  // namespace neuroncheck::numerics
