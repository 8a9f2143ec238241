// SPDX-License-Identifier: Apache-2.0
// Laws of symbolic expressions: printing keeps the value, printing is idempotent through the
// parser, order does not matter, and bounds hold for every value within the ranges.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/sym_expr.h"

namespace neuroncheck {
namespace {

constexpr std::array<const char*, 4> kNames{"s0", "s1", "s77", "u0"};
using Point = std::array<std::int64_t, kNames.size()>;

template <typename T, std::size_t N>
T pick(const std::array<T, N>& from) {
  return from.at(*rc::gen::inRange<std::size_t>(0, N));
}

SymExprPtr randomLeaf() {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return SymExpr::makeInteger(*rc::gen::inRange(-4, 12));
    case 1:
      return SymExpr::makeCall("Rational", {SymExpr::makeInteger(*rc::gen::inRange(-3, 4)),
                                            SymExpr::makeInteger(*rc::gen::inRange(1, 4))});
    default:
      return SymExpr::makeSymbol(pick(kNames));
  }
}

SymExprPtr randomExpr(int depth) {
  if (depth <= 0) {
    return randomLeaf();
  }
  static constexpr std::array<const char*, 6> kFolds{"Add", "Mul", "Add", "Mul", "Max", "Min"};
  static constexpr std::array<const char*, 10> kPairs{
      "FloorDiv",  "Mod",      "CeilDiv",        "GreaterThan", "StrictGreaterThan",
      "PythonMod", "CleanDiv", "StrictLessThan", "Equality",    "IntTrueDiv"};
  static constexpr std::array<const char*, 4> kJoins{"And", "Or", "And", "Or"};
  const auto next = [depth] { return randomExpr(depth - 1 - *rc::gen::inRange(0, 2)); };
  const auto some = [&next] {
    std::vector<SymExprPtr> args(*rc::gen::inRange<std::size_t>(1, 4));
    std::generate(args.begin(), args.end(), next);
    return args;
  };
  switch (*rc::gen::inRange(0, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return SymExpr::makeCall(pick(kFolds), some());
    case 6:
      return SymExpr::makeCall("Pow", {next(), SymExpr::makeInteger(*rc::gen::inRange(-2, 4))});
    case 7:
      return SymExpr::makeCall("Where", {next(), next(), next()});
    case 8:
      return SymExpr::makeCall(pick(kJoins), some());
    case 9:
      return SymExpr::makeCall("Not", {next()});
    default:
      return SymExpr::makeCall(pick(kPairs), {next(), next()});
  }
}

std::optional<std::int64_t> valueAt(const SymExpr& expr, const Point& point) {
  return expr.evaluate([&point](std::string_view name) -> std::optional<std::int64_t> {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (name == kNames.at(i)) {
        return point.at(i);
      }
    }
    return std::nullopt;
  });
}

Point randomPoint(int low, int high) {
  Point out{};
  std::generate(out.begin(), out.end(), [=] { return *rc::gen::inRange(low, high); });
  return out;
}

SymExprPtr reread(const SymExpr& expr) {
  const std::string text = expr.str();
  auto parsed = SymExpr::parseInfix(text);
  if (!parsed) {
    RC_FAIL(text + ": " + parsed.error().text());
  }
  return *parsed;
}

RC_GTEST_PROP(SymExprLaw, TextReadsBackToItself, ()) {
  const SymExprPtr expr = randomExpr(*rc::gen::inRange(1, 6));
  const std::string once = expr->str();
  const std::string twice = reread(*expr)->str();
  RC_ASSERT(once == twice);
}

// The canonical text may be defined where the original divides by zero, never the other way round.
RC_GTEST_PROP(SymExprLaw, TextKeepsTheValue, ()) {
  const SymExprPtr expr = randomExpr(*rc::gen::inRange(1, 5));
  const SymExprPtr canonical = reread(*expr);
  for (int i = 0; i < 5; ++i) {
    const Point point = randomPoint(-3, 9);
    const auto before = valueAt(*expr, point);
    if (before) {
      RC_ASSERT(before == valueAt(*canonical, point));
    }
  }
}

RC_GTEST_PROP(SymExprLaw, OrderOfSumsAndProductsDoesNotMatter, ()) {
  std::vector<SymExprPtr> args(*rc::gen::inRange<std::size_t>(2, 5));
  std::generate(args.begin(), args.end(), [] { return randomExpr(2); });
  static constexpr std::array<const char*, 6> kHeads{"Add", "Mul", "Max", "Min", "And", "Or"};
  const std::string head = pick(kHeads);
  const std::string forwards = SymExpr::makeCall(head, args)->str();
  std::reverse(args.begin(), args.end());
  RC_ASSERT(SymExpr::makeCall(head, args)->str() == forwards);
  const std::vector<SymExprPtr> tail(args.begin() + 1, args.end());
  RC_ASSERT(SymExpr::makeCall(head, {args.front(), SymExpr::makeCall(head, tail)})->str() ==
                forwards ||
            tail.size() == 1);
}

// The same polynomial in two shapes: a*(b + c) and a*b + a*c.
RC_GTEST_PROP(SymExprLaw, ProductsDistribute, ()) {
  const auto a = randomLeaf();
  const auto b = randomLeaf();
  const auto c = randomLeaf();
  const auto factored = SymExpr::makeCall("Mul", {a, SymExpr::makeCall("Add", {b, c})});
  const auto spread = SymExpr::makeCall(
      "Add", {SymExpr::makeCall("Mul", {a, b}), SymExpr::makeCall("Mul", {c, a})});
  RC_ASSERT(factored->str() == spread->str());
}

RC_GTEST_PROP(SymExprLaw, BoundsHoldWithinTheRanges, ()) {
  const SymExprPtr expr = randomExpr(*rc::gen::inRange(1, 5));
  const Point low = randomPoint(-3, 4);
  const Point width = randomPoint(0, 6);
  SymRanges ranges;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    ranges[kNames.at(i)] = {low.at(i), low.at(i) + width.at(i)};
  }
  const SymRange bounds = expr->bounds(ranges);
  for (int n = 0; n < 8; ++n) {
    Point point{};
    for (std::size_t i = 0; i < point.size(); ++i) {
      point.at(i) = low.at(i) + *rc::gen::inRange<std::int64_t>(0, width.at(i) + 1);
    }
    const auto value = valueAt(*expr, point);
    if (value) {
      RC_ASSERT(!bounds.min || *bounds.min <= *value);
      RC_ASSERT(!bounds.max || *value <= *bounds.max);
    }
  }
}

