// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <torch/library.h>

#include <type_traits>

namespace neuroncheck::backend {

/// One kernel of the backend: to be registered as it is, or to be called from a boxed kernel that
/// was registered in its place.
struct Kernel {
  void (*registerOn)(torch::Library& library, const char* name);
  c10::KernelFunction (*function)();
};

template <auto kernel>
Kernel kernelOf() {
  return {[](torch::Library& library, const char* name) { library.impl(name, TORCH_FN(kernel)); },
          [] { return c10::KernelFunction::makeFromUnboxedFunction(TORCH_FN(kernel)); }};
}

}  // namespace neuroncheck::backend
