// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "numerics/fill/counter_random.h"
#include "numerics/fill/fill.h"
#include "numerics/format/float_format.h"

// Private to this folder: what the makers of the fills share.
namespace neuroncheck::numerics {

/// Pattern of an element, right-aligned, from its index and the 64 random bits of Stream::Values.
using ElementSource = std::function<std::uint64_t(std::int64_t index, std::uint64_t word)>;

/// A request whose dtype is that of the components and whose axis counts from the front.
struct FillPlan {
  FillRequest request;
  std::optional<Format> format;  ///< nullopt: integer or bool
  std::int64_t count = 0;
  CounterRandom random{0, 0};

  [[nodiscard]] DType dtype() const { return request.dtype; }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return request.sizes; }
};

/// One dimension of a row-major tensor.
struct AxisWalk {
  std::int64_t size = 1;
  std::int64_t stride = 1;

  /// `axis` from the front; nullopt: the whole tensor as one row.
  [[nodiscard]] static AxisWalk of(const std::vector<std::int64_t>& sizes,
                                   std::optional<std::int64_t> axis);
  [[nodiscard]] std::int64_t place(std::int64_t index) const { return index / stride % size; }
  /// Which of the rows along the dimension.
  [[nodiscard]] std::int64_t row(std::int64_t index) const {
    return index / (stride * size) * stride + index % stride;
  }
};
/// The last dimension; of rank 0 a row of one element.
[[nodiscard]] AxisWalk lastAxis(const std::vector<std::int64_t>& sizes);

/// Pattern of a value: rounded to nearest even, integers truncated and wrapped.
[[nodiscard]] std::uint64_t toPattern(DType dtype, double value);
[[nodiscard]] std::uint64_t integerPattern(DType dtype, std::int64_t value);
/// Value of a pattern; integers beyond 2^53 are rounded.
[[nodiscard]] double toValue(DType dtype, std::uint64_t pattern);
/// Lowest and highest integer of an integer or bool dtype (uint64: up to 2^63 - 1).
[[nodiscard]] std::int64_t lowestInteger(DType dtype);
[[nodiscard]] std::int64_t highestInteger(DType dtype);

[[nodiscard]] Result<ElementSource> denseIntegers(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> sparseIntegers(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> positionCodes(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> normalValues(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> uniformValues(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> specialValues(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> cancellation(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> bitPatterns(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> exhaustive(const FillPlan& plan);
[[nodiscard]] Result<ElementSource> domainEdges(const FillPlan& plan);

/// True when the legality leaves nothing of the fill.
[[nodiscard]] bool replacesFill(LegalityKind kind);
/// The values of a legality that replaces the fill.
[[nodiscard]] Result<ElementSource> legalValues(const FillPlan& plan);
/// `source` with illegal values replaced by legal ones near them.
[[nodiscard]] Result<ElementSource> legalised(const FillPlan& plan, ElementSource source);

/// A dot product of `length` terms with condition number 2^conditionLog2: both factors, exact in
/// `format`; with one factor the left one is all ones. Empty when the format has too small a range
/// or the terms are too few.
struct ConditionedDot {
  std::vector<double> left;
  std::vector<double> right;
};
[[nodiscard]] ConditionedDot conditionedDot(Format format, std::int64_t length, int conditionLog2,
                                            int factors, std::uint64_t seed);

/// The tables that are built in (datasets/numerics).
[[nodiscard]] std::string_view legalityTableText();
[[nodiscard]] std::string_view domainEdgeTableText();

/// The lines of a table of tab-separated columns without comments and the header, numbered from 1
/// as in the file. An Error names the first line with another number of columns.
struct TableRow {
  std::size_t line = 0;
  std::vector<std::string_view> cells;
};
[[nodiscard]] Result<std::vector<TableRow>> tableRows(std::string_view text, std::size_t columns);

}  // namespace neuroncheck::numerics
