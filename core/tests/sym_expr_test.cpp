// SPDX-License-Identifier: Apache-2.0
#include "core/sym_expr.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SymExprPtr srepr(std::string_view text) {
  auto parsed = SymExpr::parseSrepr(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().text());
  return parsed ? *parsed : SymExpr::makeInteger(0);
}

SymExprPtr infix(std::string_view text) {
  auto parsed = SymExpr::parseInfix(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().text());
  return parsed ? *parsed : SymExpr::makeInteger(0);
}

std::string symbol(const std::string& name) {
  return "Symbol('" + name + "', positive=True, integer=True)";
}

TEST(SymExpr, PrintsWhatExportedProgramsHold) {
  const std::string s21 = symbol("s21");
  const std::string s77 = symbol("s77");
  const std::vector<std::pair<std::string, std::string>> cases{
      {s77, "s77"},
      {"Symbol('u0', integer=True)", "u0"},
      {"Symbol('zuf0')", "zuf0"},
      {"Integer(-1)", "-1"},
      {"Float('1.0', precision=53)", "1.0"},
      {"Rational(1, 2)", "1/2"},
      {"Half()", "1/2"},
      {"Mul(" + s21 + ", " + s77 + ")", "s21*s77"},
      {"Mul(" + s77 + ", " + s21 + ")", "s21*s77"},
      {"Add(" + s77 + ", Integer(1))", "s77 + 1"},
      {"Add(Integer(1), " + s77 + ")", "s77 + 1"},
      {"Add(Mul(Integer(2), " + s77 + "), Integer(-1))", "2*s77 - 1"},
      {"Mul(Integer(-1), " + s77 + ")", "-s77"},
      {"Mul(Rational(1, 2), " + s77 + ")", "s77/2"},
      {"Mul(Rational(3, 2), " + s21 + ", Pow(" + s77 + ", Integer(-1)))", "3*s21/(2*s77)"},
      {"Pow(" + s77 + ", Integer(2))", "s77**2"},
      {"Pow(" + s77 + ", Integer(-1))", "1/s77"},
      {"Pow(Integer(2), " + s77 + ")", "2**s77"},
      {"Max(" + s77 + ", Integer(1))", "Max(1, s77)"},
      {"Min(Integer(8), " + s77 + ", " + s21 + ")", "Min(8, s21, s77)"},
      {"FloorDiv(" + s77 + ", Integer(2))", "(s77//2)"},
      {"FloorDiv(Add(" + s77 + ", Integer(1)), Integer(2))", "((s77 + 1)//2)"},
      {"Add(FloorDiv(" + s21 + ", Integer(2)), Mod(" + s77 + ", Integer(3)))",
       "(s21//2) + Mod(s77, 3)"},
      {"ModularIndexing(" + s77 + ", Integer(2), Integer(3))", "ModularIndexing(s77, 2, 3)"},
      {"GreaterThan(Symbol('u0', integer=True), Integer(1))", "u0 >= 1"},
      {"StrictLessThan(" + s77 + ", Integer(9))", "s77 < 9"},
      {"Equality(" + s77 + ", Integer(9))", "Eq(s77, 9)"},
      {"Unequality(" + s77 + ", Integer(9))", "Ne(s77, 9)"},
      {"And(GreaterThan(" + s77 + ", Integer(2)), LessThan(" + s77 + ", Integer(9)))",
       "(s77 <= 9) & (s77 >= 2)"},
      {"Not(Equality(" + s77 + ", Integer(9)))", "~Eq(s77, 9)"},
      {"true", "True"},
      {"BooleanFalse()", "False"},
      {"-int_oo", "-int_oo"},
      {"TruncToInt(IntTrueDiv(" + s77 + ", Integer(2)))", "TruncToInt(IntTrueDiv(s77, 2))"},
      {"Where(Equality(" + s77 + ", One()), Integer(0), " + s77 + ")", "Where(Eq(s77, 1), 0, s77)"},
  };
  for (const auto& [text, expected] : cases) {
    const SymExprPtr expr = srepr(text);
    EXPECT_EQ(expr->str(), expected);
    EXPECT_EQ(infix(expected)->str(), expected);
  }
}

