// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/engine.h"

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/plumbing_kernels.h"
#include "torch_host/backend/special_kernels.h"

#include <ATen/native/CPUFallback.h>

#include <set>

namespace neuroncheck::sim {

void execute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const std::string name = c10::toString(op.operator_name());
  std::optional<backend::Kernel> kernel;
  if (const auto plumbing = backend::plumbingKernels().find(name);
      plumbing != backend::plumbingKernels().end()) {
    kernel = plumbing->second;
  } else {
    kernel = backend::specialKernel(name);
  }
  if (kernel) {
    kernel->function().callBoxed(op, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), stack);
  } else {
    backend::runOnAliases(op, stack);
  }
}

void fallBackByCopies(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t first = stack->size() - op.schema().arguments().size();
  for (size_t i = first; i < stack->size(); ++i) {
    if ((*stack)[i].isGenerator()) {  // a generator is no tensor, so nothing copies it
      (*stack)[i] = backend::AliasScope().toHost((*stack)[i]);
    }
  }
  at::native::cpu_fallback(op, stack);
}

bool isPlumbing(const std::string& op) { return backend::plumbingKernels().contains(op); }

bool isMove(const std::string& packet) {
  static const std::set<std::string> kMoves{"aten::_to_copy", "aten::clone", "aten::contiguous",
                                            "aten::copy_",    "aten::to",    "aten::_copy_from"};
  return kMoves.contains(packet);
}

bool waits(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  // Sizes that depend on values are read by the host, as are values themselves.
  if (op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output) ||
      op.operator_name().name == "aten::_local_scalar_dense") {
    return true;
  }
  const auto& formal = op.schema().arguments();
  const size_t first = stack.size() - formal.size();
  for (size_t i = 0; i < formal.size(); ++i) {
    const c10::IValue& value = stack[first + i];
    // The copies that torch asks a backend for name their target `dst` without marking it written.
    const bool target = formal[i].name() == "dst" ||
                        (formal[i].alias_info() != nullptr && formal[i].alias_info()->isWrite());
    if ((value.isDevice() && value.toDevice().is_cpu()) ||
        (target && value.isTensor() && value.toTensor().defined() &&
         value.toTensor().device().is_cpu())) {
      return true;
    }
  }
  return false;
}

}  // namespace neuroncheck::sim
