// SPDX-License-Identifier: Apache-2.0
#include "core/sym_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace neuroncheck::symbolic {
namespace {

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

}  // namespace

const Constant* constantNamed(std::string_view name) {
  const auto* found = std::find_if(kConstants.begin(), kConstants.end(),
                                   [name](const Constant& c) { return c.name == name; });
  return found == kConstants.end() ? nullptr : found;
}

Result<void> ExpressionParser::enter(int depth) {
  if (depth > kMaxDepth) {
    return cursor_.failHere("the expression is nested too deeply");
  }
  if (++nodes_ > kMaxNodes) {
    return cursor_.failHere("the expression has too many parts");
  }
  return {};
}

Result<SymExprPtr> ExpressionParser::finish(Result<SymExprPtr> expr) {
  cursor_.skipBlanks();
  if (expr && !cursor_.atEnd()) {
    return cursor_.failHere("text after the end of the expression");
  }
  return expr;
}

Result<std::int64_t> ExpressionParser::integer() {
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

Result<double> ExpressionParser::real(std::string_view text) const {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(value)) {
    return cursor_.failHere("expected a finite number");
  }
  return value;
}

}  // namespace neuroncheck::symbolic
