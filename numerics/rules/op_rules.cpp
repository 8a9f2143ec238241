// SPDX-License-Identifier: Apache-2.0
#include "numerics/rules/op_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "numerics/rules/length.h"
#include "numerics/rules/rule_data.h"

namespace neuroncheck::numerics {

namespace {

enum Column : std::size_t {
  Op,
  Output,
  Class,
  Length,
  CompanionWord,
  Unstable,
  Stored,
  Coefficient,
  Roundings,
  Flags,
  Source,
  ColumnCount
};
constexpr std::array<std::string_view, ColumnCount> kColumns = {
    "op",     "output",      "class",     "length", "companion", "unstable",
    "stored", "coefficient", "roundings", "flags",  "source"};
constexpr int kMaxRoundings = 64;

using Fields = std::array<std::string_view, ColumnCount>;

/// The parts of a text between separators; always at least one.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> out = split(text, '\n');
  if (out.back().empty()) {
    out.pop_back();
  }
  return out;
}

tl::unexpected<Error> columnError(Column column, std::string_view message) {
  return inputError("column " + std::string(kColumns[column]) + ": " + std::string(message));
}

Result<Fields> splitFields(std::string_view line) {
  const std::vector<std::string_view> parts = split(line, '\t');
  if (parts.size() != ColumnCount) {
    return inputError(std::to_string(parts.size()) + " columns, " + std::to_string(ColumnCount) +
                      " are expected");
  }
  Fields fields;
  for (std::size_t i = 0; i < ColumnCount; ++i) {
    fields[i] = parts[i];
    if (parts[i].empty()) {
      return columnError(static_cast<Column>(i), "empty");
    }
  }
  return fields;
}

template <typename T>
Result<T> readNumber(std::string_view text, Column column, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(value >= T{}) || !(value <= most)) {
    return columnError(column, "'" + std::string(text) + "' is not a number of the right size");
  }
  return value;
}

Result<void> readFlag(std::string_view flag, OutputRule& rule) {
  if (flag == "const") {
    rule.constantAllowed = true;
    return {};
  }
  if (flag == "nan") {
    rule.nanAllowed = true;
    return {};
  }
  for (std::size_t i = 1; i < kNotComparableCount; ++i) {
    const auto reason = static_cast<NotComparable>(i);
    if (flag == name(reason)) {
      rule.notComparable = reason;
      return {};
    }
  }
  return columnError(Flags, "'" + std::string(flag) + "' is not a flag");
}

Result<std::string> readCompanion(std::string_view word, Column column) {
  if (findCompanion(word) == nullptr) {
    return columnError(column, "'" + std::string(word) + "' is not a companion");
  }
  return std::string(word);
}

/// What the fields of one row say about each other.
Result<void> checkRule(const OutputRule& rule) {
  const bool plain = rule.length == "1" && rule.companion == "none" && rule.unstable.empty() &&
                     rule.coefficient == 0 && rule.roundings == 1 && rule.stored.empty();
  if (rule.notComparable != NotComparable::No && !plain) {
    return columnError(Class, "an output that is not compared has no bound");
  }
  const bool unbounded = rule.opClass == OpClass::Exact || rule.opClass == OpClass::Random;
  if (unbounded && !plain) {
    return columnError(Class, "an exact or random output has no bound");
  }
  if (rule.companion == "none" && (rule.coefficient != 0 || !rule.unstable.empty())) {
    return columnError(CompanionWord, "a coefficient or an unstable formula needs a companion");
  }
  const bool elementwise = rule.opClass == OpClass::Rounded || rule.opClass == OpClass::Elementary;
  if (elementwise && rule.length != "1") {
    return columnError(Length, "an elementwise class has no sums");
  }
  if (rule.opClass == OpClass::Elementary && rule.companion != "value") {
    return columnError(CompanionWord, "class C counts ulps at H: value");
  }
  if (!rule.stored.empty() && rule.roundings < 2) {
    return columnError(Roundings, "a stored intermediate is a rounding of its own");
  }
  return {};
}

Result<OutputRule> readRule(const Fields& fields) {
  OutputRule rule;
  if (fields[Flags] != "-") {
    for (const std::string_view flag : split(fields[Flags], ',')) {
      NEURONCHECK_TRY_VOID(readFlag(flag, rule));
    }
  }
  const std::optional<OpClass> opClass = parseOpClass(fields[Class]);
  const bool compared = rule.notComparable == NotComparable::No;
  if (compared != opClass.has_value() || (!compared && fields[Class] != "-")) {
    return columnError(Class, "'" + std::string(fields[Class]) +
                                  "': a letter A to K, or '-' with the flag that says why");
  }
  rule.opClass = opClass.value_or(OpClass::Exact);
  rule.length = std::string(fields[Length]);
  if (auto length = LengthExpression::parse(rule.length); !length) {
    return columnError(Length, length.error().message);
  }
  NEURONCHECK_TRY(rule.companion, readCompanion(fields[CompanionWord], CompanionWord));
  if (fields[Unstable] != "-") {
    NEURONCHECK_TRY(rule.unstable, readCompanion(fields[Unstable], Unstable));
  }
  if (fields[Stored] != "-") {
    NEURONCHECK_TRY(rule.stored, readCompanion(fields[Stored], Stored));
  }
  NEURONCHECK_TRY(rule.coefficient, readNumber(fields[Coefficient], Coefficient, 1e6));
  NEURONCHECK_TRY(rule.roundings, readNumber(fields[Roundings], Roundings, kMaxRoundings));
  if (rule.roundings < 1) {
    return columnError(Roundings, "at least one");
  }
  NEURONCHECK_TRY_VOID(checkRule(rule));
  return rule;
}

