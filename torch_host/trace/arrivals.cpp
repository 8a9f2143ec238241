// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/arrivals.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "torch_host/torchscript/values.h"

namespace neuroncheck::trace {
namespace {

constexpr std::array<std::string_view, 2> kAllocations = {"aten::empty.memory_format",
                                                          "aten::empty_strided"};

bool isWrappedNumber(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() && tensor.unsafeGetTensorImpl()->is_wrapped_number();
}

/// Read from memory: a call of `item` would be recorded.
ArgValue numberOf(const at::Tensor& tensor) {
  const void* data = tensor.const_data_ptr();
  switch (tensor.scalar_type()) {
    case c10::kDouble:
      return SymFloat{.value = *static_cast<const double*>(data), .expr = {}, .name = {}};
    case c10::kBool:
      return SymBool{.value = *static_cast<const bool*>(data), .expr = {}, .name = {}};
    case c10::kComplexDouble: {
      const auto z = *static_cast<const c10::complex<double>*>(data);
      return std::complex<double>(z.real(), z.imag());
    }
    default:
      return SymIntValue{.value = SymInt(*static_cast<const std::int64_t*>(data)), .name = {}};
  }
}

OpName nameOfOperator(const c10::OperatorName& name) {
  const std::size_t colons = name.name.find("::");
  return {.ns = name.name.substr(0, colons),
          .base = name.name.substr(colons + 2),
          .overload = name.overload_name};
}

ArrivalCollector& collector(void* context) { return *static_cast<ArrivalCollector*>(context); }

}  // namespace

bool isFactory(const c10::FunctionSchema& schema) {
  for (const char* name : {"dtype", "layout", "device", "pin_memory"}) {
    if (!schema.argumentIndexWithName(name)) {
      return false;
    }
  }
  return !schema.name().starts_with("aten::to") && !schema.name().starts_with("aten::_to_");
}

ArrivalCollector::ArrivalCollector(bool keepAllocations)
    : observer_{
          .context = this,
          .before =
              [](void* context, size_t /*call*/, int depth, const void* op, const void* stack) {
                collector(context).before(depth, *static_cast<const c10::OperatorHandle*>(op),
                                          *static_cast<const torch::jit::Stack*>(stack));
              },
          .after =
              [](void* context, size_t call, bool arrived, bool raised, const void* op,
                 const void* stack) {
                collector(context).after(call, arrived, raised,
                                         *static_cast<const c10::OperatorHandle*>(op),
                                         *static_cast<const torch::jit::Stack*>(stack));
              }},
      keepAllocations_(keepAllocations) {}

std::string ArrivalCollector::nameOf(const at::Tensor& tensor) {
  const auto [place, isNew] = names_.try_emplace(tensor.unsafeGetTensorImpl(), names_.size());
  if (isNew) {
    seen_.emplace_back(tensor.getIntrusivePtr());
  }
  return fmt::format("t{}", place->second);
}

TensorPtr ArrivalCollector::tensorOf(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return nullptr;
  }
  TensorValue value{
      .name = nameOf(tensor),
      .spec = tensor.is_nested() ? torchscript::unknownSpec() : torchscript::specOf(tensor)};
  if (!tensor.device().is_privateuseone()) {
    value.spec.device.type = c10::DeviceTypeName(tensor.device().type(), true);
  }
  return std::make_shared<const TensorValue>(std::move(value));
}

ArgValue ArrivalCollector::valueOf(const c10::IValue& value, const c10::TypePtr& type) {
  if (value.isTensor()) {
    if (isWrappedNumber(value.toTensor())) {
      return numberOf(value.toTensor());
    }
    const TensorPtr tensor = tensorOf(value.toTensor());
    return tensor ? ArgValue(tensor) : ArgValue(NoneValue{});
  }
  if (value.isTensorList()) {
    TensorList list;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      list.items.push_back(tensorOf(tensor));
    }
    return list;
  }
  if (value.isOptionalTensorList()) {
    TensorList list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.items.push_back(tensor ? tensorOf(*tensor) : nullptr);
    }
    return list;
  }
  return torchscript::knownValue(value, type, "");
}

namespace {

bool holdsOther(const c10::IValue& value) {
  const auto other = [](const at::Tensor& tensor) {
    return tensor.defined() &&
           (tensor.layout() != c10::kStrided || tensor.is_quantized() || tensor.is_nested());
  };
  return value.isTensor()       ? other(value.toTensor())
         : value.isTensorList() ? std::ranges::any_of(value.toTensorVector(), other)
                                : false;
}

}  // namespace

void ArrivalCollector::before(int depth, const c10::OperatorHandle& op,
                              const torch::jit::Stack& stack) {
  Call call;
  call.depth = depth;
  call.use.op = nameOfOperator(op.operator_name());
  const auto& arguments = op.schema().arguments();
  const std::size_t first = stack.size() - arguments.size();
  std::vector<Argument> defaults;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = arguments[i];
    lostTrack_ = lostTrack_ || holdsOther(stack[first + i]);
    Argument out{.name = argument.name(),
                 .value = valueOf(stack[first + i], argument.real_type()),
                 .isDefault = false};
    out.isDefault =
        argument.default_value() &&
        sameValue(out.value, torchscript::knownValue(*argument.default_value(),
                                                     argument.real_type(), argument.name()));
    (out.isDefault ? defaults : call.use.args).push_back(std::move(out));
  }
  std::ranges::move(defaults, std::back_inserter(call.use.args));
  calls_.push_back(std::move(call));
}

void ArrivalCollector::after(std::size_t index, bool arrived, bool raised,
                             const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  Call& call = calls_.at(index);
  if (raised) {
    if (raisedAt_.empty()) {
      raisedAt_ = call.use.op.str();
      raisedDepth_ = call.depth;
    }
    return;
  }
  if (call.depth < raisedDepth_) {
    raisedAt_.clear();  // The caller of what raised went on.
  }
  call.arrived = arrived;
  const auto& returns = op.schema().returns();
  const std::size_t first = stack.size() - returns.size();
  for (std::size_t i = 0; arrived && i < returns.size(); ++i) {
    call.use.outputs.push_back(valueOf(stack[first + i], returns[i].real_type()));
  }
}

std::vector<OpUse> ArrivalCollector::take() {
  std::vector<OpUse> out;
  int arrivedDepth = std::numeric_limits<int>::max();
  for (Call& call : calls_) {
    if (call.depth > arrivedDepth) {
      continue;  // What a kernel of the backend calls itself is no work of the device.
    }
    arrivedDepth = call.arrived ? call.depth : std::numeric_limits<int>::max();
    const std::string target = call.use.op.str();
    const bool allocation = std::ranges::find(kAllocations, target) != kAllocations.end();
    if (call.arrived && (keepAllocations_ || !allocation)) {
      call.use.id = static_cast<std::uint32_t>(out.size());
      call.use.node = fmt::format("arrival_{}", out.size());
      out.push_back(std::move(call.use));
    }
  }
  calls_.clear();
  return out;
}

}  // namespace neuroncheck::trace
