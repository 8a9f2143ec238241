// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/op_name.h"
#include "core/result.h"
#include "numerics/rules/op_rule.h"

namespace neuroncheck::numerics {

/// A magnitude companion S: the word rules use, and what a Reference has to compute. In a formula
/// x is the input, g the incoming gradient, y the stored result a backward operator is given, H the
/// truth, k the rule's length, sums and means run over the group the operator itself reduces, and
/// everything is evaluated in fp64 with one value per element of the output. A term that no sum
/// amplifies stands over sqrt(k), since the bound multiplies S by lambda sqrt(k).
struct Companion {
  std::string word;
  std::string formula;
};

/// Every companion, in the order of datasets/numerics/companions.tsv; "none" is the first.
[[nodiscard]] std::span<const Companion> companions();
[[nodiscard]] const Companion* findCompanion(std::string_view word);

/// A table of rules, as datasets/numerics/op_rules.tsv: a header, then one line per output with the
/// columns op, output, class, length, companion, unstable, stored, coefficient, roundings, flags
/// and source.
class OpRuleTable {
 public:
  /// Fails with "row N, column C: ..." (the header is row 1): a column missing or too many, an
  /// unknown class, flag or companion, a length outside its grammar, outputs not counted 0, 1, ...
  /// with `*` (all further) last, an operator in two places, or fields that contradict the class.
  [[nodiscard]] static Result<OpRuleTable> parse(std::string_view tsv);

  /// In this order, each for the operator's own base name and then for its functional twin's: the
  /// row of the overload; the row of the overload an out= form belongs to ("dim_values" and
  /// "dim_out" to "dim"); the row of the packet. A functional twin is the base name without a
  /// trailing "_" (add_), "_copy" (view_copy) or the "i" of "__iand__". Null: no rule, which is
  /// "not comparable" by that name. Lives as long as the table.
  [[nodiscard]] const OpRule* find(const OpName& op) const;
  [[nodiscard]] std::span<const OpRule> rules() const { return rules_; }

 private:
  std::vector<OpRule> rules_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// The table the library was built with.
[[nodiscard]] const OpRuleTable& opRules();
/// opRules().find() as a value.
[[nodiscard]] std::optional<OpRule> findRule(const OpName& op);
/// The rule of tensor output `index`: the last one stands for all further.
[[nodiscard]] const OutputRule& outputRule(const OpRule& rule, std::size_t index);

}  // namespace neuroncheck::numerics
