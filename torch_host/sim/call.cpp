// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/call.h"

#include <algorithm>

#include "torch_host/backend/alias_engine.h"

namespace neuroncheck::sim {
namespace {

bool matchesOperand(const Selector& selector, const at::Tensor& tensor) {
  if (!selector.dtype.empty() && selector.dtype != c10::getDtypeNames(tensor.scalar_type()).first) {
    return false;
  }
  if (selector.shape && tensor.sizes() != c10::IntArrayRef(*selector.shape)) {
    return false;
  }
  if (selector.minRank && tensor.dim() < *selector.minRank) {
    return false;
  }
  if (selector.dimAtLeast) {
    const auto [dim, size] = *selector.dimAtLeast;
    const int64_t place = dim < 0 ? dim + tensor.dim() : dim;
    if (place < 0 || place >= tensor.dim() || tensor.size(place) < size) {
      return false;
    }
  }
  return !selector.noncontiguous || (tensor.layout() == c10::kStrided && !tensor.is_contiguous());
}

/// Factories have no operand: their dtype argument speaks for them.
bool matchesFactory(const Selector& selector, const Call& call) {
  const c10::IValue* dtype = call.argument("dtype");
  if (selector.shape || selector.minRank || selector.dimAtLeast || selector.noncontiguous ||
      dtype == nullptr) {
    return false;
  }
  const auto type =
      dtype->isInt() ? static_cast<c10::ScalarType>(dtype->toInt()) : c10::ScalarType::Float;
  return selector.dtype == c10::getDtypeNames(type).first;
}

bool isArgument(const std::vector<c10::IValue>& arguments, const at::Tensor& tensor) {
  bool found = false;
  for (const c10::IValue& value : arguments) {
    eachTensor(value, [&](const at::Tensor& other) { found |= other.is_same(tensor); });
  }
  return found;
}

}  // namespace

Call::Call(const c10::OperatorHandle& handle, torch::jit::Stack& values)
    : op(handle),
      stack(values),
      arguments(values.end() - static_cast<std::ptrdiff_t>(handle.schema().arguments().size()),
                values.end()),
      name(c10::toString(handle.operator_name())),
      packet(handle.operator_name().name) {}

const c10::IValue* Call::argument(std::string_view argumentName) const {
  const auto& formal = op.schema().arguments();
  for (size_t i = 0; i < formal.size(); ++i) {
    if (formal[i].name() == argumentName) {
      return &arguments[i];
    }
  }
  return nullptr;
}

void eachTensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit) {
  if (value.isTensor() && value.toTensor().defined()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) {
        visit(tensor);
      }
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      if (tensor && tensor->defined()) {
        visit(*tensor);
      }
    }
  }
}

bool matches(const Selector& selector, const Call& call) {
  const c10::OperatorName& name = call.op.operator_name();
  if (selector.packet != name.name ||
      (selector.overload && *selector.overload != name.overload_name)) {
    return false;
  }
  if (!selector.asksOperand()) {
    return true;
  }
  bool any = false;
  bool matched = false;
  for (const c10::IValue& value : call.arguments) {
    eachTensor(value, [&](const at::Tensor& tensor) {
      any = true;
      matched |= matchesOperand(selector, tensor);
    });
  }
  return any ? matched : matchesFactory(selector, call);
}

std::vector<Touched> touched(const c10::OperatorHandle& op,
                             const std::vector<c10::IValue>& arguments,
                             const torch::jit::Stack& results) {
  std::vector<Touched> out;
  const auto add = [&out](const at::Tensor& tensor, bool view) {
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const Touched& t) { return t.tensor.is_same(tensor); });
    if (!known && isOnDevice(tensor)) {
      out.push_back({tensor, view});
    }
  };
  const auto& returns = op.schema().returns();
  const size_t first = results.size() - returns.size();
  for (size_t i = 0; i < returns.size(); ++i) {
    const auto* alias = returns[i].alias_info();
    const bool written = alias != nullptr && alias->isWrite();
    eachTensor(results[first + i], [&](const at::Tensor& tensor) {
      if (written || !isArgument(arguments, tensor)) {
        add(tensor, alias != nullptr && !written);
      }
    });
  }
  const auto& formal = op.schema().arguments();
  for (size_t i = 0; i < formal.size(); ++i) {
    if (formal[i].alias_info() != nullptr && formal[i].alias_info()->isWrite()) {
      eachTensor(arguments[i], [&](const at::Tensor& tensor) { add(tensor, false); });
    }
  }
  return out;
}

at::Tensor firstInput(const Call& call) {
  const auto& formal = call.op.schema().arguments();
  at::Tensor first;
  for (size_t i = 0; i < formal.size() && !first.defined(); ++i) {
    const auto* alias = formal[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) {
      eachTensor(call.arguments[i], [&first](const at::Tensor& tensor) {
        if (!first.defined() && isOnDevice(tensor) && tensor.numel() > 0) {
          first = tensor;
        }
      });
    }
  }
  return first;
}

bool isOnDevice(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_privateuseone() &&
         tensor.layout() == c10::kStrided && tensor.has_storage() && !tensor.is_quantized() &&
         !tensor.is_nested();
}

at::Tensor onHost(const at::Tensor& neuron) { return backend::AliasScope().toHost(neuron); }

at::Tensor onDevice(const at::Tensor& host) { return backend::AliasScope().toNeuron(host); }

void replaceContents(const at::Tensor& neuron, const at::Tensor& host) {
  const at::Tensor fresh = onDevice(host);
  auto* impl = neuron.unsafeGetTensorImpl();
  impl->set_storage_and_dtype(fresh.storage(), fresh.dtype());
  impl->set_storage_offset(fresh.storage_offset());
  impl->set_sizes_and_strides(fresh.sizes(), fresh.strides());
  if (neuron.is_conj() != host.is_conj()) {
    impl->_set_conj(host.is_conj());
  }
}

}  // namespace neuroncheck::sim
