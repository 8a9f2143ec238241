// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "numerics/rules/length.h"
#include "numerics/rules/op_rules.h"

namespace neuroncheck::numerics {
namespace {

const std::string kHeader =
    "op\toutput\tclass\tlength\tcompanion\tunstable\tstored\tcoefficient\troundings\tflags\tsource"
    "\n";

OpName op(std::string_view text) {
  const auto parsed = OpName::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(OpName{});
}

const OutputRule& rule(std::string_view text, std::size_t output = 0) {
  const OpRule* found = opRules().find(op(text));
  if (found == nullptr) {
    ADD_FAILURE() << text << " has no rule";
    static const OutputRule none;
    return none;
  }
  return outputRule(*found, output);
}

std::string errorOf(const std::string& rows) {
  const auto table = OpRuleTable::parse(kHeader + rows);
  return table ? "no error" : table.error().text();
}

TEST(OpClassWords, LettersAndNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kOpClassCount; ++i) {
    const auto opClass = static_cast<OpClass>(i);
    EXPECT_EQ(parseOpClass(std::string(1, letter(opClass))), opClass);
    EXPECT_TRUE(names.insert(name(opClass)).second);
  }
  EXPECT_EQ(letter(OpClass::Exact), 'A');
  EXPECT_EQ(letter(OpClass::Discontinuous), 'K');
  EXPECT_EQ(name(OpClass::Reduction), "reduction");
  for (const std::string_view other : {"", "L", "a", "AB", "@"}) {
    EXPECT_FALSE(parseOpClass(other)) << other;
  }
}

TEST(Companions, KnownByWordWithAFormula) {
  ASSERT_FALSE(companions().empty());
  EXPECT_EQ(companions().front().word, "none");
  std::set<std::string> words;
  for (const Companion& companion : companions()) {
    EXPECT_TRUE(words.insert(companion.word).second) << companion.word;
    EXPECT_FALSE(companion.formula.empty());
    EXPECT_EQ(findCompanion(companion.word), &companion);
  }
  EXPECT_EQ(findCompanion("nothing"), nullptr);
}

TEST(Companions, EachIsUsedBySomeRule) {
  std::set<std::string> used;
  for (const OpRule& opRule : opRules().rules()) {
    for (const OutputRule& output : opRule.outputs) {
      used.insert(output.companion);
      used.insert(output.unstable);
      used.insert(output.stored);
    }
  }
  for (const Companion& companion : companions()) {
    EXPECT_TRUE(used.contains(companion.word)) << companion.word;
  }
}

TEST(OpRules, EveryRowIsThereWithItsSource) {
  ASSERT_GT(opRules().rules().size(), 700U);
  for (const OpRule& opRule : opRules().rules()) {
    EXPECT_FALSE(opRule.source.empty()) << opRule.op;
    EXPECT_EQ(opRules().find(op(opRule.op)), &opRule) << opRule.op;
  }
}

TEST(OpRules, WhatOperatorsAre) {
  EXPECT_EQ(rule("aten::max.dim", 0).opClass, OpClass::Exact);
  EXPECT_EQ(rule("aten::max.dim", 1).opClass, OpClass::Discontinuous);
  EXPECT_EQ(rule("aten::max").opClass, OpClass::Exact);
  EXPECT_EQ(rule("aten::native_layer_norm", 0).opClass, OpClass::Normalisation);
  EXPECT_EQ(rule("aten::native_layer_norm", 2).opClass, OpClass::Reduction);
  EXPECT_EQ(rule("aten::native_layer_norm").companion, "normalise");
  EXPECT_EQ(rule("aten::embedding").opClass, OpClass::Exact);
  EXPECT_EQ(rule("aten::embedding_dense_backward").companion, "accumulated");
  EXPECT_EQ(rule("aten::var.correction").unstable, "variance_naive");
  EXPECT_EQ(rule("aten::linalg_vector_norm").companion, "value");
  EXPECT_EQ(rule("aten::add.Tensor").opClass, OpClass::Rounded);
  EXPECT_EQ(rule("aten::pow.Tensor_Scalar").coefficient, 16);
  EXPECT_EQ(rule("aten::exp").coefficient, 4);
  EXPECT_EQ(rule("aten::gelu").coefficient, 8);
  EXPECT_EQ(rule("aten::scaled_dot_product_attention").roundings, 3);
  EXPECT_EQ(rule("aten::scaled_dot_product_attention").stored, "attention_stored");
  EXPECT_EQ(rule("aten::rand").opClass, OpClass::Random);
  EXPECT_EQ(rule("aten::linalg_qr", 1).opClass, OpClass::Factorisation);
  EXPECT_TRUE(rule("aten::eq.Tensor").constantAllowed);
  EXPECT_TRUE(rule("aten::zeros").constantAllowed);
  EXPECT_TRUE(rule("aten::log").nanAllowed);
  EXPECT_FALSE(rule("aten::exp").nanAllowed);
  EXPECT_EQ(rule("aten::div.Tensor").opClass, OpClass::Rounded);
  EXPECT_EQ(rule("aten::div.Tensor_mode").opClass, OpClass::Discontinuous);
  EXPECT_EQ(rule("aten::round").opClass, OpClass::Exact);
  EXPECT_EQ(rule("aten::round.decimals").opClass, OpClass::Discontinuous);
}

TEST(OpRules, WhatIsNotCompared) {
  EXPECT_EQ(rule("aten::empty.memory_format").notComparable, NotComparable::Uninitialised);
  EXPECT_EQ(rule("aten::resize_").notComparable, NotComparable::Uninitialised);
  EXPECT_EQ(rule("aten::item").notComparable, NotComparable::NoTensor);
  EXPECT_EQ(rule("quantized::linear_dynamic").notComparable, NotComparable::Opaque);
  EXPECT_EQ(rule("aten::log_sigmoid_forward", 0).notComparable, NotComparable::No);
  EXPECT_EQ(rule("aten::log_sigmoid_forward", 1).notComparable, NotComparable::Unspecified);
  EXPECT_EQ(name(NotComparable::Uninitialised), "uninitialised");
  EXPECT_EQ(name(NotComparable::No), "");
}

TEST(OpRules, TwinsHaveTheRuleOfTheFunctionalOperator) {
  const auto same = [](std::string_view twin, std::string_view functional) {
    EXPECT_EQ(opRules().find(op(twin)), opRules().find(op(functional))) << twin;
    EXPECT_NE(opRules().find(op(twin)), nullptr) << twin;
  };
  same("aten::add_.Tensor", "aten::add.Tensor");
  same("aten::add.out", "aten::add.Tensor");
  same("aten::view_copy", "aten::view");
  same("aten::copy_", "aten::copy");
  same("aten::__iand__.Tensor", "aten::__and__.Tensor");
  same("aten::max.dim_max", "aten::max.dim");
  same("aten::median.dim_values", "aten::median.dim");
  same("aten::div_.Tensor_mode", "aten::div.Tensor_mode");
  same("aten::div.out_mode", "aten::div.out_mode");
  same("aten::round_.decimals", "aten::round.decimals");
  same("aten::round.decimals_out", "aten::round.decimals");
  same("aten::convolution_backward.out", "aten::convolution_backward");
  same("aten::scatter_.reduce", "aten::scatter.reduce");
  same("aten::scatter.reduce_out", "aten::scatter.reduce");
  EXPECT_NE(opRules().find(op("aten::round_.decimals")), opRules().find(op("aten::round_")));
  // A copy into indices is no functional form of index.
  EXPECT_EQ(opRules().find(op("aten::index_copy_"))->op, "aten::index_copy");
  EXPECT_EQ(opRules().find(op("aten::_to_copy"))->op, "aten::_to_copy");
}

TEST(OpRules, AnOperatorWithoutARuleIsNotFound) {
  EXPECT_FALSE(findRule(op("mylib::add")));
  EXPECT_FALSE(findRule(op("aten::special_airy_ai")));
  EXPECT_FALSE(findRule(op("aten::_")));
  EXPECT_FALSE(findRule(OpName{"aten", "_copy", ""}));
  EXPECT_TRUE(findRule(op("aten::add.Tensor")));
}

TEST(OpRules, TheLastOutputStandsForAllFurther) {
  const OpRule* lstm = opRules().find(op("aten::lstm.input"));
  ASSERT_NE(lstm, nullptr);
  EXPECT_EQ(&outputRule(*lstm, 0), &outputRule(*lstm, 2));
}

TEST(OpRuleTable, MalformedRowsAreNamed) {
  EXPECT_EQ(errorOf("aten::a\t*\tB\t1\tnone\t-\t-\t0\t1\t-\tx\n"), "no error");
  EXPECT_EQ(errorOf("aten::a\t*\tB\t1\n"), "row 2: 4 columns, 11 are expected");
  EXPECT_EQ(errorOf("aten::a\t*\tL\t1\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column class: 'L': a letter A to K, or '-' with the flag that says why");
  EXPECT_EQ(errorOf("aten::a\t*\tE\tnumel(\tvalue\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column length: column 7: the name of an argument is expected");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tsize\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column companion: 'size' is not a companion");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\tsize\t-\t0\t1\t-\tx\n"),
            "row 2: column unstable: 'size' is not a companion");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\t-1\t1\t-\tx\n"),
            "row 2: column coefficient: '-1' is not a number of the right size");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\tnan\t1\t-\tx\n"),
            "row 2: column coefficient: 'nan' is not a number of the right size");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\t0\t0\t-\tx\n"),
            "row 2: column roundings: at least one");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\t0\t1.5\t-\tx\n"),
            "row 2: column roundings: '1.5' is not a number of the right size");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\t0\t1\tbig\tx\n"),
            "row 2: column flags: 'big' is not a flag");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t1\tvalue\t-\t-\t0\t1\t-\t\n"), "row 2: column source: empty");
  EXPECT_EQ(errorOf("relu\t*\tA\t1\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column op: 'relu' is no operator name, or stands in two places");
}