TEST(SymExpr, EqualArithmeticPrintsEqually) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"s0 + s0", "2*s0"},
      {"s0 - s0", "0"},
      {"s1*s0 + s0*s1", "2*s0*s1"},
      {"2*(s0 + 1) - 2", "2*s0"},
      {"(s0 + 1)*(s0 - 1)", "s0**2 - 1"},
      {"(s0 + s1)**2", "s0**2 + 2*s0*s1 + s1**2"},
      {"s0*s0*s0", "s0**3"},
      {"-(s0 - s1)", "-s0 + s1"},
      {"s0/2 + s0/2", "s0"},
      {"4*s0/6", "2*s0/3"},
      {"s0*(1/s1)", "s0/s1"},
      {"1/(1/s0)", "s0"},
      {"Max(s1, Max(2, s0, s1), 1)", "Max(2, s0, s1)"},
      {"Min(3, 2)", "2"},
      {"Max(s0)", "s0"},
      {"((s0*2)//(1 + 1))", "((2*s0)//2)"},
      {"s0 == 1 + 1", "Eq(s0, 2)"},
      {"(s1 > 2) & (s0 > 1) & (s1 > 2)", "(s0 > 1) & (s1 > 2)"},
      {"s0*0", "0"},
      {"s0**0", "1"},
      {"2**3**2", "512"},
      {"-2**2", "-4"},
      {"7 % s0", "Mod(7, s0)"},
      {"s0 // s1 // 2", "((s0//s1)//2)"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"s0 - 9223372036854775808", "s0 - 9223372036854775808"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(infix(text)->str(), expected) << text;
  }
}

TEST(SymExpr, KeepsWhatItCannotCompute) {
  // Beyond 64 bits the call stays as it is, and its text still reads back to itself.
  for (const std::string_view text :
       {"Mul(2, 9223372036854775807)", "Add(1, 9223372036854775807)", "2**64", "s0**100",
        "(s0 + s1)**(-1/2)", "Mul(3, 2**64, s0)"}) {
    const std::string once = infix(text)->str();
    EXPECT_EQ(infix(once)->str(), once) << text;
  }
  EXPECT_EQ(infix("2**64")->str(), "2**64");
  // x/x is not 1 where x is 0.
  EXPECT_EQ(infix("s0/s0")->str(), "s0/s0");
}

TEST(SymExpr, DoesNotDistributeLargeProducts) {
  const std::string sum = "(a + b + c + d + e + f + g + h + i)";
  const std::string text = sum + "*" + sum;
  const std::string once = infix(text)->str();
  EXPECT_EQ(once, sum + "**2");
  EXPECT_EQ(infix(once)->str(), once);
}

TEST(SymExpr, KnowsSymbolsAndUnbackedOnes) {
  const SymExprPtr expr = infix("s77*u0 + Max(1, s0)");
  EXPECT_THAT(expr->symbols(), ElementsAre("s0", "s77", "u0"));
  EXPECT_TRUE(expr->isUnbacked());
  EXPECT_TRUE(infix("zuf12")->isUnbacked());
  for (const std::string_view backed : {"s0", "u", "zuf", "u0x", "unit", "zf0"}) {
    EXPECT_FALSE(infix(backed)->isUnbacked()) << backed;
  }
}

std::optional<std::int64_t> at(std::string_view text, std::int64_t s0) {
  return infix(text)->evaluate(
      [s0](std::string_view name) { return name == "s0" ? std::optional(s0) : std::nullopt; });
}

