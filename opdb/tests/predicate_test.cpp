// SPDX-License-Identifier: Apache-2.0
#include "opdb/predicate.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neuroncheck::opdb {
namespace {

using ::testing::HasSubstr;

FunctionSchema schemaOf(const std::string& text) {
  auto schema = FunctionSchema::parse(text);
  EXPECT_TRUE(schema.has_value()) << text;
  return *std::move(schema);
}

const FunctionSchema& attention() {
  static const FunctionSchema kSchema = schemaOf(
      "aten::attention(Tensor query, Tensor? mask, Tensor[] keys, Tensor?[] index, int[2] stride, "
      "int? mask_type, "
      "bool need_weights, float dropout_p, Scalar alpha, str mode, ScalarType? dtype, str[] names, "
      "MemoryFormat? memory_format, "
      "Layout? layout, Device? device, Generator? generator, SymInt dim) -> Tensor");
  return kSchema;
}

ArgumentFacts tensor(std::optional<DType> dtype,
                     std::optional<std::vector<SymInt>> sizes = std::nullopt,
                     std::optional<bool> contiguous = std::nullopt) {
  ArgumentFacts facts;
  facts.isNone = false;
  facts.tensors.push_back({dtype, std::nullopt, std::move(sizes), contiguous});
  return facts;
}
ArgumentFacts value(ArgValue v) {
  ArgumentFacts facts;
  facts.isNone = false;
  facts.value = std::move(v);
  return facts;
}
ArgumentFacts integer(std::int64_t v) { return value(SymIntValue{SymInt(v), ""}); }
ArgumentFacts none() {
  ArgumentFacts facts;
  facts.isNone = true;
  return facts;
}
ArgumentFacts integers(const std::vector<std::int64_t>& values) {
  std::vector<SymIntValue> list;
  for (const std::int64_t v : values) {
    list.push_back({SymInt(v), ""});
  }
  return value(list);
}

PredicateContext context() {
  PredicateContext facts;
  facts.arguments["query"] = tensor(DType::Float32, std::vector<SymInt>{2, 4, 8, 16}, true);
  facts.arguments["mask"] = none();
  ArgumentFacts keys = tensor(DType::Float32, std::vector<SymInt>{4, 4}, true);
  keys.tensors.push_back(
      {DType::Int64, 2, std::vector<SymInt>{SymInt(SymExpr::makeSymbol("s0")), 4}, false});
  keys.length = 2;
  facts.arguments["keys"] = keys;
  facts.arguments["index"] = value(TensorList{});
  facts.arguments["names"] = value(std::vector<std::string>{"a", "b", "c"});
  facts.arguments["stride"] = integers({1, 2});
  facts.arguments["mask_type"] = none();
  facts.arguments["need_weights"] = value(SymBool{false, nullptr, ""});
  facts.arguments["dropout_p"] = value(SymFloat{0.5, nullptr, ""});
  facts.arguments["alpha"] = integer(3);
  facts.arguments["mode"] = value(std::string("tanh"));
  facts.arguments["dtype"] = value(DType::BFloat16);
  facts.arguments["memory_format"] = value(MemoryFormat::ChannelsLast);
  facts.arguments["layout"] = value(Layout::Strided);
  facts.arguments["device"] = value(Device{"cpu", std::nullopt});
  facts.arguments["generator"] = none();
  facts.arguments["dim"] = value(SymIntValue{SymInt(SymExpr::makeSymbol("s1")), "s1"});
  facts.results.emplace();
  facts.chip = "trn2";
  return facts;
}

struct Evaluation {
  const char* text;
  Truth truth;
  const char* by = "";
};
void PrintTo(const Evaluation& e, std::ostream* out) { *out << e.text; }

class EvaluateTest : public ::testing::TestWithParam<Evaluation> {};

TEST_P(EvaluateTest, HasTheTruth) {
  const auto predicate = Predicate::parse(GetParam().text, &attention());
  ASSERT_TRUE(predicate.has_value()) << predicate.error().text();
  const PredicateResult result = predicate->evaluate(context());
  EXPECT_EQ(result.truth, GetParam().truth);
  EXPECT_EQ(result.undecidedBy, GetParam().by);
}

INSTANTIATE_TEST_SUITE_P(
    Words, EvaluateTest,
    ::testing::Values(
        Evaluation{"true", Truth::True}, Evaluation{"!true", Truth::False},
        Evaluation{"dtype(query) == float32", Truth::True},
        Evaluation{"dtype(query) != float32", Truth::False},
        Evaluation{"dtype(query) in {float16,bfloat16}", Truth::False},
        Evaluation{"dtype(query) in floats", Truth::True},
        Evaluation{"dtype(query) in ints", Truth::False},
        Evaluation{"itemsize(query) == 4", Truth::True},
        Evaluation{"itemsize(query) != 4", Truth::False},
        Evaluation{"rank(query) == 4", Truth::True}, Evaluation{"size(query,0) == 2", Truth::True},
        Evaluation{"size(query, -1) <= 16", Truth::True},
        Evaluation{"size(query,2) % 8 == 0", Truth::True},
        Evaluation{"size(query,2) % 3 == 2", Truth::True}, Evaluation{"-7 % 3 == 2", Truth::True},
        Evaluation{"size(query,9) == 1", Truth::Undecided, "query"},
        Evaluation{"contiguous(query)", Truth::True},
        Evaluation{"contiguous(query) == false", Truth::False},
        Evaluation{"is_none(mask)", Truth::True}, Evaluation{"!is_none(query)", Truth::True},
        // An operand that is None, and an empty list, leave nothing to compare.
        Evaluation{"dtype(mask) == float64", Truth::True},
        Evaluation{"dtype(index) == int64", Truth::True},
        // A list of tensors means each of them.
        Evaluation{"dtype(keys) == float32", Truth::False},
        Evaluation{"rank(keys) == 2", Truth::True},
        Evaluation{"dtype(keys) in {float32,int64}", Truth::True},
        Evaluation{"contiguous(keys)", Truth::False},
        Evaluation{"size(keys,0) == 4", Truth::Undecided, "keys"},
        Evaluation{"size(keys,0) == 5", Truth::False},
        Evaluation{"value(need_weights) == false", Truth::True},
        Evaluation{"!need_weights", Truth::True}, Evaluation{"value(mask_type) == 1", Truth::False},
        Evaluation{"mask_type == None", Truth::True},
        Evaluation{"mask_type < 3 || mask_type >= 3", Truth::False},
        Evaluation{"any_gt(stride,1)", Truth::True}, Evaluation{"any_gt(stride,2)", Truth::False},
        Evaluation{"len(stride) == 2", Truth::True}, Evaluation{"len(stride) != 2", Truth::False},
        Evaluation{"len(keys) == 2", Truth::True}, Evaluation{"len(keys) < 2", Truth::False},
        Evaluation{"len(names) % 2 == 1", Truth::True},
        Evaluation{"len(names) in {1,2}", Truth::False},
        // Whether the items of a list without tensors are None is not known from its value.
        Evaluation{"len(index) == 0", Truth::Undecided, "index"},
        Evaluation{"stride == 1", Truth::False}, Evaluation{"stride >= 1", Truth::True},
        Evaluation{"dropout_p == 0.5", Truth::True}, Evaluation{"dropout_p < 5e-1", Truth::False},
        Evaluation{"alpha == 3.0", Truth::True}, Evaluation{"alpha > -inf", Truth::True},
        Evaluation{"alpha == true", Truth::False},
        Evaluation{"mode in {'none','tanh'}", Truth::True},
        Evaluation{"mode == 'none'", Truth::False}, Evaluation{"mode == tanh", Truth::True},
        Evaluation{"dtype == bfloat16", Truth::True},
        Evaluation{"dtype(query) == dtype", Truth::False},
        Evaluation{"memory_format == channels_last", Truth::True},
        Evaluation{"layout == strided", Truth::True}, Evaluation{"device == 'cuda'", Truth::False},
        Evaluation{"is_none(generator)", Truth::True},
        Evaluation{"dim == 1", Truth::Undecided, "dim"},
        Evaluation{"dim == 1 && false", Truth::False}, Evaluation{"dim == 1 || true", Truth::True},
        Evaluation{"!(dim == 1)", Truth::Undecided, "dim"}, Evaluation{"any_symbolic", Truth::True},
        Evaluation{"any_dtype in {int64}", Truth::True},
        Evaluation{"any_dtype == float64", Truth::False},
        Evaluation{"any_dtype != float32", Truth::True}, Evaluation{"chip == trn2", Truth::True},
        Evaluation{"chip < trn3", Truth::True}, Evaluation{"chip >= trn3", Truth::False},
        Evaluation{"chip in {trn1,trn3}", Truth::False},
        Evaluation{"(is_none(mask) || value(mask_type) == 1) && value(need_weights) == false",
                   Truth::True}));

TEST(Predicate, IsUndecidedWhereSomethingUnknownMatters) {
  const auto truth = [](const char* text, const PredicateContext& facts) {
    return Predicate::parse(text, &attention())->evaluate(facts);
  };
  PredicateContext facts;
  facts.chip = "inf2";
  EXPECT_EQ(truth("dtype(query) == float32", facts).undecidedBy, "query");
  EXPECT_EQ(truth("chip >= trn2", facts).undecidedBy, "chip");
  EXPECT_EQ(truth("any_dtype == float32", facts).truth, Truth::Undecided);
  EXPECT_EQ(truth("any_symbolic", facts).truth, Truth::Undecided);
  EXPECT_EQ(truth("len(stride) == 2", facts).undecidedBy, "stride");
  facts.arguments["keys"] = none();
  EXPECT_EQ(truth("len(keys) == 2", facts).truth, Truth::True) << "nothing to compare";
  facts.arguments["keys"] = tensor(DType::Float32);
  EXPECT_EQ(truth("len(keys) == 1", facts).truth, Truth::Undecided)
      << "facts of an intermediate list stand for any number of tensors";
  facts.arguments["stride"] = integer(3);
  EXPECT_EQ(truth("len(stride) == 2", facts).truth, Truth::Undecided);
  facts = context();
  facts.results.reset();
  EXPECT_EQ(truth("any_dtype == complex64", facts).undecidedBy, "result");
  facts.results = {TensorFacts{DType::Complex64, 1, std::vector<SymInt>{2}, true}};
  EXPECT_EQ(truth("any_dtype == complex64", facts).truth, Truth::True);
}

struct Refusal {
  const char* text;
  const char* message;
};
void PrintTo(const Refusal& r, std::ostream* out) { *out << r.text; }

class RefuseTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefuseTest, NamesTheColumnAndTheReason) {
  const auto predicate = Predicate::parse(GetParam().text, &attention());
  ASSERT_FALSE(predicate.has_value());
  EXPECT_EQ(predicate.error().code, ErrorCode::Usage);
  EXPECT_EQ(predicate.error().message.substr(0, std::string(GetParam().message).size()),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Words, RefuseTest,
    ::testing::Values(
        Refusal{"", "predicate column 1: the predicate is empty"},
        Refusal{"dtype(foo) == int64", "predicate column 7: no argument 'foo' in aten::attention"},
        Refusal{"foo == 1", "predicate column 1: no argument 'foo'"},
        Refusal{"foo", "predicate column 1: no argument 'foo'"},
        Refusal{"rank(alpha) == 1",
                "predicate column 6: argument 'alpha' of aten::attention is Scalar"},
        Refusal{"value(query) == 1",
                "predicate column 7: argument 'query' of aten::attention is Tensor"},
        Refusal{"generator == 1", "predicate column 1: argument 'generator'"},
        Refusal{"len(alpha) == 1",
                "predicate column 5: argument 'alpha' of aten::attention is Scalar, "
                "but len asks for a list"},
        Refusal{"len(query) == 1",
                "predicate column 5: argument 'query' of aten::attention is Tensor"},
        Refusal{"len(mode) == 4", "predicate column 5: argument 'mode'"},
        Refusal{"len(stride)", "predicate column 1: a condition is expected, this is a number"},
        Refusal{"len(stride) == 'a'",
                "predicate column 16: a number cannot be compared with a text"},
        Refusal{"any_gt(query,1)", "predicate column 8: argument 'query'"},
        Refusal{"any_gt(stride,1.5)", "predicate column 15: an integer is expected"},
        Refusal{"dtype(query) == flot32", "predicate column 17: no argument 'flot32'"},
        Refusal{"dtype(query) in {float32, flot32}", "predicate column 27: 'flot32' is no dtype"},
        Refusal{"any_dtype == flot32", "predicate column 14: no argument 'flot32'"},
        Refusal{"dtype(query) == 1",
                "predicate column 17: a dtype cannot be compared with a number"},
        Refusal{"dtype(query)", "predicate column 1: a condition is expected, this is a dtype"},
        Refusal{"dtype(query) < float32", "predicate column 1: a dtype has no order"},
        Refusal{"mode < 'a'", "predicate column 1: a text has no order"},
        Refusal{"need_weights == 1",
                "predicate column 17: a bool cannot be compared with a number"},
        Refusal{"alpha % 0 == 1", "predicate column 9: remainder of a division by zero"},
        Refusal{"true &&", "predicate column 8: the predicate ends"},
        Refusal{"true true", "predicate column 6: 'true' is not"},
        Refusal{"(true", "predicate column 6: ')' is expected"},
        Refusal{"rank(query = 4", "predicate column 12: unexpected '='"},
        Refusal{"mode == 'a", "predicate column 9: the quote is not closed"},
        Refusal{"alpha == 99999999999999999999",
                "predicate column 10: 99999999999999999999 is beyond 64 bits"},
        Refusal{"alpha == 1x", "predicate column 10: '1x' is no number"},
        Refusal{"sqrt(alpha) == 1", "predicate column 1: no function 'sqrt'"},
        Refusal{"float32 == any_dtype", "predicate column 12: any_dtype stands on the left"},
        Refusal{"alpha in {dim}", "predicate column 11: 'dim' is no dtype"},
        Refusal{"alpha in 3", "predicate column 10: '{' is expected"}));

TEST(Predicate, BoundsHostileText) {
  EXPECT_THAT(Predicate::parse(std::string(5000, '(')).error().message,
              HasSubstr("longer than 4096"));
  EXPECT_THAT(Predicate::parse(std::string(4000, '(')).error().message, HasSubstr("nested deeper"));
  EXPECT_THAT(Predicate::parse(std::string(4000, '!')).error().message, HasSubstr("nested deeper"));
  EXPECT_THAT(Predicate::parse("a == \x01").error().message,
              HasSubstr("column 6: unexpected character"));
}

TEST(Predicate, NamesItsArgumentsSorted) {
  const auto predicate = Predicate::parse(
      "dtype(b) == dtype(a) && (any_gt(c,1) || a == 2) && any_symbolic && chip < trn3");
  ASSERT_TRUE(predicate.has_value());
  EXPECT_THAT(predicate->arguments(), ::testing::ElementsAre("a", "b", "c"));
}

TEST(FactsOf, TakesOverWhatAUseSays) {
  OpUse use;
  TensorSpec spec;
  spec.dtype = DType::Float16;
  spec.sizes = {SymInt(2), SymInt(SymExpr::makeSymbol("s0"))};
  spec.strides = {SymInt(SymExpr::makeSymbol("s0")), SymInt(1)};
  const auto input = std::make_shared<const TensorValue>(TensorValue{"x", spec});
  TensorSpec unknown;
  unknown.hasShape = false;
  const auto blank = std::make_shared<const TensorValue>(TensorValue{"y", unknown});
  use.args = {{"self", input, false},
              {"list", TensorList{{input, nullptr, blank}}, false},
              {"empty", TensorList{}, false},
              {"bias", NoneValue{}, true},
              {"", input, false}};
  use.outputs = {input};
  const PredicateContext facts = factsOf(use, "trn3");
  EXPECT_EQ(facts.chip, "trn3");
  EXPECT_EQ(facts.arguments.size(), 4U);
  EXPECT_EQ(facts.arguments.at("self").tensors.at(0).dtype, DType::Float16);
  EXPECT_EQ(facts.arguments.at("self").tensors.at(0).rank, 2);
  ASSERT_EQ(facts.arguments.at("list").tensors.size(), 2U);
  EXPECT_EQ(facts.arguments.at("list").length, 3) << "an element that is None counts";
  EXPECT_EQ(facts.arguments.at("empty").length, 0);
  EXPECT_FALSE(facts.arguments.at("list").tensors.at(1).dtype.has_value());
  EXPECT_FALSE(facts.arguments.at("list").tensors.at(1).rank.has_value());
  EXPECT_TRUE(facts.arguments.at("empty").value.has_value());
  EXPECT_EQ(facts.arguments.at("bias").isNone, true);
  EXPECT_EQ(facts.results->size(), 1U);
}

}  // namespace
}  // namespace neuroncheck::opdb
