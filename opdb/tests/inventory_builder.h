// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/schema.h"

namespace neuroncheck::opdb::test {

/// A plain tensor value.
inline TensorPtr tensor(DType dtype, std::vector<SymInt> sizes, std::string name = "t",
                        std::vector<SymInt> strides = {}) {
  TensorSpec spec;
  spec.dtype = dtype;
  spec.sizes = std::move(sizes);
  spec.device.type = "cpu";
  if (strides.empty()) {
    SymInt next(1);
    spec.strides.resize(spec.sizes.size());
    for (std::size_t i = spec.sizes.size(); i-- > 0;) {
      spec.strides[i] = next;
      const SymInt& size = spec.sizes[i];
      next = size.isSymbolic() || next.isSymbolic() ? SymInt(SymExpr::makeSymbol("s_stride"))
                                                    : SymInt(next.value * size.value);
    }
  } else {
    spec.strides = std::move(strides);
  }
  return std::make_shared<const TensorValue>(TensorValue{std::move(name), std::move(spec)});
}
inline TensorPtr tensor(DType dtype) { return tensor(dtype, {SymInt(4), SymInt(4)}); }
inline SymInt symbol(std::string name) { return SymInt(SymExpr::makeSymbol(std::move(name))); }
inline ArgValue integer(std::int64_t value) { return SymIntValue{SymInt(value), {}}; }
inline ArgValue integers(const std::vector<std::int64_t>& values) {
  std::vector<SymIntValue> out;
  for (const std::int64_t value : values) {
    out.push_back({SymInt(value), {}});
  }
  return out;
}
inline ArgValue boolean(bool value) { return SymBool{value, nullptr, {}}; }
inline ArgValue real(double value) { return SymFloat{value, nullptr, {}}; }

/// Makes models by hand. Arguments that are not given get the schema's default, or a small plain
/// value: tensors float32[4, 4].
class InventoryBuilder {
 public:
  using Given = std::map<std::string, ArgValue>;

  explicit InventoryBuilder(const SchemaSource& schemas) : schemas_(schemas) {
    model_.name = "m";
    model_.madeOn = {"cpu"};
  }

  /// Adds a use; an operator without a schema gets exactly the arguments given. Outputs: those
  /// given, else one tensor per tensor result, of the first tensor argument's type.
  OpUse& add(std::string_view op, Given given = {}, std::vector<ArgValue> outputs = {}) {
    OpUse use;
    use.id = static_cast<std::uint32_t>(model_.uses.size());
    use.op = OpName::parse(op).value();
    use.node = use.op.base + "_" + std::to_string(use.id);
    use.source = {"model.py", static_cast<std::int64_t>(use.id) + 1};
    const OpInfo* info = schemas_.find(use.op);
    use.inCatalogue = info != nullptr;
    if (info != nullptr) {
      fill(use, *info, given);
    }
    for (auto& [name, value] : given) {
      if (use.arg(name) == nullptr) {
        use.args.push_back({name, std::move(value), false});
      }
    }
    use.outputs = std::move(outputs);
    if (use.outputs.empty() && info != nullptr) {
      fillOutputs(use, *info);
    }
    use.group = groupOf(use, info);
    model_.uses.push_back(std::move(use));
    claims_.push_back({});
    claims_.back().use = model_.uses.back().id;
    claims_.back().claim = Claim::Native;
    return model_.uses.back();
  }
  void deviceLiteral(std::string_view op, Device device) {
    model_.deviceLiterals.push_back({.op = OpName::parse(op).value(),
                                     .device = std::move(device),
                                     .node = "moved",
                                     .graph = {},
                                     .module = {},
                                     .source = {"model.py", 1}});
  }
  HigherOrderUse& addHigherOrder(std::string name, std::vector<ArgValue> args = {}) {
    HigherOrderUse use;
    use.name = name;
    use.node = name + "_node";
    for (ArgValue& value : args) {
      use.args.push_back({"", std::move(value), false});
    }
    model_.higherOrder.push_back(std::move(use));
    return model_.higherOrder.back();
  }
  void input(std::string name, const TensorPtr& value) {
    model_.inputs.push_back({std::move(name), "USER_INPUT", {}, std::nullopt, value});
  }
  void store(std::string name, TensorSpec spec, std::int64_t recordBytes, std::string record) {
    model_.stored.push_back(
        {std::move(name), std::move(spec), std::move(record), recordBytes, true});
  }
  void range(const std::string& symbolName, std::optional<std::int64_t> min,
             std::optional<std::int64_t> max) {
    model_.ranges[symbolName] = {min, max};
  }
  /// The claim of the use added last.
  UseClaim& claim() { return claims_.back(); }
  Model& model() { return model_; }
  [[nodiscard]] const std::vector<UseClaim>& claims() const { return claims_; }

 private:
  static ArgValue plain(const SchemaArgument& argument) {
    switch (argument.type) {
      case SchemaType::Tensor:
        return argument.list
                   ? ArgValue(TensorList{{tensor(DType::Float32), tensor(DType::Float32)}})
                   : ArgValue(tensor(DType::Float32));
      case SchemaType::Int:
      case SchemaType::SymInt:
        return argument.list ? integers({1, 1}) : integer(1);
      case SchemaType::Scalar:
        return integer(1);
      case SchemaType::Float:
      case SchemaType::SymFloat:
        return real(1.0);
      case SchemaType::Bool:
      case SchemaType::SymBool:
        return boolean(false);
      case SchemaType::String:
        return std::string("sum");
      case SchemaType::ScalarType:
        return DType::Float32;
      default:
        return NoneValue{};
    }
  }
  static void fill(OpUse& use, const OpInfo& info, Given& given) {
    std::vector<Argument> defaults;
    for (const SchemaArgument& argument : info.schema.arguments) {
      if (const auto found = given.find(argument.name); found != given.end()) {
        use.args.push_back({argument.name, std::move(found->second), false});
        given.erase(found);
      } else if (argument.defaultValue) {
        defaults.push_back({argument.name, *argument.defaultValue, true});
      } else if (argument.optional) {
        use.args.push_back({argument.name, NoneValue{}, false});
      } else {
        use.args.push_back({argument.name, plain(argument), false});
      }
    }
    use.args.insert(use.args.end(), defaults.begin(), defaults.end());
  }
  static void fillOutputs(OpUse& use, const OpInfo& info) {
    DType dtype = DType::Float32;
    bool first = true;
    for (const Argument& argument : use.args) {
      forEachTensor(argument.value, [&](const TensorValue& value) {
        dtype = first ? value.spec.dtype : dtype;
        first = false;
      });
    }
    for (const SchemaArgument& result : info.schema.returns) {
      if (result.type == SchemaType::Tensor) {
        use.outputs.emplace_back(tensor(dtype, {SymInt(4), SymInt(4)}, use.node));
      }
    }
  }
  static OpGroup groupOf(const OpUse& use, const OpInfo* info) {
    if (use.op.ns.find("c10d") != std::string::npos) {
      return OpGroup::Collective;
    }
    if (info == nullptr) {
      return OpGroup::Compute;
    }
    if (info->hasTag("nondeterministic_seeded")) {
      return OpGroup::Random;
    }
    if (info->view == ViewClass::ViewOrCopy) {
      return OpGroup::ViewOrCopy;
    }
    return info->view == ViewClass::None ? OpGroup::Compute : OpGroup::View;
  }

  const SchemaSource& schemas_;
  Model model_;
  std::vector<UseClaim> claims_;
};

}  // namespace neuroncheck::opdb::test