TEST(SymExpr, EvaluatesExactly) {
  EXPECT_EQ(at("2*s0 - 1", 5), 9);
  EXPECT_EQ(at("(s0//2)", -3), -2);
  EXPECT_EQ(at("Mod(s0, 4)", 7), 3);
  EXPECT_EQ(at("CeilDiv(s0, 2)", 7), 4);
  EXPECT_EQ(at("CleanDiv(s0, 2)", 8), 4);
  EXPECT_EQ(at("CleanDiv(s0, 2)", 7), std::nullopt);
  EXPECT_EQ(at("ModularIndexing(s0, 3, 2)", 10), 1);
  EXPECT_EQ(at("s0/2", 8), 4);
  EXPECT_EQ(at("s0/2", 7), std::nullopt);
  EXPECT_EQ(at("TruncToInt(s0/2)", -7), -3);
  EXPECT_EQ(at("RoundToInt(s0/2)", 5), 2);
  EXPECT_EQ(at("RoundToInt(s0/2)", 7), 4);
  EXPECT_EQ(at("TruncToInt(1.5*s0)", 3), 4);
  EXPECT_EQ(at("Where(s0 > 3, 10, 20)", 4), 10);
  EXPECT_EQ(at("Max(1, s0) + Min(1, s0)", -2), -1);
  EXPECT_EQ(at("(s0 >= 1) & (s0 != 3)", 2), 1);
  EXPECT_EQ(at("~(s0 >= 1) | False", 2), 0);
  EXPECT_EQ(at("s0**3", -2), -8);
  EXPECT_EQ(at("s1", 1), std::nullopt);
  EXPECT_EQ(at("1/s0", 0), std::nullopt);
  EXPECT_EQ(at("(1//s0)", 0), std::nullopt);
  EXPECT_EQ(at("s0*s0", std::numeric_limits<std::int64_t>::max()), std::nullopt);
  EXPECT_EQ(at("s0 + 1", std::numeric_limits<std::int64_t>::max()), std::nullopt);
  EXPECT_EQ(at("IsNonOverlappingAndDenseIndicator(s0, 1)", 1), std::nullopt);
  EXPECT_EQ(at("Mod(s0)", 1), std::nullopt);
}

TEST(SymExpr, BoundsByIntervals) {
  const SymRanges ranges{{"s0", {2, 10}}, {"s1", {0, std::nullopt}}, {"u0", {}}};
  const auto bounds = [&ranges](std::string_view text) { return infix(text)->bounds(ranges); };
  using Range = SymRange;
  EXPECT_EQ(bounds("s0"), (Range{2, 10}));
  EXPECT_EQ(bounds("u0"), (Range{}));
  EXPECT_EQ(bounds("unknown"), (Range{}));
  EXPECT_EQ(bounds("2*s0 - 1"), (Range{3, 19}));
  EXPECT_EQ(bounds("-s0"), (Range{-10, -2}));
  EXPECT_EQ(bounds("s0*s1"), (Range{0, std::nullopt}));
  EXPECT_EQ(bounds("s0 - s1"), (Range{std::nullopt, 10}));
  EXPECT_EQ(bounds("(s0//3)"), (Range{0, 3}));
  EXPECT_EQ(bounds("CeilDiv(s0, 3)"), (Range{1, 4}));
  EXPECT_EQ(bounds("Mod(s1, 4)"), (Range{0, 3}));
  EXPECT_EQ(bounds("Mod(s0, 32)"), (Range{2, 10}));
  EXPECT_EQ(bounds("Max(s1, s0)"), (Range{2, std::nullopt}));
  EXPECT_EQ(bounds("Min(s1, s0)"), (Range{0, 10}));
  EXPECT_EQ(bounds("s0**2"), (Range{4, 100}));
  EXPECT_EQ(bounds("(s0 - 5)**2"), (Range{0, 25}));
  EXPECT_EQ(bounds("s0 >= 2"), (Range{1, 1}));
  EXPECT_EQ(bounds("s0 > 10"), (Range{0, 0}));
  EXPECT_EQ(bounds("s0 > 5"), (Range{0, 1}));
  EXPECT_EQ(bounds("Eq(s0, 11)"), (Range{0, 0}));
  EXPECT_EQ(bounds("Where(s0 > 5, 1, s0)"), (Range{1, 10}));
  EXPECT_EQ(bounds("Piecewise(s0)"), (Range{}));
  EXPECT_EQ(bounds("9223372036854775807*s0"),
            (Range{std::numeric_limits<std::int64_t>::max(), std::nullopt}));
}

