// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "numerics/rules/length.h"

namespace neuroncheck::numerics {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

const LengthOperands& operands() {
  static const LengthOperands all{{
      {"self", TensorSizes{{2, 3, 4}}},
      {"scalar", TensorSizes{{}}},
      {"empty", TensorSizes{{0, 5}}},
      {"huge", TensorSizes{{kMost, kMost}}},
      {"hugeEmpty", TensorSizes{{kMost, kMost, 0}}},
      {"unknown", TensorSizes{{-1, 5}}},
      {"bias", std::monostate{}},
      {"dim", std::int64_t{-1}},
      {"dims", std::vector<std::int64_t>{0, -1}},
      {"all", std::vector<std::int64_t>{}},
      {"kernel", std::vector<std::int64_t>{3}},
      {"size", std::int64_t{7}},
      {"zero", std::int64_t{0}},
      {"tensors", std::vector<TensorSizes>{{{2, 3}}, {{3, 4}}}},
      {"equation", std::string("ij,jk->ik")},
      {"out0", TensorSizes{{2, 4}}},
  }};
  return all;
}

std::string evaluated(std::string_view text) {
  const auto expression = LengthExpression::parse(text);
  if (!expression) {
    return expression.error().message;
  }
  const auto value = expression->evaluate(operands());
  return value ? std::to_string(*value) : value.error().message;
}

std::string printed(std::string_view text) {
  const auto expression = LengthExpression::parse(text);
  return expression ? expression->str() : expression.error().message;
}

TEST(Length, Values) {
  EXPECT_EQ(evaluated("1"), "1");
  EXPECT_EQ(evaluated("numel(self)"), "24");
  EXPECT_EQ(evaluated("numel(self)/numel(out)"), "3");
  EXPECT_EQ(evaluated("numel(self) / numel(out0)"), "3");
  EXPECT_EQ(evaluated("size(self,-1)"), "4");
  EXPECT_EQ(evaluated("size(self, dim)"), "4");
  EXPECT_EQ(evaluated("size(self,dims)"), "8");
  EXPECT_EQ(evaluated("size(self,all)"), "24");
  EXPECT_EQ(evaluated("size(self,bias)"), "24");
  EXPECT_EQ(evaluated("size(scalar,0)+size(scalar,-1)"), "2");
  EXPECT_EQ(evaluated("size"), "7");
  EXPECT_EQ(evaluated("size(self,0)*size"), "14");
  EXPECT_EQ(evaluated("prod(kernel)"), "3");
  EXPECT_EQ(evaluated("prod(kernel,2)"), "9");
  EXPECT_EQ(evaluated("prod(all)"), "1");
  EXPECT_EQ(evaluated("prod(size)"), "7");
  EXPECT_EQ(evaluated("contracted(equation,tensors)"), "3");
  EXPECT_EQ(evaluated("numel(tensors)"), "18");
  EXPECT_EQ(evaluated("max(2,3)+min(2,3)"), "5");
  EXPECT_EQ(evaluated("if(size,1,2)"), "1");
  EXPECT_EQ(evaluated("if(zero,1,2)"), "2");
}

TEST(Length, DivisionRoundsUpAndGroupsToTheLeft) {
  EXPECT_EQ(evaluated("7/2"), "4");
  EXPECT_EQ(evaluated("7/2*2"), "8");
  EXPECT_EQ(evaluated("7/(2*2)"), "2");
  EXPECT_EQ(evaluated("2+3*4"), "14");
  EXPECT_EQ(evaluated("(2+3)*4"), "20");
}

TEST(Length, EmptyTensorsAndNone) {
  EXPECT_EQ(evaluated("numel(empty)"), "0");
  EXPECT_EQ(evaluated("numel(hugeEmpty)"), "0");
  EXPECT_EQ(evaluated("numel(bias)"), "0");
  EXPECT_EQ(evaluated("0/0"), "0");
  EXPECT_EQ(evaluated("numel(empty)/numel(empty)"), "0");
  EXPECT_EQ(evaluated("1/0"), "division by zero");
}

TEST(Length, ErrorsNameThePiece) {
  EXPECT_EQ(evaluated("numel(weight)"), "no argument or output 'weight'");
  EXPECT_EQ(evaluated("numel(dim)"), "'dim' is not a tensor");
  EXPECT_EQ(evaluated("size(bias,0)"), "'bias' is None, not a tensor");
  EXPECT_EQ(evaluated("size(dims,0)"), "'dims' is not a tensor");
  EXPECT_EQ(evaluated("size(self,equation)"), "'equation' is not a dimension");
  EXPECT_EQ(evaluated("size(self,3)"), "size(self, 3) of a tensor of 3 dimensions");
  EXPECT_EQ(evaluated("size(self,-4)"), "size(self, -4) of a tensor of 3 dimensions");
  EXPECT_EQ(evaluated("prod(bias)"), "'bias' is not a list of integers");
  EXPECT_EQ(evaluated("prod(dims)"), "prod(dims): a negative number");
  EXPECT_EQ(evaluated("dim"), "'dim' is negative");
  EXPECT_EQ(evaluated("dims"), "'dims' is not an integer");
  EXPECT_EQ(evaluated("numel(huge)"), "numel(huge): more than 2^63 - 1");
  EXPECT_EQ(evaluated("numel(unknown)"), "numel(unknown): a negative number");
  EXPECT_EQ(evaluated("9223372036854775807+1"), "more than 2^63 - 1");
  EXPECT_EQ(evaluated("9223372036854775807*2"), "more than 2^63 - 1");
  EXPECT_EQ(evaluated("contracted(dims,tensors)"), "'dims' is not a text");
  const auto whole = LengthExpression::parse("1 + size(self, 9)")->evaluate(operands());
  EXPECT_EQ(whole.error().text(), "1 + size(self, 9): size(self, 9) of a tensor of 3 dimensions");
}

TEST(Length, AnUntakenBranchIsNotEvaluated) {
  EXPECT_EQ(evaluated("if(zero,numel(weight),5)"), "5");
  EXPECT_EQ(evaluated("if(1,5,1/0)"), "5");
}

TEST(Length, TextOutsideTheGrammar) {
  EXPECT_EQ(evaluated(""), "column 1: a number, a name or '(' is expected");
  EXPECT_EQ(evaluated("1+"), "column 3: a number, a name or '(' is expected");
  EXPECT_EQ(evaluated("1 2"), "column 3: an operator is expected");
  EXPECT_EQ(evaluated("-1"), "column 1: a number, a name or '(' is expected");
  EXPECT_EQ(evaluated("(1"), "column 3: ')' is expected");
  EXPECT_EQ(evaluated("sum(self)"), "column 5: 'sum' is not a function");
  EXPECT_EQ(evaluated("numel(3)"), "column 7: the name of an argument is expected");
  EXPECT_EQ(evaluated("size(self)"), "column 10: ',' is expected");
  EXPECT_EQ(evaluated("prod(kernel,99)"), "column 15: a count of dimensions is expected");
  EXPECT_EQ(evaluated("if(1,2)"), "column 7: ',' is expected");
  EXPECT_EQ(evaluated("9223372036854775808"), "column 1: an integer of 63 bits is expected");
  EXPECT_NE(evaluated(std::string(100, '(') + "1").find("nested too deeply"), std::string::npos);
}

TEST(Length, PrintsWithTheFewestParentheses) {
  EXPECT_EQ(printed("((1))"), "1");
  EXPECT_EQ(printed("(1+2)+3"), "1 + 2 + 3");
  EXPECT_EQ(printed("1+(2+3)"), "1 + (2 + 3)");
  EXPECT_EQ(printed("(1+2)*3/(4*5)"), "(1 + 2) * 3 / (4 * 5)");
  EXPECT_EQ(printed("max(size(self,-1),prod(k,2))"), "max(size(self, -1), prod(k, 2))");
  EXPECT_EQ(printed("contracted(equation,tensors)"), "contracted(equation, tensors)");
}

TEST(Length, Names) {
  const auto expression = LengthExpression::parse("if(groups,numel(a)/size(a,dim),prod(k))");
  EXPECT_EQ(expression->names(), (std::vector<std::string>{"a", "dim", "groups", "k"}));
}

TEST(Einsum, ContractedSizes) {
  const auto size = [](std::string_view equation, std::vector<TensorSizes> tensors) {
    const auto out = contractedSize(equation, tensors);
    return out ? std::to_string(*out) : out.error().message;
  };
  EXPECT_EQ(size("ij,jk->ik", {{{2, 5}}, {{5, 3}}}), "5");
  EXPECT_EQ(size("ij,jk", {{{2, 5}}, {{5, 3}}}), "5");
  EXPECT_EQ(size("ij->", {{{2, 5}}}), "10");
  EXPECT_EQ(size("...i,...i->...", {{{9, 4}}, {{4}}}), "4");
  EXPECT_EQ(size("i...j,j->...", {{{2, 7, 3}}, {{3}}}), "6");
  EXPECT_EQ(size("ij,jk->ik", {{{2, 1}}, {{5, 3}}}), "5");
  EXPECT_EQ(size("ij,jk->ik", {{{2, 5}}}), "einsum: more subscripts than tensors");
  EXPECT_EQ(size("ij->i", {{{2}}}), "einsum: 2 labels for 1 dimensions");
  EXPECT_EQ(size("i->i", {{{2, 3}}}), "einsum: 1 labels for 2 dimensions");
  EXPECT_EQ(size("i!->i", {{{2, 3}}}), "einsum: 'i!' is not a list of labels");
  EXPECT_EQ(size("ij->", {{{kMost, 2}}}), "einsum: more than 2^63 - 1 terms");
}

/// A random expression of the grammar over operands(), as text with all parentheses.
std::string randomText(int depth) {
  const auto leaf = [] {
    return *rc::gen::element<std::string>("1", "2", "3", "5", "zero", "size", "numel(self)",
                                          "size(self,-1)", "size(self,dim)", "prod(kernel,2)",
                                          "numel(empty)", "contracted(equation,tensors)");
  };
  if (depth == 0) {
    return leaf();
  }
  const auto part = [depth] { return randomText(depth - 1); };
  switch (*rc::gen::inRange(0, 7)) {
    case 0:
      return "(" + part() + "+" + part() + ")";
    case 1:
      return "(" + part() + "*" + part() + ")";
    case 2:
      return "(" + part() + "/" + part() + ")";
    case 3:
      return "max(" + part() + "," + part() + ")";
    case 4:
      return "min(" + part() + "," + part() + ")";
    case 5:
      return "if(" + part() + "," + part() + "," + part() + ")";
    default:
      return leaf();
  }
}

RC_GTEST_PROP(LengthProperty, WhatIsPrintedMeansTheSame, ()) {
  const std::string text = randomText(4);
  const auto expression = LengthExpression::parse(text);
  RC_ASSERT(expression.has_value());
  const auto again = LengthExpression::parse(expression->str());
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->str() == expression->str());
  RC_ASSERT(expression->str().size() <= 4 * text.size());
  const auto a = expression->evaluate(operands());
  const auto b = again->evaluate(operands());
  RC_ASSERT(a.has_value() == b.has_value());
  RC_ASSERT(!a.has_value() || *a == *b);
}

