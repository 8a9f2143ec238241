// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "numerics/fill/legality.h"

namespace neuroncheck::numerics {

/// A number that may depend on the other arguments of a call: "5", "self.size(dim)",
/// "weight.size(0)", "self.numel", "num_weights".
struct LegalityBound {
  enum class What : std::uint8_t { Literal, Size, Count, Argument };
  What what = What::Literal;
  double literal = 0;
  std::string argument;  ///< whose size or count, or the integer argument itself
  std::string dim;       ///< of Size: a number or the name of an integer argument
};

/// A row of datasets/numerics/fill_legality.tsv.
struct LegalityRule {
  std::string op;        ///< packet ("aten::gather", all its overloads) or one overload
  std::string argument;  ///< as the schema names it
  LegalityKind kind = LegalityKind::Any;
  LegalityBound low;
  LegalityBound high;
  std::string axis;  ///< a number or the name of an integer argument; empty: the whole tensor
  bool hard = true;
  std::string why;
};

/// What resolve() asks of a call. Either may answer nullopt.
struct OperandFacts {
  std::function<std::optional<std::vector<std::int64_t>>(std::string_view argument)> sizes;
  std::function<std::optional<std::int64_t>(std::string_view argument)> integer;
};

/// Which operators need arguments of a certain kind, read from a table that is built in.
class LegalityTable {
 public:
  /// An Error names the row ("row 12 (aten::gather index): ...").
  [[nodiscard]] static Result<LegalityTable> parse(std::string_view text);
  [[nodiscard]] static const LegalityTable& builtIn();

  /// The rule of an argument of "aten::gather", "aten::max.dim", ...; a row of the overload comes
  /// before one of the packet, and an in-place operator has the rules of the other. nullptr: any
  /// value will do.
  [[nodiscard]] const LegalityRule* find(std::string_view op, std::string_view argument) const;
  [[nodiscard]] const std::vector<LegalityRule>& rules() const { return rules_; }

 private:
  std::vector<LegalityRule> rules_;
  std::map<std::pair<std::string, std::string>, std::size_t, std::less<>> index_;
};

/// The rule with the numbers of one call. An Error when a size or argument that it needs is unknown
/// or a dimension is out of range.
[[nodiscard]] Result<Legality> resolve(const LegalityRule& rule, const OperandFacts& facts);

}  // namespace neuroncheck::numerics