/// Output 0, 1, ... in order, or "*": that one and all further.
Result<void> checkOutput(std::string_view output, std::size_t expected, bool closed) {
  if (closed) {
    return columnError(Output, "a row after '*'");
  }
  if (output != "*" && output != std::to_string(expected)) {
    return columnError(
        Output, "'" + std::string(output) + "', " + std::to_string(expected) + " or * is expected");
  }
  return {};
}

/// "dim_values" -> "dim", "Tensor_out" -> "Tensor", "out" -> "": the overload an out= form belongs
/// to, one step at a time; nullopt when nothing is left to take away.
std::optional<std::string> outTwin(std::string_view overload) {
  if (overload.empty()) {
    return std::nullopt;
  }
  const std::size_t end = overload.rfind('_');
  return std::string(overload.substr(0, end == std::string_view::npos ? 0 : end));
}

std::optional<std::string> functionalBase(std::string_view base) {
  const bool dunder = base.starts_with("__") && base.ends_with("__");
  if (dunder && base.starts_with("__i") && base.size() > 5) {
    return "__" + std::string(base.substr(3));
  }
  if (!dunder && base.size() > 1 && base.ends_with("_")) {
    return std::string(base.substr(0, base.size() - 1));
  }
  if (base.size() > 5 && base.ends_with("_copy")) {
    return std::string(base.substr(0, base.size() - 5));
  }
  return std::nullopt;
}

std::vector<Companion> readCompanions() {
  std::vector<Companion> out;
  for (const std::string_view line : lines(rule_data::companionsText())) {
    const std::vector<std::string_view> parts = split(line, '\t');
    NEURONCHECK_CHECK(parts.size() == 2, "companions.tsv: two columns are expected");
    out.push_back({std::string(parts[0]), std::string(parts[1])});
  }
  NEURONCHECK_CHECK(out.size() > 1 && out[1].word == "none", "companions.tsv: none comes first");
  out.erase(out.begin());
  return out;
}

OpRuleTable readEmbeddedRules() {
  Result<OpRuleTable> table = OpRuleTable::parse(rule_data::opRulesText());
  NEURONCHECK_CHECK(table.has_value(), "op_rules.tsv: " + table.error().text());
  return *std::move(table);
}

}  // namespace

std::span<const Companion> companions() {
  static const std::vector<Companion> all = readCompanions();
  return all;
}

const Companion* findCompanion(std::string_view word) {
  const std::span<const Companion> all = companions();
  const auto found = std::ranges::find(all, word, &Companion::word);
  return found == all.end() ? nullptr : &*found;
}

Result<OpRuleTable> OpRuleTable::parse(std::string_view tsv) {
  OpRuleTable table;
  const std::vector<std::string_view> rows = lines(tsv);
  const auto atRow = [](Error error, std::size_t row) {
    return tl::unexpected(std::move(error).within("row " + std::to_string(row + 1)));
  };
  Fields header;
  std::ranges::copy(kColumns, header.begin());
  if (rows.empty() || split(rows[0], '\t') != std::vector(header.begin(), header.end())) {
    return inputError("row 1: not the header of a table of operator rules");
  }
  bool closed = false;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    auto fields = splitFields(rows[row]);
    if (!fields) {
      return atRow(std::move(fields).error(), row);
    }
    const std::string op((*fields)[Op]);
    if (table.rules_.empty() || table.rules_.back().op != op) {
      const std::optional<OpName> parsed = OpName::parse(op);
      if (!parsed || parsed->str() != op || !table.index_.emplace(op, table.rules_.size()).second) {
        return atRow(
            columnError(Op, "'" + op + "' is no operator name, or stands in two places").value(),
            row);
      }
      table.rules_.push_back({op, {}, std::string((*fields)[Source])});
      closed = false;
    }
    OpRule& rule = table.rules_.back();
    if (auto output = checkOutput((*fields)[Output], rule.outputs.size(), closed); !output) {
      return atRow(std::move(output).error(), row);
    }
    closed = (*fields)[Output] == "*";
    auto output = readRule(*fields);
    if (!output) {
      return atRow(std::move(output).error(), row);
    }
    rule.outputs.push_back(*std::move(output));
  }
  return table;
}

const OpRule* OpRuleTable::find(const OpName& op) const {
  const auto row = [this](const std::string& text) -> const OpRule* {
    const auto found = index_.find(text);
    return found == index_.end() ? nullptr : &rules_[found->second];
  };
  std::optional<std::string> base = op.base;
  while (base) {
    std::optional<std::string> overload = op.overload;
    while (overload) {
      if (const OpRule* found = row(OpName{op.ns, *base, *overload}.str())) {
        return found;
      }
      overload = outTwin(*overload);
    }
    base = functionalBase(*base);
  }
  return nullptr;
}

const OpRuleTable& opRules() {
  static const OpRuleTable table = readEmbeddedRules();
  return table;
}

std::optional<OpRule> findRule(const OpName& op) {
  const OpRule* found = opRules().find(op);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

const OutputRule& outputRule(const OpRule& rule, std::size_t index) {
  NEURONCHECK_CHECK(!rule.outputs.empty(), "a rule has at least one output");
  return rule.outputs[std::min(index, rule.outputs.size() - 1)];
}

}  // namespace neuroncheck::numerics
