// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {
namespace {

TensorPtr image(bool channelsLast) {
  const std::vector<SymInt> sizes{SymInt(2), SymInt(3), SymInt(8), SymInt(8)};
  return channelsLast
             ? tensor(DType::Float32, sizes, "x", {SymInt(192), SymInt(1), SymInt(24), SymInt(3)})
             : tensor(DType::Float32, sizes, "x");
}

void writeTo(InventoryBuilder& b, const std::string& producer) {
  const TensorPtr made = tensor(DType::Float32, {SymInt(4)}, "made");
  b.add(producer, {}, {made});
  b.add("aten::add_.Tensor", {{"self", made}});
}

Make collective(std::string op, InventoryBuilder::Given given = {}) {
  return [op = std::move(op), given = std::move(given)](InventoryBuilder& b, Target&) {
    b.add(op, given);
  };
}

}  // namespace

std::vector<RuleCase> modeCases() {
  std::vector<RuleCase> out;
  out.push_back({"NC503",
                 [](auto& b, auto&) { b.add("aten::relu", {{"self", tensor(DType::QInt8)}}); },
                 [](auto& b, auto&) { b.add("aten::relu", {{"self", tensor(DType::Int8)}}); },
                 Severity::Warning});
  out.push_back({"NC510", [](auto& b, auto&) { b.input("x", image(true)); },
                 [](auto& b, auto&) { b.input("x", image(false)); }, Severity::Warning});
  for (const char* device : {"cpu", "cuda"}) {
    out.push_back({"NC511",
                   [device](auto& b, auto&) {
                     b.add("aten::zeros", {{"device", Device{device, std::nullopt}}});
                   },
                   [](auto& b, auto&) {
                     b.add("aten::zeros", {{"device", Device{"neuron", 0}}});
                     b.add("aten::ones");
                   },
                   Severity::Warning});
  }
  for (const char* op : {"aten::to.prim_Device", "aten::cuda"}) {
    out.push_back({"NC511", [op](auto& b, auto&) { b.deviceLiteral(op, {"cuda", std::nullopt}); },
                   [op](auto& b, auto&) { b.deviceLiteral(op, {"neuron", 0}); },
                   Severity::Warning});
  }
  out.push_back({"NC513", [](auto& b, auto&) { writeTo(b, "aten::select.int"); },
                 [](auto& b, auto&) { writeTo(b, "aten::relu"); }, Severity::Note});
  out.push_back({"NC517", collective("_c10d_functional::all_gather_into_tensor"),
                 [](auto& b, auto&) { b.add("aten::cat"); }, Severity::Note});
  out.push_back(
      {"NC518", collective("_c10d_functional::all_reduce", {{"reduce_op", std::string("product")}}),
       collective("_c10d_functional::all_reduce", {{"reduce_op", std::string("sum")}}),
       Severity::Error});
  out.push_back({"NC518",
                 collective("_c10d_functional::all_to_all_single",
                            {{"output_split_sizes", integers({1, 3, 2, 2})},
                             {"input_split_sizes", integers({2, 2, 2, 2})}}),
                 collective("_c10d_functional::all_to_all_single",
                            {{"output_split_sizes", integers({2, 2, 2, 2})},
                             {"input_split_sizes", integers({2, 2, 2, 2})}}),
                 Severity::Error});
  return out;
}

}  // namespace neuroncheck::opdb::test
