// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/absolute.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace neuroncheck::companion {
namespace {

constexpr std::array<std::string_view, 3> kMultipliers{"alpha", "beta", "value"};

bool real(const Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

c10::IValue wideDtype(const c10::IValue& value) {
  const auto type = static_cast<c10::ScalarType>(value.toInt());
  return c10::isFloatingType(type)  ? c10::IValue(at::kDouble)
         : c10::isComplexType(type) ? c10::IValue(at::kComplexDouble)
                                    : value;
}

bool isDtype(const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  const c10::TypePtr& base = optional ? optional->getElementType() : argument.real_type();
  return base->kind() == c10::TypeKind::ScalarTypeType;
}

}  // namespace

torch::jit::Stack changedArguments(
    const Call& call, const std::function<Tensor(std::string_view, const Tensor&)>& change,
    const std::function<double(double)>& changeNumber) {
  torch::jit::Stack out;
  const auto& declared = call.op.schema().arguments();
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const c10::IValue& given = call.arguments.at(i);
    const std::string& name = declared[i].name();
    if (given.isTensor()) {
      const Tensor tensor = given.toTensor();
      out.emplace_back(real(tensor) ? change(name, tensor) : tensor);
    } else if (given.isTensorList()) {
      c10::List<Tensor> changed;
      for (const Tensor& each : given.toTensorVector()) {
        changed.push_back(real(each) ? change(name, each) : each);
      }
      out.emplace_back(std::move(changed));
    } else if (given.isDouble() && std::ranges::find(kMultipliers, name) != kMultipliers.end()) {
      out.emplace_back(changeNumber(given.toDouble()));
    } else if (given.isInt() && isDtype(declared[i])) {
      out.push_back(wideDtype(given));
    } else if (given.isInt() && std::ranges::find(kMultipliers, name) != kMultipliers.end()) {
      out.emplace_back(changeNumber(static_cast<double>(given.toInt())));
    } else {
      out.push_back(given);
    }
  }
  return out;
}

torch::jit::Stack absoluteArguments(const Call& call) {
  return changedArguments(
      call, [](std::string_view, const Tensor& x) { return x.abs(); },
      [](double number) { return std::abs(number); });
}

}  // namespace neuroncheck::companion
