// SPDX-License-Identifier: Apache-2.0
#include "core/case_spec.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include "core/tests/random_inventory.h"

namespace neuroncheck {
namespace {

using ::testing::HasSubstr;

TEST(CaseSpec, PrintsWhatItReads) {
  for (const char* text : {
           "aten::addmm(f32[8], f32[4,16], f32[16,8]; beta=1, alpha=2)",
           "aten::cat([f32[2,3], f32[2,3]], 1)",
           "aten::add.out(f32[4]@(2)+1, %0; out=f32[4]) ;; aten::relu($0) !grad !error=\"must "
           "match\"",
           "aten::add.Tensor(f32[8], %0:f32[4]+4, i64[2]={1,0}, b8[]={1}^)",
           "aten::full([2, 3], -inf; dtype=bf16, layout=strided, pin_memory=False)",
           "aten::nan_to_num(f32[0,3], nan, 1e+300, -0.0, 1.0, 0.1)",
           "aten::to.dtype(f8e4m3fn[1,2,3,4]@(24,1,8,2), f32, False, False, channels_last)",
           "aten::index.Tensor(f32[3], [None, i64[2]={0,2}])",
           "aten::mul.Tensor(c64[2], complex(1.0, -2.5))",
           "aten::zeros(; size=[], device=device(neuron:1))",
           "aten::gelu(f16[2]; approximate=\"ta\\\"n\\x01h\\\\ \\n\")",
           "aten::split.Tensor(f32[4], 2) ;; aten::mul.Tensor($0, $0.1)",
           "corpuslib::scaled_relu()",
           "aten::foo([[1, 2], []], f32[2]={inf,nan})",
       }) {
    const auto parsed = CaseSpec::parse(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().text();
    EXPECT_EQ(parsed->str(), text);
  }
}

TEST(CaseSpec, ReadsOtherSpellingsIntoTheCanonicalText) {
  const auto canonical = [](std::string_view text) {
    const auto parsed = CaseSpec::parse(text);
    return parsed ? parsed->str() : parsed.error().text();
  };
  EXPECT_EQ(canonical("  aten::relu ( float32[ 4 , 16 ] @ (16, 1) ) "), "aten::relu(f32[4,16])");
  EXPECT_EQ(canonical("aten::add.Tensor(f32[2]@(1), %0:f32[2])"), "aten::add.Tensor(f32[2], %0)");
  EXPECT_EQ(canonical("aten::relu($0)"), "aten::relu: $0.0 is no result of an earlier step");
  EXPECT_EQ(canonical("aten::a(f32[1]);;aten::b($0.0)"), "aten::a(f32[1]) ;; aten::b($0)");
  EXPECT_EQ(canonical("aten::a(1.50,;x=2)"), "column 14: expected a value, found \"\"");
  EXPECT_EQ(canonical("aten::a(1.50;x=2e0)"), "aten::a(1.5; x=2.0)");
}

TEST(CaseSpec, KeepsStridesThatAreNotTheContiguousOnes) {
  const auto parsed = CaseSpec::parse("aten::relu(f32[1,4]@(1,1))");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->str(), "aten::relu(f32[1,4]@(1,1))");
}

struct BadCase {
  const char* text;
  const char* expected;
};
class BadCaseText : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadCaseText, IsAnErrorWithItsPlace) {
  const auto parsed = CaseSpec::parse(GetParam().text);
  ASSERT_FALSE(parsed) << parsed->str();
  EXPECT_EQ(parsed.error().code, ErrorCode::Input);
  EXPECT_THAT(parsed.error().text(), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCaseText,
    ::testing::Values(
        BadCase{"", "expected an operator"}, BadCase{"relu(f32[4])", "expected an operator"},
        BadCase{"aten::relu", "expected \"(\""},
        BadCase{"aten::relu(f32[4]", "expected \",\", \";\" or \")\""},
        BadCase{"aten::relu(f32[4]) x", "expected \";;\""},
        BadCase{"aten::relu(f33[4])", "found \"f33\""}, BadCase{"aten::relu(f32[-4])", "negative"},
        BadCase{"aten::relu(f32[4]@(1,1))", "not as many as sizes"},
        BadCase{"aten::relu(i64[2]={1})", "not as many as elements"},
        BadCase{"aten::relu(i64[9223372036854775807,9223372036854775807]={1})",
                "not as many as elements"},
        BadCase{"aten::relu(f32[99999999999999999999])", "integer of 64 bits"},
        BadCase{"aten::relu(1e999)", "no number of 64 bits"},
        BadCase{"aten::relu(%0)", "an alias names an earlier"},
        BadCase{"aten::relu(f32[1], %01)", "an alias names an earlier"},
        BadCase{"aten::relu(\"abc)", "the string has no end"},
        BadCase{"aten::relu(\"\\q\")", "unknown escape"},
        BadCase{"aten::relu(\"\\x4\")", "two hexadecimal digits"},
        BadCase{"aten::relu(; a=1, a=2)", "argument a occurs twice"},
        BadCase{"aten::relu(; a=1, 2)", "expected name=value"},
        BadCase{"aten::relu(f32[1]) !grad !grad", "each once"},
        BadCase{"aten::relu(f32[1]) ;; aten::relu($1)", "no result of an earlier step"},
        BadCase{"aten::relu([[[[[[[[[1]]]]]]]]])", "nested too deeply"},
        BadCase{"aten::relu(unknown)", "found \"unknown\""},
        BadCase{"aten::relu(unknown[2])", "found \"unknown\""}));

TEST(CaseSpec, DeepAndLongTextsAreRefusedInBoundedTime) {
  EXPECT_FALSE(CaseSpec::parse("aten::relu(" + std::string(500'000, '[')));
  EXPECT_FALSE(CaseSpec::parse("aten::relu(\"" + std::string(2'000'000, 'x') + "\")"));
  std::string steps = "aten::a()";
  for (int step = 0; step < 100; ++step) {
    steps += " ;; aten::a()";
  }
  EXPECT_FALSE(CaseSpec::parse(steps));
  const std::string deep = std::string(50'000, '[') + "1" + std::string(50'000, ']');
  const auto read = CaseSpec::fromJson(nlohmann::json::parse(
      R"({"steps": [{"op": "aten::a", "args": [{"value": )" + deep + "}]}]}"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("nested deeper"));
}

TEST(CaseSpec, IdentityIsTheHashOfTheTextOnEveryMachine) {
  const auto spec = *CaseSpec::parse("aten::relu(f32[4])");
  EXPECT_EQ(spec.id().size(), 16U);
  // Fixed: stored results of other machines are found by this number.
  EXPECT_EQ(spec.id(), "8d01e3d09b0570a0");
  EXPECT_NE(spec.identity(), CaseSpec::parse("aten::relu(f32[5])")->identity());
  EXPECT_EQ(attemptSeed(spec, "normal", 0) ^ attemptSeed(spec, "normal", 7), 7U);
  EXPECT_NE(attemptSeed(spec, "normal", 0), attemptSeed(spec, "zeros", 0));
}

TEST(CaseSpec, JsonTwinNamesBadFields) {
  const auto error = [](const char* text) {
    return CaseSpec::fromJson(nlohmann::json::parse(text)).error().text();
  };
  EXPECT_THAT(error(R"({"steps": 1})"), HasSubstr("steps: expected an array"));
  EXPECT_THAT(error(R"({"steps": []})"), HasSubstr("1 to 64 steps"));
  EXPECT_THAT(error(R"({"steps": [{"op": "a b::c", "args": []}]})"), HasSubstr("no operator name"));
  EXPECT_THAT(
      error(
          R"({"steps": [{"op": "aten::a", "args": [{"value": {"tensor": {"dtype": "f7", "shape": []}}}]}]})"),
      HasSubstr("steps[0].args[0].value.tensor.dtype: unknown dtype"));
  EXPECT_THAT(error(R"({"steps": [{"op": "aten::a", "args": [{"value": 1.5}]}]})"),
              HasSubstr("no integer"));
  EXPECT_THAT(error(R"({"steps": [{"op": "aten::a", "args": [{"name": "a b", "value": 1}]}]})"),
              HasSubstr("no argument name"));
  EXPECT_THAT(error(R"({"steps": [{"op": "aten::a", "args": [], "x": 1}]})"),
              HasSubstr("steps[0].x: unknown field"));
  EXPECT_THAT(
      error(R"({"steps": [{"op": "aten::a", "args": [{"name": "k", "value": 1}, {"value": 1}]}]})"),
      HasSubstr("positional argument after a named one"));
  EXPECT_THAT(
      error(R"({"steps": [{"op": "aten::a", "args": [{"value": {"device": {"type": "c)("}}}]}]})"),
      HasSubstr("unknown dtype, layout, memory format or device"));
}

// Random cases, already in canonical form.

CaseTensor randomTensor(std::size_t operands) {
  CaseTensor out;
  out.dtype = static_cast<DType>(testing::number(1, static_cast<std::int64_t>(kDTypeCount)));
  const auto rank = testing::number(0, 4);
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    out.sizes.push_back(testing::number(0, 5));
  }
  if (rank > 0 && testing::coin()) {
    // Twice the contiguous innermost stride: never the contiguous ones.
    out.strides = std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2);
  }
  out.offset = testing::number(0, 3);
  if (operands > 0 && testing::coin()) {
    out.alias = "%" + std::to_string(testing::number(0, static_cast<std::int64_t>(operands)));
  }
  if (testing::number(0, 4) == 0) {
    std::int64_t count = 1;
    for (const std::int64_t size : out.sizes) {
      count *= size;
    }
    out.literal.emplace();
    for (std::int64_t index = 0; index < count; ++index) {
      out.literal->push_back(testing::pick<double>(
          {0, 1, -1, 0.5, 1e18, 1e-300, std::numeric_limits<double>::infinity()}));
    }
  }
  out.grad = testing::coin();
  return out;
}

CaseValue randomValue(std::size_t& operands, std::size_t step, int depth) {
  switch (testing::number(0, depth > 3 ? 11 : 13)) {
    case 0:
      return {CaseNone{}};
    case 1:
      return {testing::anyInteger()};
    case 2:
      return {testing::pick<double>(
          {0.0, 1.0, -2.5e-9, 1e300, 0.1, -std::numeric_limits<double>::infinity()})};
    case 3:
      return {testing::coin()};
    case 4:
      return {testing::word() +
              testing::pick<std::string>({"", "\"", "\\", "\x01\x7F", ";;", "\xFF"})};
    case 5:
      return {static_cast<DType>(testing::number(1, static_cast<std::int64_t>(kDTypeCount)))};
    case 6:
      return {static_cast<MemoryFormat>(testing::number(1, 5))};
    case 7:
      return {static_cast<Layout>(testing::number(1, 9))};
    case 8:
      return {Device{"neuron", testing::coin() ? std::optional<std::int64_t>(3) : std::nullopt}};
    case 9:
      return {std::complex<double>(1.5, -2)};
    case 10:
      if (step > 0) {
        return {
            CaseResult{testing::number(0, static_cast<std::int64_t>(step)), testing::number(0, 3)}};
      }
      return {CaseNone{}};
    case 11:
    case 12: {
      CaseList list;
      const auto size = testing::number(0, 4);
      for (std::int64_t index = 0; index < size; ++index) {
        list.items.push_back(randomValue(operands, step, depth + 1));
      }
      return {std::move(list)};
    }
    default:
      return {randomTensor(operands++)};
  }
}

CaseSpec randomCase() {
  CaseSpec spec;
  const auto steps = testing::number(1, 4);
  for (std::int64_t index = 0; index < steps; ++index) {
    CaseStep step{
        testing::pick<OpName>(
            {{"aten", "add", "Tensor"}, {"aten", "relu_", ""}, {"my_lib", "op2", "out_x"}}),
        {}};
    std::size_t operands = 0;
    const auto positional = testing::number(0, 4);
    for (std::int64_t arg = 0; arg < positional; ++arg) {
      step.args.push_back({"", randomValue(operands, spec.steps.size(), 0)});
    }
    for (const char* name : {"out", "alpha"}) {
      if (testing::coin()) {
        step.args.push_back({name, randomValue(operands, spec.steps.size(), 0)});
      }
    }
    spec.steps.push_back(std::move(step));
  }
  spec.backward = testing::coin();
  if (testing::coin()) {
    spec.expectedError = testing::word();
  }
  return spec;
}

RC_GTEST_PROP(CaseSpec, TextParsesBackToTheSameCase, ()) {
  const CaseSpec spec = randomCase();
  const std::string text = spec.str();
  const auto parsed = CaseSpec::parse(text);
  RC_LOG() << text << "\n" << (parsed ? parsed->str() : parsed.error().text());
  RC_ASSERT(text.find('\n') == std::string::npos);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == spec);
  RC_ASSERT(parsed->str() == text);
  RC_ASSERT(parsed->identity() == spec.identity());
}

RC_GTEST_PROP(CaseSpec, JsonTwinReadsBackToTheSameCase, ()) {
  const CaseSpec spec = randomCase();
  const nlohmann::json json = spec.toJson();
  const auto read = CaseSpec::fromJson(json);
  RC_LOG() << spec.str() << "\n" << (read ? read->str() : read.error().text());
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == spec);
}

RC_GTEST_PROP(CaseSpec, ChangedTextNeverCrashesAndStaysCanonical, ()) {
  std::string text = randomCase().str();
  const auto changes = testing::number(1, 4);
  for (std::int64_t change = 0; change < changes && !text.empty(); ++change) {
    const auto place =
        static_cast<std::size_t>(testing::number(0, static_cast<std::int64_t>(text.size())));
    text[place] = testing::pick<char>(
        {'(', ')', '[', ']', ',', ';', '%', '$', '"', '-', '9', 'f', ' ', '\0', '\xFF'});
  }
  if (const auto parsed = CaseSpec::parse(text)) {
    const auto again = CaseSpec::parse(parsed->str());
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->str() == parsed->str());
  }
}

// Cases of inventory uses.

TensorPtr tensor(const char* name, std::vector<SymInt> sizes, std::vector<SymInt> strides = {}) {
  TensorSpec spec;
  spec.dtype = DType::Float32;
  spec.sizes = std::move(sizes);
  spec.strides = std::move(strides);
  return std::make_shared<const TensorValue>(TensorValue{name, spec});
}
std::string caseText(const OpUse& use, const FunctionSchema* schema = nullptr) {
  const auto spec = caseOf(use, schema);
  return spec ? spec->str() : "none";
}

OpUse addmm() {
  OpUse use;
  use.op = {"aten", "addmm", ""};
  use.args = {{"self", tensor("b", {8}, {1})},
              {"mat1", tensor("x", {4, 16}, {1, 4})},
              {"mat2", tensor("w", {16, 8}, {8, 1})},
              {"alpha", SymIntValue{2, ""}},
              {"beta", SymIntValue{1, ""}, true}};
  return use;
}

TEST(CaseOf, UsesTheSchemaForPlacesAndNamesWhatFollowsAnOmission) {
  const auto schema = FunctionSchema::parse(
      "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
      "Tensor");
  ASSERT_TRUE(schema);
  EXPECT_EQ(caseText(addmm(), &*schema),
            "aten::addmm(f32[8], f32[4,16]@(1,4), f32[16,8]; alpha=2)");
  EXPECT_EQ(caseText(addmm()),
            "aten::addmm(; self=f32[8], mat1=f32[4,16]@(1,4), mat2=f32[16,8], alpha=2)");
}

TEST(CaseOf, LeavesOutDefaultsThatAreGivenAndTheDevice) {
  const auto schema = FunctionSchema::parse(
      "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Device? "
      "device=None) -> Tensor");
  ASSERT_TRUE(schema);
  OpUse use;
  use.op = {"aten", "full", ""};
  use.args = {{"size", std::vector<SymIntValue>{{2, ""}, {3, ""}}},
              {"fill_value", SymFloat{1, nullptr, ""}},
              {"dtype", NoneValue{}},
              {"device", Device{"cpu", std::nullopt}}};
  EXPECT_EQ(caseText(use, &*schema), "aten::full([2, 3], 1.0)");
}

TEST(CaseOf, OneValueGivenTwiceIsAnAlias) {
  OpUse use;
  use.op = {"aten", "cat", ""};
  use.args = {
      {"tensors", TensorList{{tensor("x", {2}), tensor("y", {2}), tensor("x", {2}), nullptr}}}};
  EXPECT_EQ(caseText(use), "aten::cat(; tensors=[f32[2], f32[2], %0, None])");
}

TEST(CaseOf, IsAbsentWhileAnythingIsSymbolicOrUnknown) {
  const SymInt symbolic(*SymExpr::parseInfix("s0"), 8);
  const auto withArgument = [](ArgValue value) {
    OpUse use = addmm();
    use.args[0].value = std::move(value);
    return caseText(use);
  };
  EXPECT_EQ(withArgument(tensor("x", {symbolic})), "none");
  EXPECT_EQ(withArgument(tensor("x", {2}, {symbolic})), "none");
  EXPECT_EQ(withArgument(SymIntValue{symbolic, "x"}), "none");
  EXPECT_EQ(withArgument(GraphRef{"/true"}), "none");
  EXPECT_EQ(withArgument(CustomObject{"o", "C"}), "none");
  EXPECT_EQ(withArgument(OpaqueValue{"as_new", "1"}), "none");
  TensorSpec unknown;
  unknown.hasShape = false;
  unknown.dtype = DType::Float32;
  EXPECT_EQ(withArgument(std::make_shared<const TensorValue>(TensorValue{"x", unknown})), "none");
  unknown.hasShape = true;
  unknown.dtype = DType::Unknown;
  EXPECT_EQ(withArgument(std::make_shared<const TensorValue>(TensorValue{"x", unknown})), "none");
  EXPECT_NE(withArgument(tensor("x", {2})), "none");
}

}  // namespace
}  // namespace neuroncheck
