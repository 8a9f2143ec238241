// SPDX-License-Identifier: Apache-2.0
#include "torch_host/backend/alias_engine.h"

#include "torch_host/backend/hooks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <string>

namespace neuroncheck::backend {
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
         tensor.has_storage() && !tensor.is_quantized() && !tensor.is_nested();
}

}  // namespace

c10::IValue convertTensors(const c10::IValue& value,
                           const std::function<at::Tensor(const at::Tensor&)>& convert) {
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

c10::Device neuronDevice() { return {c10::DeviceType::PrivateUse1, 0}; }

c10::Storage AliasScope::hostStorage(const c10::Storage& neuron) {
  for (const WrappedStorage& known : storages_) {
    if (known.neuron.is_alias_of(neuron)) {
      return known.host;
    }
  }
  c10::DataPtr memory =
      host_ == c10::kMeta ? c10::DataPtr(nullptr, c10::kMeta) : borrow(neuron, host_);
  c10::Storage host(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                                          neuron.nbytes(), std::move(memory),
                                                          c10::GetAllocator(host_), true));
  storages_.push_back({neuron, host, host.data(), host.nbytes()});
  return host;
}

c10::Storage AliasScope::neuronStorage(const c10::Storage& host) {
  for (const WrappedStorage& known : storages_) {
    if (known.host.is_alias_of(host)) {
      return known.neuron;
    }
  }
  c10::Allocator* allocator = c10::GetAllocator(c10::DeviceType::PrivateUse1);
  c10::Storage neuron(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), host.nbytes(),
      host_ == c10::kMeta ? allocator->allocate(host.nbytes()) : borrow(host, neuronDevice()),
      allocator, true));
  storages_.push_back({neuron, host, host.data(), host.nbytes()});
  return neuron;
}

at::Tensor AliasScope::toHost(const at::Tensor& tensor) {
  if (!isPlain(tensor, c10::DeviceType::PrivateUse1)) {
    return tensor;
  }
  for (const Wrapped& known : tensors_) {
    if (known.neuron.is_same(tensor)) {
      return known.host;
    }
  }
  const auto key = host_ == c10::kMeta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU;
  at::Tensor host = wrap(tensor, hostStorage(tensor.storage()), key);
  tensors_.push_back({tensor, host});
  return host;
}

at::Tensor AliasScope::toNeuron(const at::Tensor& tensor) {
  if (!isPlain(tensor, host_)) {
    return tensor;
  }
  for (const Wrapped& known : tensors_) {
    if (known.host.is_same(tensor)) {
      return known.neuron;
    }
  }
  return wrap(tensor, neuronStorage(tensor.storage()), c10::DispatchKey::PrivateUse1);
}

c10::IValue AliasScope::toHost(const c10::IValue& value) {
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    return c10::Device(host_);
  }
  if (value.isGenerator() && value.toGenerator().device().is_privateuseone()) {
    return at::detail::getDefaultCPUGenerator();
  }
  return convertTensors(value, [this](const at::Tensor& t) { return toHost(t); });
}

c10::IValue AliasScope::toNeuron(const c10::IValue& value) {
  return convertTensors(value, [this](const at::Tensor& t) { return toNeuron(t); });
}

at::Tensor AliasScope::onHostAlone(const at::Tensor& tensor) {
  const bool borrowed =
      isPlain(tensor, host_) &&
      std::any_of(storages_.begin(), storages_.end(), [&tensor](const WrappedStorage& known) {
        return known.host.is_alias_of(tensor.storage());
      });
  return borrowed ? tensor.clone() : tensor;
}

void AliasScope::settle() {
  for (const WrappedStorage& known : storages_) {
    if (known.host.data() != known.data || known.host.nbytes() != known.bytes) {
      known.neuron.set_data_ptr_noswap(
          host_ == c10::kMeta
              ? c10::GetAllocator(c10::DeviceType::PrivateUse1)->allocate(known.host.nbytes())
              : borrow(known.host, neuronDevice()));
      known.neuron.set_nbytes(known.host.nbytes());
    }
  }
  for (const Wrapped& known : tensors_) {
    if (known.host.sizes() != known.neuron.sizes() ||
        known.host.strides() != known.neuron.strides()) {
      copyGeometry(known.host, known.neuron);
    }
  }
}