RC_GTEST_PROP(LengthProperty, Laws, ()) {
  const std::string a = randomText(2);
  const std::string b = randomText(2);
  for (const auto* sign : {"+", "*"}) {
    RC_ASSERT(evaluated("(" + a + ")" + sign + "(" + b + ")") ==
                  evaluated("(" + b + ")" + sign + "(" + a + ")") ||
              !std::isdigit(evaluated(a)[0]) || !std::isdigit(evaluated(b)[0]));
  }
  RC_ASSERT(evaluated("min(" + a + "," + a + ")") == evaluated(a));
  const std::string value = evaluated(a);
  if (std::isdigit(static_cast<unsigned char>(value[0])) != 0) {
    RC_ASSERT(evaluated("(" + a + ")/1") == value);
    // Rounded up: never fewer terms than there are, and fewer than one divisor too many.
    const std::int64_t x = std::stoll(value);
    const std::int64_t d = *rc::gen::inRange<std::int64_t>(1, 1000);
    const std::int64_t q = std::stoll(evaluated("(" + a + ")/" + std::to_string(d)));
    RC_ASSERT(q >= x / d);
    RC_ASSERT(q <= x / d + 1);
    RC_ASSERT((q == x / d) == (x % d == 0));
  }
}

RC_GTEST_PROP(LengthProperty, NoTextBreaksTheParser, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("(", ")", ",", "+", "*", "/", "-", "1", "numel", "size", "if",
                                    "self", "max", " ", "prod", "\t", "9999999999999999999"));
  std::string text;
  for (const std::string& piece : pieces) {
    text += piece;
  }
  const auto expression = LengthExpression::parse(text);
  if (expression) {
    (void)expression->evaluate(operands());
    RC_ASSERT(LengthExpression::parse(expression->str()).has_value());
  }
}

}  // namespace
}  // namespace neuroncheck::numerics
