// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <string>
#include <vector>

#include "torch_host/sim/profile.h"

namespace neuroncheck::sim {

/// One call that reached the device, with its arguments as they came.
struct Call {
  Call(const c10::OperatorHandle& handle, torch::jit::Stack& values);

  const c10::OperatorHandle& op;
  torch::jit::Stack& stack;  ///< ends with the arguments, after the run with the results
  std::vector<c10::IValue> arguments;
  std::string name;    ///< "aten::add.Tensor"
  std::string packet;  ///< "aten::add"

  /// The argument of this name; null when the operator has none.
  [[nodiscard]] const c10::IValue* argument(std::string_view argumentName) const;
};

/// A tensor that a call gave or wrote.
struct Touched {
  at::Tensor tensor;
  bool view = false;  ///< by its schema it shares memory with an argument
};

/// Calls `visit` for each defined tensor in a value.
void eachTensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit);

[[nodiscard]] bool matches(const Selector& selector, const Call& call);

/// Plain neuron tensors that the call gave, then those that it wrote and did not return. An
/// argument that it returns without writing it is not among them. `results` end the stack.
[[nodiscard]] std::vector<Touched> touched(const c10::OperatorHandle& op,
                                           const std::vector<c10::IValue>& arguments,
                                           const torch::jit::Stack& results);

/// The first tensor on the device that the call reads, does not write, and has elements.
[[nodiscard]] at::Tensor firstInput(const Call& call);

/// A strided tensor with memory on the device.
[[nodiscard]] bool isOnDevice(const at::Tensor& tensor);
/// A CPU tensor over the same bytes.
[[nodiscard]] at::Tensor onHost(const at::Tensor& neuron);
/// A neuron tensor over the bytes of a CPU tensor.
[[nodiscard]] at::Tensor onDevice(const at::Tensor& host);
/// Gives the tensor another memory, dtype and geometry, those of a CPU tensor.
void replaceContents(const at::Tensor& neuron, const at::Tensor& host);

}  // namespace neuroncheck::sim
