// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/sym_expr.h"
#include "core/text_cursor.h"

namespace neuroncheck {
namespace {

constexpr std::size_t kMaxText = 65536;
constexpr int kMaxDepth = 256;
constexpr std::size_t kMaxNodes = 100000;
constexpr std::size_t kMaxName = 256;

// What both text forms share: limits, numbers and names.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : cursor_(text) {}

 protected:
  Result<void> enter(int depth) {
    if (depth > kMaxDepth) {
      return cursor_.failHere("the expression is nested too deeply");
    }
    if (++nodes_ > kMaxNodes) {
      return cursor_.failHere("the expression has too many parts");
    }
    return {};
  }

  Result<SymExprPtr> finish(Result<SymExprPtr> expr) {
    cursor_.skipBlanks();
    if (expr && !cursor_.atEnd()) {
      return cursor_.failHere("text after the end of the expression");
    }
    return expr;
  }

  Result<std::int64_t> integer() {
    cursor_.skipBlanks();
    const std::string_view rest = cursor_.rest();
    std::int64_t value = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
      return cursor_.failHere("the integer does not fit 64 bits");
    }
    if (read.ec != std::errc()) {
      return cursor_.failHere("expected an integer");
    }
    cursor_.advance(static_cast<std::size_t>(read.ptr - rest.data()));
    return value;
  }

  Result<double> real(std::string_view text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (!whole || !std::isfinite(value)) {
      return cursor_.failHere("expected a finite number");
    }
    return value;
  }

  TextCursor cursor_;

 private:
  std::size_t nodes_ = 0;
};

struct Constant {
  std::string_view name;
  SymExprPtr (*make)();
};
// Names that stand for a value, bare or with empty parentheses.
constexpr std::array kConstants{
    Constant{"true", [] { return SymExpr::makeBool(true); }},
    Constant{"True", [] { return SymExpr::makeBool(true); }},
    Constant{"BooleanTrue", [] { return SymExpr::makeBool(true); }},
    Constant{"false", [] { return SymExpr::makeBool(false); }},
    Constant{"False", [] { return SymExpr::makeBool(false); }},
    Constant{"BooleanFalse", [] { return SymExpr::makeBool(false); }},
    Constant{"Zero", [] { return SymExpr::makeInteger(0); }},
    Constant{"One", [] { return SymExpr::makeInteger(1); }},
    Constant{"NegativeOne", [] { return SymExpr::makeInteger(-1); }},
    Constant{"Half",
             [] {
               return SymExpr::makeCall("Rational",
                                        {SymExpr::makeInteger(1), SymExpr::makeInteger(2)});
             }},
    Constant{"int_oo", [] { return SymExpr::makeCall("int_oo", {}); }},
    Constant{"IntInfinity", [] { return SymExpr::makeCall("int_oo", {}); }},
    Constant{"oo", [] { return SymExpr::makeCall("oo", {}); }},
    Constant{"zoo", [] { return SymExpr::makeCall("zoo", {}); }},
    Constant{"nan", [] { return SymExpr::makeCall("nan", {}); }},
};

const Constant* constantNamed(std::string_view name) {
  const auto* found = std::find_if(kConstants.begin(), kConstants.end(),
                                   [name](const Constant& c) { return c.name == name; });
  return found == kConstants.end() ? nullptr : found;
}

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

struct Spelling {
  std::string_view shown;
  std::string_view head;
};
// Two-character operators first, so that ">=" is not read as ">".
constexpr std::array<Spelling, 6> kComparisons{{{">=", "GreaterThan"},
                                                {"<=", "LessThan"},
                                                {"==", "Equality"},
                                                {"!=", "Unequality"},
                                                {">", "StrictGreaterThan"},
                                                {"<", "StrictLessThan"}}};
constexpr std::array<Spelling, 6> kShortHeads{{{"Eq", "Equality"},
                                               {"Ne", "Unequality"},
                                               {"Ge", "GreaterThan"},
                                               {"Le", "LessThan"},
                                               {"Gt", "StrictGreaterThan"},
                                               {"Lt", "StrictLessThan"}}};

class InfixParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Result<SymExprPtr> parse() { return finish(disjunction(0)); }

 private:
  Result<SymExprPtr> disjunction(int depth) {
    NEURONCHECK_TRY(SymExprPtr first, conjunction(depth));
    return joined(std::move(first), "|", "Or", depth, &InfixParser::conjunction);
  }

  Result<SymExprPtr> conjunction(int depth) {
    NEURONCHECK_TRY(SymExprPtr first, negation(depth));
    return joined(std::move(first), "&", "And", depth, &InfixParser::negation);
  }

  Result<SymExprPtr> joined(SymExprPtr first, std::string_view mark, std::string_view head,
                            int depth, Result<SymExprPtr> (InfixParser::*operand)(int)) {
    if (!cursor_.accept(mark)) {
      return first;
    }
    std::vector<SymExprPtr> args;
    args.push_back(std::move(first));
    do {
      NEURONCHECK_TRY(SymExprPtr next, (this->*operand)(depth));
      args.push_back(std::move(next));
    } while (cursor_.accept(mark));
    return SymExpr::makeCall(std::string(head), std::move(args));
  }

  Result<SymExprPtr> negation(int depth) {
    NEURONCHECK_TRY_VOID(enter(depth));
    if (cursor_.accept("~")) {
      NEURONCHECK_TRY(SymExprPtr operand, negation(depth + 1));
      return SymExpr::makeCall("Not", {std::move(operand)});
    }
    return comparison(depth);
  }

  Result<SymExprPtr> comparison(int depth) {
    NEURONCHECK_TRY(SymExprPtr left, sum(depth));
    const auto* found = std::find_if(kComparisons.begin(), kComparisons.end(),
                                     [this](const Spelling& s) { return cursor_.accept(s.shown); });
    if (found == kComparisons.end()) {
      return left;
    }
    NEURONCHECK_TRY(SymExprPtr right, sum(depth));
    return SymExpr::makeCall(std::string(found->head), {std::move(left), std::move(right)});
  }

  Result<SymExprPtr> sum(int depth) {
    std::vector<SymExprPtr> terms;
    bool negative = cursor_.accept("-");
    do {
      NEURONCHECK_TRY(SymExprPtr term, product(negative, depth));
      terms.push_back(std::move(term));
      negative = cursor_.accept("-");
    } while (negative || cursor_.accept("+"));
    if (terms.size() == 1) {
      return std::move(terms.front());
    }
    return SymExpr::makeCall("Add", std::move(terms));
  }

  Result<SymExprPtr> product(bool negative, int depth) {
    SymExprPtr out;
    if (negative && acceptLowestInteger()) {
      out = SymExpr::makeInteger(std::numeric_limits<std::int64_t>::min());
      negative = false;
    } else {
      NEURONCHECK_TRY(out, factor(depth));
    }
    if (negative) {
      out = negated(std::move(out));
    }
    std::vector<SymExprPtr> factors;
    factors.push_back(std::move(out));
    while (true) {
      std::string_view head;
      cursor_.skipBlanks();
      if (cursor_.accept("//")) {
        head = "FloorDiv";
      } else if (cursor_.accept("%")) {
        head = "Mod";
      } else if (cursor_.accept("/")) {
        head = "Pow";
      } else if (cursor_.peek() == '*' && !cursor_.rest().starts_with("**")) {
        cursor_.advance();
      } else {
        return collapsed(std::move(factors));
      }
      NEURONCHECK_TRY(SymExprPtr next, factor(depth));
      if (head == "Pow") {
        next = SymExpr::makeCall("Pow", {std::move(next), SymExpr::makeInteger(-1)});
      } else if (!head.empty()) {
        next = SymExpr::makeCall(std::string(head),
                                 {collapsed(std::exchange(factors, {})), std::move(next)});
        // A chain "a//b//c" nests to the left without nesting the parser.
        NEURONCHECK_TRY_VOID(enter(depth + ++chained_));
      }
      factors.push_back(std::move(next));
    }
  }

  static SymExprPtr collapsed(std::vector<SymExprPtr> factors) {
    return factors.size() == 1 ? std::move(factors.front())
                               : SymExpr::makeCall("Mul", std::move(factors));
  }

  static SymExprPtr negated(SymExprPtr operand) {
    if (operand->kind() == SymExpr::Kind::Integer) {
      return SymExpr::makeInteger(-operand->integer());
    }
    if (operand->kind() == SymExpr::Kind::Real) {
      return SymExpr::makeReal(-operand->real());
    }
    return SymExpr::makeCall("Mul", {SymExpr::makeInteger(-1), std::move(operand)});
  }

  // The magnitude of the lowest integer has no positive twin, so it is read together with its sign.
  bool acceptLowestInteger() {
    constexpr std::string_view kDigits = "9223372036854775808";
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    if (!cursor_.accept(kDigits)) {
      return false;
    }
    const char next = cursor_.peek();
    if (TextCursor::isDigit(next) || next == '.' || next == 'e' ||
        cursor_.rest().starts_with("**")) {
      cursor_.rewind(start);
      return false;
    }
    return true;
  }

  Result<SymExprPtr> factor(int depth) {
    NEURONCHECK_TRY_VOID(enter(depth));
    if (cursor_.accept("-")) {
      if (acceptLowestInteger()) {
        return SymExpr::makeInteger(std::numeric_limits<std::int64_t>::min());
      }
      NEURONCHECK_TRY(SymExprPtr operand, factor(depth + 1));
      return negated(std::move(operand));
    }
    NEURONCHECK_TRY(SymExprPtr base, primary(depth));
    if (!cursor_.accept("**")) {
      return base;
    }
    NEURONCHECK_TRY(SymExprPtr exponent, factor(depth + 1));
    return SymExpr::makeCall("Pow", {std::move(base), std::move(exponent)});
  }

  Result<SymExprPtr> primary(int depth) {
    if (cursor_.accept("(")) {
      NEURONCHECK_TRY(SymExprPtr inner, disjunction(depth + 1));
      if (!cursor_.accept(")")) {
        return cursor_.failHere("expected ')'");
      }
      return inner;
    }
    if (TextCursor::isDigit(cursor_.peek())) {
      return number();
    }
    const std::string_view name = cursor_.identifier();
    if (name.empty() || name.size() > kMaxName) {
      return cursor_.failHere("expected a number, a name or '('");
    }
    if (cursor_.peek() == '(') {
      return call(name, depth);
    }
    if (const Constant* constant = constantNamed(name)) {
      return constant->make();
    }
    return SymExpr::makeSymbol(std::string(name));
  }

  Result<SymExprPtr> call(std::string_view name, int depth) {
    (void)cursor_.accept("(");
    std::vector<SymExprPtr> args;
    if (!cursor_.accept(")")) {
      do {
        NEURONCHECK_TRY(SymExprPtr arg, disjunction(depth + 1));
        args.push_back(std::move(arg));
      } while (cursor_.accept(","));
      if (!cursor_.accept(")")) {
        return cursor_.failHere("expected ',' or ')'");
      }
    }
    if (const Constant* constant = constantNamed(name); constant != nullptr && args.empty()) {
      return constant->make();
    }
    const auto* found = std::find_if(kShortHeads.begin(), kShortHeads.end(),
                                     [name](const Spelling& s) { return s.shown == name; });
    return SymExpr::makeCall(std::string(found == kShortHeads.end() ? name : found->head),
                             std::move(args));
  }

  Result<SymExprPtr> number() {
    const std::string_view rest = cursor_.rest();
    std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const bool isReal = length < rest.size() && (rest[length] == '.' || rest[length] == 'e');
    if (!isReal) {
      NEURONCHECK_TRY(const std::int64_t value, integer());
      return SymExpr::makeInteger(value);
    }
    double value = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    length = static_cast<std::size_t>(read.ptr - rest.data());
    NEURONCHECK_TRY(value, real(rest.substr(0, length)));
    cursor_.advance(length);
    return SymExpr::makeReal(value);
  }

  int chained_ = 0;
};

template <typename Parser>
Result<SymExprPtr> parsed(std::string_view text) {
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

}  // namespace

Result<SymExprPtr> SymExpr::parseSrepr(std::string_view text) { return parsed<SreprParser>(text); }

Result<SymExprPtr> SymExpr::parseInfix(std::string_view text) { return parsed<InfixParser>(text); }

}  // namespace neuroncheck
