// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "core/sym_expr.h"
#include "core/sym_parser.h"

namespace neuroncheck {
namespace {

using namespace symbolic;  // NOLINT(google-build-using-namespace): internals of this very class

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

}  // namespace

Result<SymExprPtr> SymExpr::parseInfix(std::string_view text) { return parsed<InfixParser>(text); }

}  // namespace neuroncheck
