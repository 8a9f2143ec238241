// SPDX-License-Identifier: Apache-2.0
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
