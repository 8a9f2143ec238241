// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "core/sym_expr.h"
#include "core/text_cursor.h"

/// What the two parsers of symbolic expressions share: limits, numbers and names.
namespace neuroncheck::symbolic {

inline constexpr std::size_t kMaxText = 65536;
inline constexpr int kMaxDepth = 256;
inline constexpr std::size_t kMaxNodes = 100000;
inline constexpr std::size_t kMaxName = 256;

/// A name that stands for a value, bare or with empty parentheses: "true", "One", "int_oo".
struct Constant {
  std::string_view name;
  SymExprPtr (*make)();
};
/// Null when the name is not one of them.
[[nodiscard]] const Constant* constantNamed(std::string_view name);

/// Base of the two parsers.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : cursor_(text) {}

 protected:
  /// Counts one node at this depth; an Error when a limit is passed.
  [[nodiscard]] Result<void> enter(int depth);
  /// An Error when text is left behind a good expression.
  [[nodiscard]] Result<SymExprPtr> finish(Result<SymExprPtr> expr);
  [[nodiscard]] Result<std::int64_t> integer();
  /// All of `text` as a finite number.
  [[nodiscard]] Result<double> real(std::string_view text) const;

  TextCursor cursor_;

 private:
  std::size_t nodes_ = 0;
};

/// Runs a parser over a text of bounded length and says in the error what was read.
template <typename Parser>
[[nodiscard]] Result<SymExprPtr> parsed(std::string_view text) {
  if (text.size() > kMaxText) {
    return inputError("a symbolic expression is longer than " + std::to_string(kMaxText) +
                      " bytes");
  }
  auto out = Parser(text).parse();
  if (!out) {
    return tl::unexpected(std::move(out).error().within("symbolic expression"));
  }
  return out;
}

}  // namespace neuroncheck::symbolic
