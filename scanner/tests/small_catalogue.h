// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"

namespace neuroncheck::scanner::testing {

/// A schema source of a few operators, enough for the readers' own tests.
class SmallCatalogue final : public SchemaSource {
 public:
  SmallCatalogue() {
    add("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor");
    add("aten::relu(Tensor self) -> Tensor");
    add("aten::relu_(Tensor(a!) self) -> Tensor(a!)");
    add("aten::gelu(Tensor self, *, str approximate='none') -> Tensor");
    add("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
    add("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor");
    add("aten::dropout(Tensor input, float p, bool train) -> Tensor", ViewClass::None,
        {"nondeterministic_seeded"});
    add("aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
        "device=None, bool? "
        "pin_memory=None) -> Tensor",
        ViewClass::None, {"nondeterministic_seeded"});
    add("aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
        "device=None, bool? "
        "pin_memory=None) -> Tensor");
    add("aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
        "device=None, bool? "
        "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor");
    add("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", ViewClass::View);
    add("aten::view_as_real(Tensor(a) self) -> Tensor(a)", ViewClass::KernelView);
    add("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", ViewClass::ViewOrCopy);
    add("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor");
    add("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
        "copy=False, MemoryFormat? "
        "memory_format=None) -> Tensor(a)",
        ViewClass::ViewOrCopy);
    add("aten::sym_size.int(Tensor self, int dim) -> SymInt");
    add("aten::_assert_scalar(Scalar self, str assert_msg) -> ()");
    add("aten::item(Tensor self) -> Scalar");
  }

  [[nodiscard]] const OpInfo* find(const OpName& name) const override {
    const auto found = table_.find(name);
    return found == table_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::vector<OpName> overloads(std::string_view packet) const override {
    std::vector<OpName> names;
    for (const auto& [name, info] : table_) {
      if (name.packet() == packet) {
        names.push_back(name);
      }
    }
    return names;
  }

 private:
  void add(std::string_view schema, ViewClass view = ViewClass::None,
           std::vector<std::string> tags = {}) {
    auto parsed = FunctionSchema::parse(schema);
    NEURONCHECK_CHECK(parsed.has_value(), "a schema of the tests' catalogue");
    OpInfo info;
    info.schema = std::move(*parsed);
    info.view = view;
    info.tags = std::move(tags);
    info.mutates = info.schema.mutates();
    const OpName name = info.schema.name;
    table_.emplace(name, std::move(info));
  }

  std::map<OpName, OpInfo> table_;
};

}  // namespace neuroncheck::scanner::testing
