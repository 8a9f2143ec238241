// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace neuroncheck {

class SymExpr;
using SymExprPtr = std::shared_ptr<const SymExpr>;

/// Inclusive bounds of a symbol or expression; a missing end is unbounded.
struct SymRange {
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  bool operator==(const SymRange&) const = default;
};
using SymRanges = std::map<std::string, SymRange, std::less<>>;

/// A symbolic size, stride, scalar or condition, as PyTorch's shape environment keeps it (sympy).
/// Immutable; shared freely.
///
/// Two texts are read: sympy's `srepr` as exported programs store it ("Add(Mul(Integer(2),
/// Symbol('s77', positive=True, integer=True)), Integer(-1))"), and our own canonical infix text
/// ("2*s77 - 1"), which `str()` prints and which parses back to an equal expression. Input may be
/// hostile: nesting, length and node count are bounded.
class SymExpr {
 public:
  enum class Kind : std::uint8_t { Integer, Real, Bool, Symbol, Call };

  [[nodiscard]] static Result<SymExprPtr> parseSrepr(std::string_view text);
  [[nodiscard]] static Result<SymExprPtr> parseInfix(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// The value of an Integer; 0 or 1 for a Bool.
  [[nodiscard]] std::int64_t integer() const { return integer_; }
  [[nodiscard]] double real() const { return real_; }
  /// Symbol name, or the head of a call in sympy's spelling ("Add", "Mul", "Pow", "Max",
  /// "FloorDiv", "GreaterThan", ...).
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] const std::vector<SymExprPtr>& args() const { return args_; }

  /// Canonical infix text: sums and products flattened and sorted, so that equal arithmetic in
  /// another order prints equally.
  [[nodiscard]] std::string str() const;
  /// Names of all symbols within. Unbacked ones (`u0`, `zuf0`) depend on data.
  [[nodiscard]] std::set<std::string> symbols() const;
  [[nodiscard]] bool isUnbacked() const;
  /// Exact integer value when every symbol is bound and no step overflows or divides unevenly;
  /// booleans count as 0 and 1.
  [[nodiscard]] std::optional<std::int64_t> evaluate(
      const std::function<std::optional<std::int64_t>(std::string_view)>& value) const;
  /// Bounds that hold for all values of the symbols within `ranges` (interval arithmetic; unknown
  /// heads give no bounds).
  [[nodiscard]] SymRange bounds(const SymRanges& ranges) const;

  /// Factories for readers and tests.
  [[nodiscard]] static SymExprPtr makeInteger(std::int64_t value);
  [[nodiscard]] static SymExprPtr makeReal(double value);
  [[nodiscard]] static SymExprPtr makeBool(bool value);
  [[nodiscard]] static SymExprPtr makeSymbol(std::string name);
  [[nodiscard]] static SymExprPtr makeCall(std::string head, std::vector<SymExprPtr> args);

 private:
  Kind kind_ = Kind::Integer;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string head_;
  std::vector<SymExprPtr> args_;
};

/// An integer that may be symbolic: a size, stride, offset or scalar argument.
struct SymInt {
  /// The value; for a symbolic one the traced hint, when `hasHint`.
  std::int64_t value = 0;
  bool hasHint = false;
  /// Null for a plain integer.
  SymExprPtr expr;

  SymInt() = default;
  SymInt(std::int64_t v) : value(v) {}  // NOLINT(google-explicit-constructor): a size is an integer
  explicit SymInt(SymExprPtr e, std::optional<std::int64_t> hint = std::nullopt)
      : value(hint.value_or(0)), hasHint(hint.has_value()), expr(std::move(e)) {}

  [[nodiscard]] bool isSymbolic() const { return expr != nullptr; }
  /// Decimal digits, or the canonical text of the expression.
  [[nodiscard]] std::string str() const { return expr ? expr->str() : std::to_string(value); }
  /// Equal integers, or equal canonical texts (hints are not compared).
  bool operator==(const SymInt& other) const;
};

}  // namespace neuroncheck
