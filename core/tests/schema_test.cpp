// SPDX-License-Identifier: Apache-2.0
#include "core/schema.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace neuroncheck {
namespace {

using ::testing::HasSubstr;

FunctionSchema schemaOf(std::string_view text) {
  auto parsed = FunctionSchema::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().text());
  return parsed ? *std::move(parsed) : FunctionSchema{};
}

std::string flagsOf(const SchemaArgument& a) {
  std::string out;
  out += a.optional ? "o" : "";
  out += a.list ? "l" : "";
  out += a.elementOptional ? "e" : "";
  out += a.written ? "w" : "";
  out += a.keywordOnly ? "k" : "";
  return out;
}

std::string sortedSets(std::string set) {
  if (set.size() == 3 && set[1] == '|' && set[0] > set[2]) {
    std::swap(set[0], set[2]);
  }
  return set;
}

void expectSameFacts(const nlohmann::json& expected, const std::vector<SchemaArgument>& actual,
                     const std::string& text) {
  ASSERT_EQ(expected.size(), actual.size()) << text;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const nlohmann::json& want = expected[i];
    const SchemaArgument& got = actual[i];
    EXPECT_EQ(want.at(0), got.name) << text;
    EXPECT_EQ(want.at(1), flagsOf(got)) << text << ": " << got.typeText << " " << got.name;
    // torch's binding shows no alias set for the elements of a list.
    if (!(got.list && want.at(2) == "")) {
      EXPECT_EQ(want.at(2), sortedSets(got.aliasSet)) << text << ": " << got.name;
    }
    EXPECT_EQ(want.size() > 3, got.defaultValue.has_value()) << text << ": " << got.name;
    if (want.size() > 3 && got.defaultValue) {
      EXPECT_EQ(want.at(3), neuroncheck::text(*got.defaultValue)) << text << ": " << got.name;
    }
  }
}

// The facts that torch 2.13.0 states of its own schemas (make_schemas.py). NEURONCHECK_ALL_SCHEMAS
// names a larger file.
TEST(Schema, AgreesWithTorch) {
  const char* all = std::getenv("NEURONCHECK_ALL_SCHEMAS");
  const std::string path =
      all != nullptr ? all : NEURONCHECK_SOURCE_DIR "/core/tests/data/schemas.jsonl";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const auto record = nlohmann::json::parse(line);
    const std::string text = record.at("schema");
    const FunctionSchema schema = schemaOf(text);
    EXPECT_EQ(record.at("name"), schema.name.str());
    EXPECT_EQ(text, schema.text);
    expectSameFacts(record.at("arguments"), schema.arguments, text);
    expectSameFacts(record.at("returns"), schema.returns, text);
  }
  EXPECT_GE(count, 200U);
  RecordProperty("schemas", static_cast<int>(count));
}

TEST(Schema, ReadsEveryPartOfAnArgument) {
  const FunctionSchema schema = schemaOf(
      "aten::x.Tensor(Tensor(a!) self, Tensor?[] indices, SymInt[2] stride=1, *, Scalar alpha=1, "
      "str mode=\"a\\\"b\", MemoryFormat? memory_format=None) -> (Tensor(a!), int n)");
  ASSERT_EQ(schema.arguments.size(), 6U);
  EXPECT_EQ(schema.name, (OpName{"aten", "x", "Tensor"}));
  EXPECT_EQ(schema.arguments[0].typeText, "Tensor(a!)");
  EXPECT_EQ(schema.arguments[0].type, SchemaType::Tensor);
  EXPECT_EQ(schema.arguments[0].aliasSet, "a");
  EXPECT_TRUE(schema.arguments[1].elementOptional);
  EXPECT_FALSE(schema.arguments[1].optional);
  EXPECT_EQ(schema.arguments[2].typeText, "SymInt[2]");
  EXPECT_EQ(text(schema.arguments[2].defaultValue.value()), "[1, 1]");
  EXPECT_FALSE(schema.arguments[2].keywordOnly);
  EXPECT_TRUE(schema.arguments[3].keywordOnly);
  EXPECT_EQ(std::get<SymIntValue>(schema.arguments[3].defaultValue.value()).value.value, 1);
  EXPECT_EQ(std::get<std::string>(schema.arguments[4].defaultValue.value()), "a\"b");
  EXPECT_EQ(schema.arguments[5].type, SchemaType::MemoryFormat);
  EXPECT_TRUE(std::holds_alternative<NoneValue>(schema.arguments[5].defaultValue.value()));
  EXPECT_EQ(schema.returns[1].name, "n");
  EXPECT_EQ(schema.argumentIndex("alpha"), 3U);
  EXPECT_EQ(schema.argument("beta"), nullptr);
}

