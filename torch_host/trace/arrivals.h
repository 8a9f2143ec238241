// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core/inventory.h"
#include "torch_host/recorder/recorder.h"

namespace neuroncheck::trace {

/// True for an operator that makes a tensor as it is told (`zeros`, `empty_like`, `new_full`):
/// allocations below it are its work.
[[nodiscard]] bool isFactory(const c10::FunctionSchema& schema);

/// Listens to a recording and keeps the calls that arrived at the backend, as uses: operator,
/// arguments by the names of the schema (those equal to its defaults marked so, after the others),
/// results. Tensors are named "t0", "t1", ..., one name an object; a number that torch made a
/// tensor is a number again. Allocations (`empty.memory_format`, `empty_strided`) are left out
/// unless `keepAllocations`.
class ArrivalCollector {
 public:
  explicit ArrivalCollector(bool keepAllocations);
  ArrivalCollector(const ArrivalCollector&) = delete;
  ArrivalCollector& operator=(const ArrivalCollector&) = delete;

  /// For RecorderLibrary::observe, while this lives.
  [[nodiscard]] const neuron_recorder_observer& observer() const { return observer_; }
  /// In the order in which the calls began, numbered from 0. Empties the collector.
  [[nodiscard]] std::vector<OpUse> take();
  /// The innermost operator that raised; empty when none did.
  [[nodiscard]] const std::string& raisedAt() const { return raisedAt_; }
  /// Some call was given a sparse, nested or quantised tensor. The recorder keeps those on the CPU,
  /// so that what arrives after it is not known.
  [[nodiscard]] bool lostTrack() const { return lostTrack_; }

 private:
  void before(int depth, const c10::OperatorHandle& op, const torch::jit::Stack& stack);
  void after(std::size_t call, bool arrived, bool raised, const c10::OperatorHandle& op,
             const torch::jit::Stack& stack);
  [[nodiscard]] ArgValue valueOf(const c10::IValue& value, const c10::TypePtr& type);
  [[nodiscard]] TensorPtr tensorOf(const at::Tensor& tensor);
  [[nodiscard]] std::string nameOf(const at::Tensor& tensor);

  struct Call {
    OpUse use;
    int depth = 0;
    bool arrived = false;
  };

  neuron_recorder_observer observer_;
  bool keepAllocations_;
  std::vector<Call> calls_;
  bool lostTrack_ = false;
  std::string raisedAt_;
  int raisedDepth_ = 0;
  std::unordered_map<const c10::TensorImpl*, std::size_t> names_;
  // Keep the addresses of dead tensors from being used again.
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> seen_;
};

}  // namespace neuroncheck::trace
