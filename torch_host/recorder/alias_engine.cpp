// SPDX-License-Identifier: Apache-2.0
#include "torch_host/recorder/alias_engine.h"

#include "torch_host/recorder/call_log.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace neuroncheck::recorder {
namespace {

void keepAlive(void* context) { delete static_cast<c10::Storage*>(context); }

/// Memory owned by `owner`, labelled as lying on `device`.
c10::DataPtr borrow(const c10::Storage& owner, c10::Device device) {
  return {owner.mutable_data(), new c10::Storage(owner), &keepAlive, device};
}

void copyGeometry(const at::Tensor& from, const at::Tensor& to) {
  auto* impl = to.unsafeGetTensorImpl();
  impl->set_storage_offset(from.storage_offset());
  impl->set_sizes_and_strides(from.sizes(), from.strides());
}

at::Tensor wrap(const at::Tensor& tensor, c10::Storage storage, c10::DispatchKey key) {
  c10::DispatchKeySet keys(key);
  for (const auto bit : {c10::DispatchKey::Conjugate, c10::DispatchKey::Negative}) {
    if (tensor.key_set().has(bit)) {
      keys = keys.add(bit);
    }
  }
  auto result = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, tensor.dtype());
  copyGeometry(tensor, result);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    result.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return result;
}

bool isPlain(const at::Tensor& tensor, c10::DeviceType type) {
  return tensor.defined() && tensor.device().type() == type && tensor.layout() == c10::kStrided &&
         tensor.has_storage() && !tensor.is_quantized();
}

template <typename Convert>
c10::IValue convertTensors(const c10::IValue& value, const Convert& convert) {
  if (value.isTensor()) {
    return convert(value.toTensor());
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> out;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      out.push_back(convert(tensor));
    }
    return out;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> out;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      out.push_back(tensor ? std::optional<at::Tensor>(convert(*tensor)) : std::nullopt);
    }
    return out;
  }
  return value;
}

}  // namespace

c10::Device neuronDevice() { return {c10::DeviceType::PrivateUse1, 0}; }

c10::Storage AliasScope::cpuStorage(const c10::Storage& neuron) {
  for (const WrappedStorage& known : storages_) {
    if (known.neuron.is_alias_of(neuron)) {
      return known.cpu;
    }
  }
  c10::Storage cpu(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                                         neuron.nbytes(), borrow(neuron, c10::kCPU),
                                                         c10::GetCPUAllocator(), true));
  storages_.push_back({neuron, cpu, cpu.data(), cpu.nbytes()});
  return cpu;
}

c10::Storage AliasScope::neuronStorage(const c10::Storage& cpu) {
  for (const WrappedStorage& known : storages_) {
    if (known.cpu.is_alias_of(cpu)) {
      return known.neuron;
    }
  }
  c10::Storage neuron(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), cpu.nbytes(), borrow(cpu, neuronDevice()),
      c10::GetAllocator(c10::DeviceType::PrivateUse1), true));
  storages_.push_back({neuron, cpu, cpu.data(), cpu.nbytes()});
  return neuron;
}

at::Tensor AliasScope::toCpu(const at::Tensor& tensor) {
  if (!isPlain(tensor, c10::DeviceType::PrivateUse1)) {
    return tensor;
  }
  for (const Wrapped& known : tensors_) {
    if (known.neuron.is_same(tensor)) {
      return known.cpu;
    }
  }
  at::Tensor cpu = wrap(tensor, cpuStorage(tensor.storage()), c10::DispatchKey::CPU);
  tensors_.push_back({tensor, cpu});
  return cpu;
}

at::Tensor AliasScope::toNeuron(const at::Tensor& tensor) {
  if (!isPlain(tensor, c10::kCPU)) {
    return tensor;
  }
  for (const Wrapped& known : tensors_) {
    if (known.cpu.is_same(tensor)) {
      return known.neuron;
    }
  }
  return wrap(tensor, neuronStorage(tensor.storage()), c10::DispatchKey::PrivateUse1);
}

c10::IValue AliasScope::toCpu(const c10::IValue& value) {
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    return c10::Device(c10::kCPU);
  }
  if (value.isGenerator() && value.toGenerator().device().is_privateuseone()) {
    return at::detail::getDefaultCPUGenerator();
  }
  return convertTensors(value, [this](const at::Tensor& t) { return toCpu(t); });
}

c10::IValue AliasScope::toNeuron(const c10::IValue& value) {
  return convertTensors(value, [this](const at::Tensor& t) { return toNeuron(t); });
}

void AliasScope::settle() {
  for (const WrappedStorage& known : storages_) {
    if (known.cpu.data() != known.data || known.cpu.nbytes() != known.bytes) {
      known.neuron.set_data_ptr_noswap(borrow(known.cpu, neuronDevice()));
      known.neuron.set_nbytes(known.cpu.nbytes());
    }
  }
  for (const Wrapped& known : tensors_) {
    if (known.cpu.sizes() != known.neuron.sizes() ||
        known.cpu.strides() != known.neuron.strides()) {
      copyGeometry(known.cpu, known.neuron);
    }
  }
}

void runOnAliases(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const PauseRecording pause;
  const at::AutoDispatchBelowADInplaceOrView below;
  AliasScope scope;
  const size_t first = stack->size() - op.schema().arguments().size();
  for (size_t i = first; i < stack->size(); ++i) {
    (*stack)[i] = scope.toCpu((*stack)[i]);
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  scope.settle();
  const size_t result = stack->size() - op.schema().returns().size();
  for (size_t i = result; i < stack->size(); ++i) {
    (*stack)[i] = scope.toNeuron((*stack)[i]);
  }
}

}  // namespace neuroncheck::recorder