TEST(SymExpr, RefusesOtherSreprAndNamesTheColumn) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "column 1: expected the name"},
      {"Add(", "column 5: expected the name"},
      {"Add(Integer(1)", "column 15: expected ')'"},
      {"Integer(99999999999999999999)", "column 9: the integer does not fit 64 bits"},
      {"Integer(x)", "column 9: expected an integer"},
      {"Symbol(s0)", "column 8: expected a quoted text"},
      {"Symbol('s0", "column 9: a quoted text does not end"},
      {"Symbol('s0 + 1')", "column 8: the name of a symbol is not an identifier"},
      {"Symbol('True')", "column 8: the name of a symbol is not an identifier"},
      {"Symbol('s0', positive)", "expected 'keyword=value'"},
      {"Float('abc')", "expected a finite number"},
      {"Rational(1, 0)", "the denominator 0"},
      {"Integer(1) Integer(2)", "column 12: text after the end"},
      {"s0", "column 3: expected '('"},
      {"__import__('os').system('x')", "column 12: expected the name"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = SymExpr::parseSrepr(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().text(), HasSubstr(message)) << text;
  }
}

TEST(SymExpr, RefusesOtherInfix) {
  for (const std::string_view text :
       {"", "s0 +", "(s0", "s0)", "s0 s1", "Max(s0", "Max(s0,)", "1.5.5", "99999999999999999999",
        "s0 @ 2", "**2", "1e999", "s0 >", "'a'"}) {
    const auto parsed = SymExpr::parseInfix(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().text(), HasSubstr("column ")) << text;
  }
}

std::string repeated(std::string_view part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += part;
  }
  return out;
}

TEST(SymExpr, BoundsHostileText) {
  for (const std::string& text : {repeated("Not(", 5000), repeated("-", 60000)}) {
    EXPECT_THAT(SymExpr::parseSrepr(text).error().text(), HasSubstr("nested too deeply"));
  }
  for (const std::string& text : {repeated("(", 60000), repeated("-", 60000), repeated("~", 60000),
                                  repeated("2**", 20000), "1" + repeated("//1", 20000)}) {
    EXPECT_THAT(SymExpr::parseInfix(text).error().text(), HasSubstr("nested too deeply"));
  }
  EXPECT_THAT(SymExpr::parseInfix(std::string(70000, '1')).error().text(),
              HasSubstr("longer than 65536 bytes"));
}

// A product that would double its text at every level: the text must stay linear in the input.
TEST(SymExpr, BoundsTheWorkOfPrinting) {
  std::string text = "(a + b + c + d + e + f + g + h + i)**9";
  for (int i = 0; i < 200; ++i) {
    text = "(x" + std::to_string(i) + " + y)*(" + text + ")";
  }
  const std::string once = infix(text)->str();
  EXPECT_LT(once.size(), 40U * text.size());
  EXPECT_EQ(infix(once)->str(), once);
}

TEST(SymInt, ComparesByCanonicalText) {
  EXPECT_EQ(SymInt(4), SymInt(4));
  EXPECT_FALSE(SymInt(4) == SymInt(5));
  EXPECT_EQ(SymInt(infix("s0*2"), 8), SymInt(infix("s0 + s0")));
  EXPECT_FALSE(SymInt(infix("s0")) == SymInt(infix("s1")));
  EXPECT_EQ(SymInt(infix("2 + 2")), SymInt(4));
  EXPECT_FALSE(SymInt(infix("s0"), 4) == SymInt(4));
  EXPECT_EQ(SymInt(infix("1 + s0")).str(), "s0 + 1");
}

}  // namespace
}  // namespace neuroncheck
