// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

TensorPtr sized(const std::string& name) {
  return tensor(DType::Float32, {symbol(name), SymInt(4)});
}

void dynamicUse(InventoryBuilder& b) {
  b.range("s7", 1, 16);
  b.add("aten::relu", {{"self", sized("s7")}}, {sized("s7")});
}

ArgValue indexList(DType dtype) { return TensorList{{tensor(dtype, {SymInt(4)})}}; }

}  // namespace

std::vector<RuleCase> shapeCases() {
  std::vector<RuleCase> out;
  out.push_back({"NC301",
                 [](auto& b, auto& t) {
                   compile(t);
                   dynamicUse(b);
                 },
                 [](auto& b, auto& t) {
                   compile(t);
                   b.add("aten::relu");
                 },
                 Severity::Error});
  out.push_back(
      {"NC302", [](auto& b, auto&) { dynamicUse(b); },
       // A symbolic view compiles nothing in eager mode.
       [](auto& b, auto&) { b.add("aten::transpose.int", {{"self", sized("s7")}}, {sized("s7")}); },
       Severity::Warning});
  out.push_back(
      {"NC303", [](auto& b, auto&) { b.add("aten::nonzero", {}, {sized("u0")}); },
       // It only passes on a size that was made before.
       [](auto& b, auto&) { b.add("aten::relu", {{"self", sized("u0")}}, {sized("u0")}); },
       Severity::Warning});
  out.push_back({"NC303",
                 [](auto& b, auto& t) {
                   compile(t);
                   b.add("aten::masked_select", {}, {sized("u1")});
                 },
                 [](auto& b, auto& t) {
                   compile(t);
                   b.add("aten::where.self");
                 },
                 Severity::Error});
  // A number that the host has read becomes the size of a view or of a new tensor.
  const ArgValue read = SymIntValue{symbol("u0"), "item"};
  const ArgValue shape = std::vector<SymIntValue>{{symbol("u0"), "item"}, {SymInt(4), {}}};
  for (const auto& [op, given, size] :
       {std::tuple(std::string("aten::narrow"), std::string("length"), read),
        std::tuple(std::string("aten::slice.Tensor"), std::string("end"), read),
        std::tuple(std::string("aten::zeros"), std::string("size"), shape)}) {
    for (const bool compiled : {false, true}) {
      const auto make = [=](const std::string& result) {
        return [=](InventoryBuilder& b, Target& t) {
          t.mode = compiled ? ExecutionMode::Compile : ExecutionMode::Eager;
          b.add(op, {{given, size}}, {sized(result)});
        };
      };
      // Sizes that an input brings along are no data.
      out.push_back(
          {"NC303", make("u0"), make("s0"), compiled ? Severity::Error : Severity::Warning});
    }
  }
  // No operator makes the size of an input, even where torch knows no bound of it.
  for (const std::string rule : {"NC301", "NC302"}) {
    const auto make = [rule](bool entering) {
      return [rule, entering](InventoryBuilder& b, Target& t) {
        t.mode = rule == "NC301" ? ExecutionMode::Compile : ExecutionMode::Eager;
        b.input("x", entering ? sized("u0") : tensor(DType::Float32));
        b.add("aten::relu", {{"self", sized("u0")}}, {sized("u0")});
      };
    };
    out.push_back(
        {rule, make(true), make(false), rule == "NC301" ? Severity::Error : Severity::Warning});
  }
  for (const std::string op : {"aten::index.Tensor", "aten::index_put_", "aten::index_put"}) {
    out.push_back({"NC304",
                   [op](auto& b, auto&) { b.add(op, {{"indices", indexList(DType::Bool)}}); },
                   [op](auto& b, auto&) { b.add(op, {{"indices", indexList(DType::Int64)}}); },
                   Severity::Warning});
  }
  out.push_back({"NC304",
                 [](auto& b, auto& t) {
                   compile(t);
                   b.add("aten::index_put_", {{"indices", indexList(DType::Bool)}});
                 },
                 [](auto& b, auto& t) {
                   compile(t);
                   b.add("aten::index_put_", {{"indices", indexList(DType::Int64)}});
                 },
                 Severity::Error});
  for (const std::string op : {"aten::item", "aten::_local_scalar_dense", "aten::equal"}) {
    out.push_back({"NC305", [op](auto& b, auto&) { b.add(op); },
                   [](auto& b, auto&) { b.add("aten::eq.Tensor"); }, Severity::Warning});
  }
  return out;
}

}  // namespace neuroncheck::opdb::test
