// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

constexpr std::int64_t kBig = 3'000'000'000;

Make use(std::string op, InventoryBuilder::Given given, DType result = DType::Int64) {
  return [op = std::move(op), given = std::move(given), result](InventoryBuilder& b, Target&) {
    b.add(op, given, {tensor(result)});
  };
}

ArgValue times(const std::string& name, std::int64_t factor) {
  return SymIntValue{
      SymInt(SymExpr::makeCall("Mul", {SymExpr::makeInteger(factor), SymExpr::makeSymbol(name)})),
      {}};
}

Make arangeTo(std::int64_t factor, std::optional<std::int64_t> max) {
  return [factor, max](InventoryBuilder& b, Target&) {
    b.range("s1", 2, max);
    b.add("aten::arange", {{"end", times("s1", factor)}}, {tensor(DType::Int64, {SymInt(4)})});
  };
}

}  // namespace

std::vector<RuleCase> dtypeCases() {
  std::vector<RuleCase> out;
  const ArgValue longs = tensor(DType::Int64);
  // A multiplication keeps its constant where the schema has a tensor.
  out.push_back({"NC402", use("aten::mul.Tensor", {{"self", longs}, {"other", integer(kBig)}}),
                 use("aten::mul.Tensor", {{"self", longs}, {"other", integer(2'147'483'647)}}),
                 Severity::Error});
  out.push_back(
      {"NC402", use("aten::full", {{"size", integers({4})}, {"fill_value", integer(-kBig)}}),
       use("aten::full", {{"size", integers({4})}, {"fill_value", integer(-2'147'483'648)}}),
       Severity::Error});
  // The end of arange is not an element.
  out.push_back({"NC402", use("aten::arange", {{"end", integer(2'147'483'649)}}),
                 use("aten::arange", {{"end", integer(2'147'483'648)}}), Severity::Error});
  out.push_back({"NC402", use("aten::randint.low", {{"low", integer(0)}, {"high", integer(kBig)}}),
                 use("aten::randint.low", {{"low", integer(0)}, {"high", integer(100)}}),
                 Severity::Error});
  // The end of a slice is INT64_MAX in every export.
  out.push_back({"NC402", use("aten::add.Tensor", {{"self", longs}, {"other", integer(kBig)}}),
                 [](auto& b, auto&) {
                   b.add("aten::slice_copy.Tensor",
                         {{"self", tensor(DType::Int64)}, {"end", integer(INT64_MAX)}});
                 },
                 Severity::Error});
  // Even the smallest size is beyond.
  out.push_back({"NC402", arangeTo(kBig, 9), arangeTo(1, 9), Severity::Error});
  out.push_back(
      {"NC403", arangeTo(1'000'000, 10'000), arangeTo(1'000'000, 1'000), Severity::Warning});
  out.push_back(
      {"NC403", arangeTo(1'000'000, 10'000), arangeTo(1'000'000, std::nullopt), Severity::Warning});
  out.push_back({"NC403", use("aten::mul.Tensor", {{"other", integer(kBig)}}, DType::Float32),
                 use("aten::mul.Tensor", {{"other", real(3e9)}}, DType::Float32),
                 Severity::Warning});
  out.push_back({"NC405", use("aten::mm.out", {{"out", tensor(DType::Float64)}}, DType::Float64),
                 use("aten::mm.out", {{"out", tensor(DType::Float32)}}, DType::Float32),
                 Severity::Error});
  for (const DType dtype : {DType::UInt16, DType::UInt32, DType::UInt64, DType::Float8E8M0FNU}) {
    out.push_back({"NC413", use("aten::add.Tensor", {{"self", tensor(dtype)}}, dtype),
                   use("aten::add.Tensor", {{"self", tensor(DType::UInt8)}}, DType::UInt8),
                   Severity::Warning});
  }
  return out;
}

}  // namespace neuroncheck::opdb::test