namespace {

/// The stack's last values, the call's arguments, replaced by its results.
void runOn(c10::DeviceType host, const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  AliasScope scope(host);
  const size_t first = stack->size() - op.schema().arguments().size();
  bool leaves = false;  // to(x, device="cpu") and its kind
  for (size_t i = first; i < stack->size(); ++i) {
    leaves |= (*stack)[i].isDevice() && (*stack)[i].toDevice().is_cpu();
    (*stack)[i] = scope.toHost((*stack)[i]);
  }
  const auto key = host == c10::kMeta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU;
  op.redispatchBoxed(c10::DispatchKeySet(key), stack);
  scope.settle();
  const size_t result = stack->size() - op.schema().returns().size();
  for (size_t i = result; i < stack->size(); ++i) {
    (*stack)[i] =
        leaves ? convertTensors((*stack)[i],
                                [&scope](const at::Tensor& t) { return scope.onHostAlone(t); })
               : scope.toNeuron((*stack)[i]);
  }
}

/// Bytes that a call will write when an argument says how much: `size`, as if of eight-byte
/// elements, or `repeats` of its operands.
uint64_t requestedBytes(const c10::Argument& argument, const c10::IValue& value,
                        uint64_t operands) {
  if (!value.isIntList() || (argument.name() != "size" && argument.name() != "repeats")) {
    return 0;
  }
  uint64_t bytes = argument.name() == "size" ? 8 : operands;
  for (const int64_t size : value.toIntVector()) {
    bytes = __builtin_mul_overflow(bytes, static_cast<uint64_t>(std::max<int64_t>(size, 0)), &bytes)
                ? UINT64_MAX
                : bytes;
  }
  return bytes;
}

uint64_t bytesOfCall(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto& arguments = op.schema().arguments();
  const size_t first = stack.size() - arguments.size();
  uint64_t operands = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    operands += operandBytes(stack[first + i]);
  }
  uint64_t bytes = operands;
  for (size_t i = 0; i < arguments.size(); ++i) {
    bytes = std::max(bytes, requestedBytes(arguments[i], stack[first + i], operands));
  }
  return bytes;
}

/// False when the operator has no Meta kernel, or one that refuses; the stack is then as it was.
bool ranOnMeta(const c10::OperatorHandle& op, torch::jit::Stack* stack, std::string& refusal) {
  const size_t first = stack->size() - op.schema().arguments().size();
  torch::jit::Stack attempt(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
  try {
    runOn(c10::kMeta, op, &attempt);
  } catch (const c10::Error& error) {
    refusal = error.what_without_backtrace();
    return false;
  } catch (const std::exception& error) {
    refusal = error.what();
    return false;
  }
  stack->resize(first);
  stack->insert(stack->end(), attempt.begin(), attempt.end());
  return true;
}

}  // namespace

void runOnAliases(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const PauseRecording pause;
  const at::AutoDispatchBelowADInplaceOrView below;
  const ComputeBounds& bounds = computeBounds();
  // An operator without a CPU kernel raises before it looks at its operands.
  const uint64_t bytes = op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)
                             ? bytesOfCall(op, *stack)
                             : uint64_t{0};
  if (bytes > bounds.exactBytes) {
    std::string refusal;
    if (ranOnMeta(op, stack, refusal)) {
      return;
    }
    if (bytes > bounds.cpuBytes) {
      giveUp(c10::toString(op.schema().operator_name()) + " has operands of " +
             std::to_string(bytes >> 20) + " MiB, too many to run it, and its shapes without " +
             "running it are not known: " + refusal);
    }
  }
  runOn(c10::kCPU, op, stack);
}

ComputeBounds& computeBounds() {
  static ComputeBounds bounds;
  return bounds;
}

uint64_t operandBytes(const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    return isPlain(tensor, c10::DeviceType::PrivateUse1)
               ? static_cast<uint64_t>(tensor.numel()) * tensor.element_size()
               : 0;
  }
  uint64_t bytes = 0;
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      bytes += operandBytes(tensor);
    }
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      bytes += tensor ? operandBytes(*tensor) : 0;
    }
  }
  return bytes;
}

std::string& gaveUpReason() {
  static std::string reason;
  return reason;
}

void giveUp(const std::string& reason) {
  if (gaveUpReason().empty()) {
    gaveUpReason() = reason;
  }
  TORCH_CHECK(false, reason);
}

}  // namespace neuroncheck::backend
