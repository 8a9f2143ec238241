// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace neuroncheck::backend {

/// The device on which every tensor of the backend lives (one device, index 0).
c10::Device neuronDevice();

/// The value with each of its tensors replaced; other values as they are.
c10::IValue convertTensors(const c10::IValue& value,
                           const std::function<at::Tensor(const at::Tensor&)>& convert);

/// One run of another device's code on neuron tensors without copying.
///
/// The host is the CPU, or Meta, whose tensors have a geometry and no memory. `toHost` wraps a
/// neuron tensor as a host tensor over the same bytes (over none on Meta); `toNeuron` wraps a
/// result back. A result that is one of the wrapped arguments becomes that argument; a result that
/// shares storage with an argument becomes a view of it; any other takes over the CPU memory, or
/// gets memory of its own, zeros that are not touched, when the host is Meta. `settle` carries a
/// resized `out=` argument back. Tensors that are not on the device in question, undefined ones and
/// ones that are not strided pass through unchanged.
class AliasScope {
 public:
  explicit AliasScope(c10::DeviceType host = c10::kCPU) : host_(host) {}

  [[nodiscard]] c10::DeviceType host() const { return host_; }
  at::Tensor toHost(const at::Tensor& tensor);
  at::Tensor toNeuron(const at::Tensor& tensor);
  c10::IValue toHost(const c10::IValue& value);
  c10::IValue toNeuron(const c10::IValue& value);
  /// A result that stays on the host: copied where it lies in memory of the wrapped tensors.
  at::Tensor onHostAlone(const at::Tensor& tensor);
  void settle();

 private:
  struct Wrapped {
    at::Tensor neuron;
    at::Tensor host;
  };
  struct WrappedStorage {
    c10::Storage neuron;
    c10::Storage host;
    const void* data;
    size_t bytes;
  };

  c10::Storage hostStorage(const c10::Storage& neuron);
  c10::Storage neuronStorage(const c10::Storage& host);

  c10::DeviceType host_;
  std::vector<Wrapped> tensors_;
  std::vector<WrappedStorage> storages_;
};

/// Boxed kernel: runs the operator's CPU kernel on the stack through an AliasScope, or its Meta
/// kernel where computeBounds() asks for that. Results are on the CPU where an argument asks for
/// it. Operators without a CPU kernel raise torch's own "Could not run" error. Calls made by the
/// kernel are not recorded.
void runOnAliases(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Bounds of what a kernel may compute; recorder.h says what they do. None by default.
struct ComputeBounds {
  uint64_t exactBytes = UINT64_MAX;
  uint64_t cpuBytes = UINT64_MAX;
};
ComputeBounds& computeBounds();

/// Bytes of the elements of neuron tensors, a broadcast element counted as often as it is read.
uint64_t operandBytes(const c10::IValue& value);

/// Notes why a call could not be made and raises.
[[noreturn]] void giveUp(const std::string& reason);
/// The reason noted since it was last cleared.
std::string& gaveUpReason();

}  // namespace neuroncheck::backend
