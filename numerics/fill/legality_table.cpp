// SPDX-License-Identifier: Apache-2.0
#include "numerics/fill/legality_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "core/text_cursor.h"
#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::array<std::string_view, kLegalityKindCount> kNames = {"any",
                                                                     "nonzero",
                                                                     "nonzero_integer",
                                                                     "positive",
                                                                     "nonnegative",
                                                                     "nonnegative_integer",
                                                                     "range",
                                                                     "open_range",
                                                                     "sign",
                                                                     "index",
                                                                     "unique_index",
                                                                     "permutation",
                                                                     "sorted",
                                                                     "offsets",
                                                                     "closed_offsets",
                                                                     "lengths",
                                                                     "partition",
                                                                     "mask",
                                                                     "masked",
                                                                     "weights",
                                                                     "positive_definite",
                                                                     "well_conditioned",
                                                                     "lower_triangular",
                                                                     "upper_triangular",
                                                                     "pivots"};

std::optional<double> numberHere(TextCursor& cursor) {
  cursor.skipBlanks();
  const std::string_view rest = cursor.rest();
  // Otherwise an argument called "info" would begin with a number.
  if (!TextCursor::isDigit(cursor.peek()) && cursor.peek() != '-') {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc()) {
    return std::nullopt;
  }
  cursor.advance(static_cast<std::size_t>(end - rest.data()));
  return value;
}

Result<LegalityBound> parseBound(TextCursor& cursor) {
  LegalityBound bound;
  if (const auto value = numberHere(cursor)) {
    bound.literal = *value;
    return bound;
  }
  bound.argument = cursor.identifier();
  if (bound.argument.empty()) {
    return cursor.failHere("a number or an argument is expected");
  }
  if (cursor.accept(".numel")) {
    bound.what = LegalityBound::What::Count;
    return bound;
  }
  if (!cursor.accept(".size(")) {
    bound.what = LegalityBound::What::Argument;
    return bound;
  }
  bound.what = LegalityBound::What::Size;
  const std::size_t start = cursor.position();
  if (!numberHere(cursor) && cursor.identifier().empty()) {
    return cursor.failHere("a dimension is expected");
  }
  bound.dim = cursor.since(start);
  if (!cursor.accept(")")) {
    return cursor.failHere("')' is expected");
  }
  return bound;
}

/// "index(0, self.size(dim)) along dim".
Result<void> parseLegality(std::string_view text, LegalityRule& rule) {
  TextCursor cursor(text);
  const auto kind = parseLegalityKind(cursor.identifier());
  if (!kind) {
    return inputError(fmt::format("'{}' is no legality", text));
  }
  rule.kind = *kind;
  if (cursor.accept("(")) {
    NEURONCHECK_TRY(rule.low, parseBound(cursor));
    rule.high = rule.low;
    if (cursor.accept(",")) {
      NEURONCHECK_TRY(rule.high, parseBound(cursor));
    }
    if (!cursor.accept(")")) {
      return cursor.failHere("')' is expected");
    }
  }
  if (cursor.accept("along")) {
    cursor.skipBlanks();
    rule.axis = cursor.rest();
    cursor.advance(cursor.rest().size());
  }
  cursor.skipBlanks();
  return cursor.atEnd() ? Result<void>() : cursor.failHere("this is not understood");
}

Result<LegalityRule> parseRow(const TableRow& row) {
  LegalityRule rule;
  rule.op = row.cells[0];
  rule.argument = row.cells[1];
  rule.why = row.cells[4];
  if (rule.op.empty() || rule.argument.empty()) {
    return inputError("an operator and an argument are needed");
  }
  NEURONCHECK_TRY_VOID(parseLegality(row.cells[2], rule));
  if (row.cells[3] != "hard" && row.cells[3] != "domain") {
    return inputError(fmt::format("'{}' is neither hard nor domain", row.cells[3]));
  }
  rule.hard = row.cells[3] == "hard";
  return rule;
}

