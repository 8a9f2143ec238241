// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/sym_expr.h"
#include "core/sym_parser.h"

namespace neuroncheck {
namespace {

using namespace symbolic;  // NOLINT(google-build-using-namespace): internals of this very class

bool isName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && TextCursor::isNameStart(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return TextCursor::isNameStart(c) || TextCursor::isDigit(c); });
}

class SreprParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Result<SymExprPtr> parse() { return finish(node(0)); }

 private:
  Result<SymExprPtr> node(int depth) {
    NEURONCHECK_TRY_VOID(enter(depth));
    if (cursor_.accept("-")) {
      NEURONCHECK_TRY(SymExprPtr operand, node(depth + 1));
      return SymExpr::makeCall("Mul", {SymExpr::makeInteger(-1), std::move(operand)});
    }
    const std::size_t start = cursor_.position();
    std::string_view head = cursor_.identifier();
    if (head == "S" && cursor_.accept(".")) {
      head = cursor_.identifier();
    }
    if (head.empty()) {
      return cursor_.failHere("expected the name of an expression");
    }
    if (const Constant* constant = constantNamed(head)) {
      if (cursor_.accept("(") && !cursor_.accept(")")) {
        return cursor_.failHere("expected ')'");
      }
      return constant->make();
    }
    if (!cursor_.accept("(")) {
      return cursor_.failHere("expected '('");
    }
    if (head == "Symbol" || head == "Dummy") {
      return symbol();
    }
    if (head == "Integer") {
      NEURONCHECK_TRY(const std::int64_t value, integer());
      return closed(SymExpr::makeInteger(value));
    }
    if (head == "Float") {
      NEURONCHECK_TRY(const std::string_view digits, quoted());
      NEURONCHECK_TRY(const double value, real(digits));
      NEURONCHECK_TRY_VOID(keywords());
      return closed(SymExpr::makeReal(value));
    }
    if (head == "Rational") {
      return rational();
    }
    if (head.size() > kMaxName) {
      cursor_.rewind(start);
      return cursor_.failHere("the name is too long");
    }
    return call(head, depth);
  }

  Result<SymExprPtr> call(std::string_view head, int depth) {
    std::vector<SymExprPtr> args;
    if (cursor_.accept(")")) {
      return SymExpr::makeCall(std::string(head), std::move(args));
    }
    do {
      NEURONCHECK_TRY(SymExprPtr arg, node(depth + 1));
      args.push_back(std::move(arg));
    } while (cursor_.accept(","));
    return closed(SymExpr::makeCall(std::string(head), std::move(args)));
  }

  Result<SymExprPtr> symbol() {
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    NEURONCHECK_TRY(const std::string_view name, quoted());
    if (!isName(name) || constantNamed(name) != nullptr) {
      cursor_.rewind(start);
      return cursor_.failHere("the name of a symbol is not an identifier");
    }
    NEURONCHECK_TRY_VOID(keywords());
    return closed(SymExpr::makeSymbol(std::string(name)));
  }

  Result<SymExprPtr> rational() {
    NEURONCHECK_TRY(const std::int64_t numerator, integer());
    if (!cursor_.accept(",")) {
      return cursor_.failHere("expected ','");
    }
    NEURONCHECK_TRY(const std::int64_t denominator, integer());
    if (denominator == 0) {
      return cursor_.failHere("a fraction has the denominator 0");
    }
    return closed(SymExpr::makeCall(
        "Rational", {SymExpr::makeInteger(numerator), SymExpr::makeInteger(denominator)}));
  }

  Result<SymExprPtr> closed(SymExprPtr expr) {
    if (!cursor_.accept(")")) {
      return cursor_.failHere("expected ')'");
    }
    return expr;
  }

  Result<std::string_view> quoted() {
    cursor_.skipBlanks();
    const char quote = cursor_.peek();
    if (quote != '\'' && quote != '"') {
      return cursor_.failHere("expected a quoted text");
    }
    cursor_.advance();
    const std::size_t length = cursor_.rest().find(quote);
    if (length == std::string_view::npos) {
      return cursor_.failHere("a quoted text does not end");
    }
    const std::string_view text = cursor_.rest().substr(0, length);
    cursor_.advance(length + 1);
    return text;
  }

  // ", positive=True, precision=53": assumptions of sympy, which the shape environment's ranges
  // state better.
  Result<void> keywords() {
    while (cursor_.accept(",")) {
      if (cursor_.identifier().empty() || !cursor_.accept("=")) {
        return cursor_.failHere("expected 'keyword=value'");
      }
      cursor_.skipBlanks();
      if (TextCursor::isDigit(cursor_.peek()) || cursor_.peek() == '-') {
        NEURONCHECK_TRY(const std::int64_t value, integer());
        (void)value;
      } else if (cursor_.identifier().empty()) {
        return cursor_.failHere("expected the value of a keyword");
      }
    }
    return {};
  }
};

}  // namespace

Result<SymExprPtr> SymExpr::parseSrepr(std::string_view text) { return parsed<SreprParser>(text); }

}  // namespace neuroncheck
