// SPDX-License-Identifier: Apache-2.0
// G10: datasets/numerics/domain_edges.tsv, op -> values. A pair "2:0.5" gives its halves to the
// first and second operand.
#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::string_view kEveryOp = "*";

/// Patterns of a row of a tensor rather than values of elements.
enum class Scheme : std::uint8_t { Values, MaskedRows, Ties };

struct Edges {
  Scheme scheme = Scheme::Values;
  std::vector<std::vector<double>> values;  ///< one or two of each
};

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

Result<Edges> parseEdges(std::string_view text) {
  Edges edges;
  if (text == "@masked_rows" || text == "@ties") {
    edges.scheme = text == "@ties" ? Scheme::Ties : Scheme::MaskedRows;
    return edges;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::vector<double> halves;
    const std::size_t colon = word.find(':');
    for (const std::string_view half :
         {word.substr(0, colon),
          colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1)}) {
      if (half.data() == nullptr) {
        continue;
      }
      const auto value = number(half);
      if (!value) {
        return inputError(fmt::format("'{}' is no number", word));
      }
      halves.push_back(*value);
    }
    edges.values.push_back(std::move(halves));
  }
  if (edges.values.empty()) {
    return inputError("no values");
  }
  return edges;
}

using EdgeTable = std::map<std::string, Edges, std::less<>>;

EdgeTable parseTable() {
  EdgeTable table;
  const auto rows = tableRows(domainEdgeTableText(), 3);
  NEURONCHECK_CHECK(rows.has_value(), rows ? "" : rows.error().message);
  for (const TableRow& row : *rows) {
    auto edges = parseEdges(row.cells[1]);
    NEURONCHECK_CHECK(edges.has_value(), fmt::format("domain_edges.tsv row {}: {}", row.line,
                                                     edges ? "" : edges.error().message));
    table.emplace(std::string(row.cells[0]), *std::move(edges));
  }
  return table;
}

const Edges& edgesOf(std::string_view op) {
  static const EdgeTable kTable = parseTable();
  // The packet of an overload, and the functional form of an in-place operator.
  std::string_view packet = op.substr(0, op.find('.'));
  auto found = kTable.find(packet);
  if (found == kTable.end() && packet.ends_with('_')) {
    packet.remove_suffix(1);
    found = kTable.find(packet);
  }
  found = found == kTable.end() ? kTable.find(kEveryOp) : found;
  NEURONCHECK_CHECK(found != kTable.end(), "domain_edges.tsv has no row for any operator");
  return found->second;
}

/// The value and its neighbours in the format, so that an edge is met from both sides.
std::vector<double> withNeighbours(Format format, double value) {
  if (!std::isfinite(value)) {
    return {value};
  }
  const double at = roundTo(format, value);
  if (!std::isfinite(at)) {
    return {at};
  }
  const double step = ulp(format, at);
  std::vector<double> all = {at};
  for (const double near : {roundTo(format, at - step), roundTo(format, at + step)}) {
    if (std::isfinite(near)) {
      all.push_back(near);
    }
  }
  return all;
}

std::uint64_t edgePattern(DType dtype, double value) {
  if (formatOf(dtype)) {
    return toPattern(dtype, value);
  }
  if (!std::isfinite(value)) {
    return integerPattern(dtype, 0);
  }
  const auto low = static_cast<double>(lowestInteger(dtype));
  const auto high = static_cast<double>(highestInteger(dtype));
  // A double cannot hold 2^63 - 1; what would round up to 2^63 is that number.
  return value >= high ? integerPattern(dtype, highestInteger(dtype))
                       : integerPattern(dtype, static_cast<std::int64_t>(std::max(value, low)));
}

/// Rows 0, 4, 8, ... wholly -inf (the largest negative number where there is none), others partly.
ElementSource maskedRows(const FillPlan& plan) {
  const AxisWalk last = lastAxis(plan.sizes());
  const FormatTraits& t = traits(*plan.format);
  const double masked = t.hasInfinity() ? -std::numeric_limits<double>::infinity() : -t.maxFinite();
  return [=, dtype = plan.dtype()](std::int64_t index, std::uint64_t word) {
    const bool hidden = last.row(index) % 4 == 0 || word % 4 == 0;
    return toPattern(dtype, hidden ? masked : normalQuantile(unitInterval(word)));
  };
}

/// Three values only, one of them zero of either sign: the order of equals is what is asked for.
ElementSource ties(const FillPlan& plan) {
  return [dtype = plan.dtype()](std::int64_t, std::uint64_t word) {
    constexpr double kTied[] = {-1, -0.0, 0, 1};
    const double value = kTied[word >> 62U];
    const bool isSigned = formatOf(dtype) || lowestInteger(dtype) < 0;
    return edgePattern(dtype, isSigned ? value : std::abs(value));
  };
}

}  // namespace

Result<ElementSource> domainEdges(const FillPlan& plan) {
  const Edges& edges = edgesOf(plan.request.op);
  if (edges.scheme == Scheme::MaskedRows && plan.format && traits(*plan.format).isSigned()) {
    return maskedRows(plan);
  }
  if (edges.scheme != Scheme::Values) {
    return ties(plan);
  }
  const std::size_t half = plan.request.tensor == 0 ? 0 : 1;
  auto table = std::make_shared<std::vector<std::uint64_t>>();
  for (const auto& values : edges.values) {
    if (values.size() > 1) {
      table->push_back(edgePattern(plan.dtype(), values[half]));
    } else if (plan.format) {
      for (const double value : withNeighbours(*plan.format, values[0])) {
        table->push_back(edgePattern(plan.dtype(), value));
      }
    } else {
      table->push_back(edgePattern(plan.dtype(), values[0]));
    }
  }
  return [table](std::int64_t index, std::uint64_t) {
    return (*table)[static_cast<std::size_t>(index) % table->size()];
  };
}

}  // namespace neuroncheck::numerics