Result<std::int64_t> wholeNumber(std::string_view text, const OperandFacts& facts) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) {
    return value;
  }
  if (const auto argument = facts.integer(text)) {
    return *argument;
  }
  return inputError(fmt::format("the integer argument {} is unknown", text));
}

Result<double> boundOf(const LegalityBound& bound, const OperandFacts& facts) {
  if (bound.what == LegalityBound::What::Literal) {
    return bound.literal;
  }
  if (bound.what == LegalityBound::What::Argument) {
    NEURONCHECK_TRY(const std::int64_t value, wholeNumber(bound.argument, facts));
    return static_cast<double>(value);
  }
  const auto sizes = facts.sizes(bound.argument);
  if (!sizes) {
    return inputError(fmt::format("the sizes of {} are unknown", bound.argument));
  }
  if (bound.what == LegalityBound::What::Count) {
    double count = 1;
    for (const std::int64_t size : *sizes) {
      count *= static_cast<double>(size);
    }
    return count;
  }
  NEURONCHECK_TRY(std::int64_t dim, wholeNumber(bound.dim, facts));
  const auto rank = static_cast<std::int64_t>(sizes->size());
  if (rank == 0 && (dim == 0 || dim == -1)) {
    return 1.0;  // torch reads a tensor of rank 0 as one of a single element
  }
  dim += dim < 0 ? rank : 0;
  if (dim < 0 || dim >= rank) {
    return inputError(fmt::format("{} has no dimension {}", bound.argument, bound.dim));
  }
  return static_cast<double>((*sizes)[static_cast<std::size_t>(dim)]);
}

}  // namespace

std::string_view name(LegalityKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<LegalityKind> parseLegalityKind(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  return found == kNames.end() ? std::nullopt
                               : std::optional(static_cast<LegalityKind>(found - kNames.begin()));
}

Result<LegalityTable> LegalityTable::parse(std::string_view text) {
  LegalityTable table;
  NEURONCHECK_TRY(const std::vector<TableRow> rows, tableRows(text, 5));
  for (const TableRow& row : rows) {
    const auto place = [&] {
      return fmt::format("row {} ({} {})", row.line, row.cells[0], row.cells[1]);
    };
    auto rule = parseRow(row);
    if (!rule) {
      return tl::unexpected(std::move(rule).error().within(place()));
    }
    if (!table.index_.emplace(std::pair(rule->op, rule->argument), table.rules_.size()).second) {
      return inputError(place() + ": a second row for this argument");
    }
    table.rules_.push_back(*std::move(rule));
  }
  return table;
}

const LegalityTable& LegalityTable::builtIn() {
  static const LegalityTable kTable = [] {
    auto table = parse(legalityTableText());
    NEURONCHECK_CHECK(table.has_value(), table ? "" : table.error().text());
    return *std::move(table);
  }();
  return kTable;
}

const LegalityRule* LegalityTable::find(std::string_view op, std::string_view argument) const {
  const std::string_view packet = op.substr(0, op.find('.'));
  std::string functional(packet);
  if (functional.ends_with('_') && !functional.ends_with("__")) {
    functional.pop_back();
  }
  for (const std::string_view key : {op, packet, std::string_view(functional)}) {
    const auto found = index_.find(std::pair(std::string(key), std::string(argument)));
    if (found != index_.end()) {
      return &rules_[found->second];
    }
  }
  return nullptr;
}

Result<Legality> resolve(const LegalityRule& rule, const OperandFacts& facts) {
  Legality legality;
  legality.kind = rule.kind;
  legality.hard = rule.hard;
  NEURONCHECK_TRY(legality.low, boundOf(rule.low, facts));
  NEURONCHECK_TRY(legality.high, boundOf(rule.high, facts));
  if (!rule.axis.empty()) {
    NEURONCHECK_TRY(legality.axis, wholeNumber(rule.axis, facts));
  }
  return legality;
}

}  // namespace neuroncheck::numerics
