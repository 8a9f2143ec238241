// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/engine.h"

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/plumbing_kernels.h"
#include "torch_host/backend/special_kernels.h"

#include <ATen/native/CPUFallback.h>

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

bool waits(const std::string& op, const torch::jit::Stack& stack) {
  if (op == "aten::_local_scalar_dense") {
    return true;
  }
  if (op != "aten::_copy_from" && op != "aten::_copy_from_and_resize") {
    return false;
  }
  const size_t arguments = op == "aten::_copy_from" ? 3 : 2;
  return stack[stack.size() - arguments + 1].toTensor().device().is_cpu();
}

}  // namespace neuroncheck::sim