TEST(OpRuleTable, RowsThatContradictEachOtherAreNamed) {
  const std::string a = "aten::a\t*\tA\t1\tnone\t-\t-\t0\t1\t-\tx\n";
  const std::string b = "aten::b\t*\tA\t1\tnone\t-\t-\t0\t1\t-\tx\n";
  EXPECT_EQ(errorOf(a + b + a),
            "row 4: column op: 'aten::a' is no operator name, or stands in two places");
  EXPECT_EQ(errorOf(a + "aten::a\t1\tA\t1\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 3: column output: a row after '*'");
  EXPECT_EQ(errorOf("aten::a\t1\tA\t1\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column output: '1', 0 or * is expected");
  EXPECT_EQ(errorOf("aten::a\t*\tA\t1\tvalue\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column class: an exact or random output has no bound");
  EXPECT_EQ(errorOf("aten::a\t*\tB\t2\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column length: an elementwise class has no sums");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t2\tnone\t-\t-\t1\t1\t-\tx\n"),
            "row 2: column companion: a coefficient or an unstable formula needs a companion");
  EXPECT_EQ(errorOf("aten::a\t*\tE\t2\tvalue\t-\tvalue\t1\t1\t-\tx\n"),
            "row 2: column roundings: a stored intermediate is a rounding of its own");
  EXPECT_EQ(errorOf("aten::a\t*\t-\t1\tnone\t-\t-\t0\t1\t-\tx\n"),
            "row 2: column class: '-': a letter A to K, or '-' with the flag that says why");
  EXPECT_EQ(errorOf("aten::a\t*\tA\t1\tnone\t-\t-\t0\t1\topaque\tx\n"),
            "row 2: column class: 'A': a letter A to K, or '-' with the flag that says why");
  EXPECT_EQ(errorOf("aten::a\t*\t-\t2\tnone\t-\t-\t0\t1\topaque\tx\n"),
            "row 2: column class: an output that is not compared has no bound");
  EXPECT_EQ(errorOf("aten::a\t*\tC\t1\tone\t-\t-\t1\t1\t-\tx\n"),
            "row 2: column companion: class C counts ulps at H: value");
  EXPECT_FALSE(OpRuleTable::parse(""));
  EXPECT_FALSE(OpRuleTable::parse("op\toutput\n"));
}

}  // namespace
}  // namespace neuroncheck::numerics