TEST(Schema, GivesDefaultsTheirType) {
  const FunctionSchema schema = schemaOf(
      "a::b(float f=1, int r=Mean, ScalarType d=long, ScalarType e=6, MemoryFormat m=2, "
      "Layout l=strided, Device c=\"cuda:1\", bool[2] b=[True, False], float[] g=[1., 2.], "
      "Scalar s=0.5, Tensor[] t=[], Scalar q=True) -> ()");
  const auto value = [&schema](std::string_view name) {
    return schema.argument(name)->defaultValue.value();
  };
  EXPECT_EQ(std::get<SymFloat>(value("f")).value, 1.0);
  EXPECT_EQ(std::get<SymIntValue>(value("r")).value.value, 1);
  EXPECT_EQ(std::get<DType>(value("d")), DType::Int64);
  EXPECT_EQ(std::get<DType>(value("e")), DType::Float32);
  EXPECT_EQ(std::get<MemoryFormat>(value("m")), MemoryFormat::ChannelsLast);
  EXPECT_EQ(std::get<Layout>(value("l")), Layout::Strided);
  EXPECT_EQ(std::get<Device>(value("c")), (Device{"cuda", 1}));
  EXPECT_FALSE(std::get<std::vector<SymBool>>(value("b"))[1].value);
  EXPECT_EQ(std::get<std::vector<SymFloat>>(value("g")).size(), 2U);
  EXPECT_EQ(std::get<SymFloat>(value("s")).value, 0.5);
  EXPECT_TRUE(std::get<TensorList>(value("t")).items.empty());
  EXPECT_TRUE(std::get<SymBool>(value("q")).value);
}

TEST(Schema, TellsMutationViewsAndOut) {
  const FunctionSchema plain = schemaOf("a::b(Tensor self) -> Tensor");
  EXPECT_FALSE(plain.mutates() || plain.returnsAlias() || plain.isOut());
  const FunctionSchema view = schemaOf("a::b(Tensor(a) self, int n) -> Tensor(a)");
  EXPECT_TRUE(view.returnsAlias());
  EXPECT_FALSE(view.mutates());
  EXPECT_TRUE(schemaOf("a::b(Tensor(a -> *) self) -> Tensor(a)[]").returnsAlias());
  EXPECT_TRUE(schemaOf("a::b(Tensor(a) self) -> Tensor(b|a)").returnsAlias());
  EXPECT_FALSE(schemaOf("a::b(Tensor(a) self) -> Tensor(b)").returnsAlias());
  const FunctionSchema inPlace = schemaOf("a::b_(Tensor(a!) self) -> Tensor(a!)");
  EXPECT_TRUE(inPlace.mutates());
  EXPECT_FALSE(inPlace.returnsAlias());
  EXPECT_FALSE(inPlace.isOut());
  EXPECT_TRUE(schemaOf("a::b.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)").isOut());
}

TEST(Schema, RefusesOtherTextAndNamesTheColumn) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "column 1: expected 'namespace::name('"},
      {"relu(Tensor self) -> Tensor", "column 1: no operator name"},
      {"aten::(Tensor self) -> Tensor", "column 1: no operator name"},
      {"aten::relu(Tensor self -> Tensor", "column 24: expected ',' or ')'"},
      {"aten::relu(Tensor self)", "column 24: expected '->'"},
      {"aten::relu(Tensor) -> Tensor", "column 18: expected an argument name"},
      {"aten::relu(Tensor self) -> Tensor x y", "column 37: text after the end"},
      {"aten::relu(Tensor[self) -> Tensor", "column 19: expected ']'"},
      {"aten::relu(int[999] self) -> Tensor", "the list length is out of range"},
      {"aten::relu(Tensor(a self) -> Tensor", "column 21: expected ')' after an alias set"},
      {"aten::relu(int n=1.5) -> Tensor",
       "column 18: the default of 'n' does not fit the type int"},
      {"aten::relu(bool n=1) -> Tensor", "does not fit the type bool"},
      {"aten::relu(bool n=) -> Tensor", "column 19: a number is expected"},
      {"aten::relu(str s=\"abc) -> Tensor", "a string does not end"},
      {"aten::relu(str s=\"\\q\") -> Tensor", "unknown escape"},
      {"aten::relu(int[] s=[1, 2) -> Tensor", "expected ',' or ']'"},
      {"aten::relu(..., int n) -> Tensor", "expected ')' after '...'"},
      {"aten::relu(int n=99999999999999999999) -> Tensor", "does not fit the type int"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = FunctionSchema::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::Input);
    EXPECT_THAT(parsed.error().text(), HasSubstr(message)) << text;
  }
}

TEST(Schema, BoundsHostileText) {
  std::string nested = "a::b(";
  for (int i = 0; i < 30000; ++i) {
    nested += "(";
  }
  EXPECT_THAT(FunctionSchema::parse(nested).error().text(), HasSubstr("nested too deeply"));
  EXPECT_THAT(FunctionSchema::parse(std::string(70000, 'x')).error().text(),
              HasSubstr("longer than 65536 bytes"));
}

TEST(OpInfo, FindsTags) {
  OpInfo info;
  info.tags = {"core", "pointwise"};
  EXPECT_TRUE(info.hasTag("core"));
  EXPECT_FALSE(info.hasTag("cor"));
}

}  // namespace
}  // namespace neuroncheck