// Huge numbers: overflow must widen the bounds, never wrap them.
RC_GTEST_PROP(SymExprLaw, BoundsSurviveOverflow, (std::int64_t a, std::int64_t b)) {
  const SymRanges ranges{{"s0", {std::min(a, b), std::max(a, b)}}};
  const auto s0 = SymExpr::makeSymbol("s0");
  const auto product = SymExpr::makeCall("Mul", {s0, s0, SymExpr::makeInteger(b)});
  const auto back = SymExpr::makeCall("FloorDiv", {product, SymExpr::makeInteger(1000)});
  const SymRange bounds = back->bounds(ranges);
  const auto value =
      back->evaluate([a](std::string_view) -> std::optional<std::int64_t> { return a; });
  if (value) {
    RC_ASSERT(!bounds.min || *bounds.min <= *value);
    RC_ASSERT(!bounds.max || *value <= *bounds.max);
  }
}

// Any bytes give an expression or an error, and never a fault.
RC_GTEST_PROP(SymExprLaw, AnyTextIsAnswered, ()) {
  static constexpr std::array<const char*, 20> kPieces{"Symbol('s0', integer=True)",
                                                       "Add(",
                                                       ")",
                                                       ", ",
                                                       "Integer(2)",
                                                       "-",
                                                       "(",
                                                       "s0",
                                                       "**",
                                                       "*",
                                                       "/",
                                                       "//",
                                                       "%",
                                                       "1",
                                                       "1.5",
                                                       "&",
                                                       "|",
                                                       "~",
                                                       ">=",
                                                       " "};
  std::string text;
  for (int i = *rc::gen::inRange(1, 20); i > 0; --i) {
    text += pick(kPieces);
  }
  for (const auto& parsed : {SymExpr::parseSrepr(text), SymExpr::parseInfix(text)}) {
    if (parsed) {
      RC_ASSERT(reread(**parsed)->str() == (*parsed)->str());
    } else {
      RC_ASSERT(parsed.error().code == ErrorCode::Input);
    }
  }
}

}  // namespace
}  // namespace neuroncheck
