// SPDX-License-Identifier: Apache-2.0
#include "core/arg_value.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TensorPtr tensor(std::string name, std::vector<SymInt> sizes) {
  TensorSpec spec;
  spec.dtype = DType::Float32;
  spec.sizes = std::move(sizes);
  return std::make_shared<const TensorValue>(TensorValue{std::move(name), std::move(spec)});
}

SymIntValue integer(std::int64_t value) { return {SymInt(value), ""}; }
SymFloat real(double value) { return {value, nullptr, ""}; }
SymExprPtr s0() { return SymExpr::makeSymbol("s0"); }

TEST(ArgValue, PrintsEveryKind) {
  const std::vector<std::pair<ArgValue, std::string>> cases{
      {NoneValue{}, "None"},
      {tensor("x", {4, 8}), "f32[4,8]"},
      {TensorList{{tensor("x", {4}), nullptr}}, "[f32[4], None]"},
      {integer(-3), "-3"},
      {SymIntValue{SymInt(s0(), 5), "n"}, "s0"},
      {std::vector<SymIntValue>{integer(1), {SymInt(s0()), "n"}}, "[1, s0]"},
      {std::vector<SymIntValue>{}, "[]"},
      {real(1), "1.0"},
      {real(0.1), "0.1"},
      {real(1e-5), "1e-05"},
      {real(-kInf), "-inf"},
      {real(kNaN), "nan"},
      {SymFloat{0, SymExpr::makeSymbol("zuf0"), "f"}, "zuf0"},
      {std::vector<SymFloat>{real(2), real(0.5)}, "[2.0, 0.5]"},
      {SymBool{true, nullptr, ""}, "True"},
      {SymBool{false, SymExpr::makeCall("GreaterThan", {s0(), SymExpr::makeInteger(1)}), "b"},
       "s0 >= 1"},
      {std::vector<SymBool>{{false, nullptr, ""}}, "[False]"},
      {std::string("tanh"), "'tanh'"},
      {std::string("a'b\\\n\x01"), R"('a\'b\\\n\x01')"},
      {std::vector<std::string>{"a", "b"}, "['a', 'b']"},
      {DType::BFloat16, "bfloat16"},
      {MemoryFormat::ChannelsLast, "channels_last"},
      {Layout::Strided, "strided"},
      {Device{"cuda", 1}, "cuda:1"},
      {std::complex<double>(1, -2), "(1-2j)"},
      {GraphRef{"/true_graph_0"}, "graph /true_graph_0"},
      {CustomObject{"o", "a.B"}, "object a.B"},
      {OperatorRef{"lib::op"}, "lib::op"},
      {std::vector<TensorList>{{{tensor("x", {2})}}, {}}, "[[f32[2]], []]"},
      {std::vector<std::vector<std::int64_t>>{{1, 2}, {}}, "[[1, 2], []]"},
      {std::vector<std::vector<double>>{{1.5}}, "[[1.5]]"},
      {OpaqueValue{"as_new", "{}"}, "as_new {}"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(text(cases[i].first), cases[i].second);
    // Every kind equals itself and no other one of the table.
    for (std::size_t j = 0; j < cases.size(); ++j) {
      EXPECT_EQ(sameValue(cases[i].first, cases[j].first), i == j)
          << cases[i].second << " and " << cases[j].second;
    }
  }
}

TEST(ArgValue, ComparesTensorsBySpecOnly) {
  EXPECT_TRUE(sameValue(tensor("x", {4}), tensor("y", {4})));
  EXPECT_FALSE(sameValue(tensor("x", {4}), tensor("x", {5})));
  EXPECT_TRUE(sameValue(TensorPtr{}, TensorPtr{}));
  EXPECT_FALSE(sameValue(TensorPtr{}, tensor("x", {4})));
  EXPECT_FALSE(sameValue(TensorList{{tensor("x", {4})}}, TensorList{}));
}

TEST(ArgValue, ComparesSymbolicValuesByText) {
  const auto doubled = [](std::int64_t hint, std::string name) {
    auto sum = SymExpr::makeCall("Add", {s0(), s0()});
    return SymIntValue{SymInt(sum, hint), std::move(name)};
  };
  const SymIntValue product{SymInt(SymExpr::makeCall("Mul", {SymExpr::makeInteger(2), s0()})),
                            "other"};
  EXPECT_TRUE(sameValue(doubled(8, "a"), product));
  EXPECT_FALSE(sameValue(doubled(8, "a"), integer(8)));
  EXPECT_FALSE(sameValue(SymFloat{1, s0(), ""}, real(1)));
  EXPECT_TRUE(sameValue(SymFloat{1, s0(), "a"}, SymFloat{2, s0(), "b"}));
}

TEST(ArgValue, ComparesFloatsByWhatTheyCompute) {
  EXPECT_TRUE(sameValue(real(kNaN), real(kNaN)));
  EXPECT_FALSE(sameValue(real(0.0), real(-0.0)));
  EXPECT_FALSE(sameValue(real(1), integer(1)));
  EXPECT_TRUE(sameValue(std::complex<double>(kNaN, 1), std::complex<double>(kNaN, 1)));
}

TEST(ArgValue, VisitsEveryTensor) {
  const auto names = [](const ArgValue& value) {
    std::string out;
    forEachTensor(value, [&out](const TensorValue& each) { out += each.name; });
    return out;
  };
  EXPECT_EQ(names(tensor("x", {})), "x");
  EXPECT_EQ(names(TensorPtr{}), "");
  EXPECT_EQ(names(TensorList{{tensor("a", {}), nullptr, tensor("b", {})}}), "ab");
  EXPECT_EQ(names(std::vector<TensorList>{{{tensor("a", {})}}, {{tensor("b", {})}}}), "ab");
  EXPECT_EQ(names(integer(1)), "");
}

}  // namespace
}  // namespace neuroncheck
