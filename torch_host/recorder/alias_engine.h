// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <unordered_map>
#include <vector>

namespace neuroncheck::recorder {

/// The device on which every tensor of the recorder lives (one device, index 0).
c10::Device neuronDevice();

/// One run of CPU code on neuron tensors without copying.
///
/// `toCpu` wraps a neuron tensor as a CPU tensor over the same bytes; `toNeuron` wraps a result
/// back. A result that is one of the wrapped arguments becomes that argument; a result that shares
/// storage with an argument becomes a view of it; any other takes over the CPU memory. `settle`
/// carries a resized `out=` argument back. Tensors that are not on the neuron device, undefined
/// ones and ones that are not strided pass through unchanged.
class AliasScope {
 public:
  at::Tensor toCpu(const at::Tensor& tensor);
  at::Tensor toNeuron(const at::Tensor& tensor);
  c10::IValue toCpu(const c10::IValue& value);
  c10::IValue toNeuron(const c10::IValue& value);
  void settle();

 private:
  struct Wrapped {
    at::Tensor neuron;
    at::Tensor cpu;
  };
  struct WrappedStorage {
    c10::Storage neuron;
    c10::Storage cpu;
    const void* data;
    size_t bytes;
  };

  c10::Storage cpuStorage(const c10::Storage& neuron);
  c10::Storage neuronStorage(const c10::Storage& cpu);

  std::vector<Wrapped> tensors_;
  std::vector<WrappedStorage> storages_;
};

/// Boxed kernel: runs the operator's CPU kernel on the stack through an AliasScope. Operators
/// without a CPU kernel raise torch's own "Could not run" error. Calls made by the CPU kernel are
/// not recorded.
void runOnAliases(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace neuroncheck::recorder
