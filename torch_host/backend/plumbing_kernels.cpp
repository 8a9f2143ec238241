// SPDX-License-Identifier: Apache-2.0
// Kernels without which no tensor can live on the device. Everything else reaches the boxed
// fallback.
#include "torch_host/backend/plumbing_kernels.h"

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/hooks.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_copy_from_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/resize_ops.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <algorithm>

namespace neuroncheck::backend {
namespace {

constexpr auto kKey = c10::DispatchKey::PrivateUse1;

at::Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> dtype,
                 std::optional<c10::Layout> /*layout*/, std::optional<c10::Device> /*device*/,
                 std::optional<bool> /*pin*/, std::optional<c10::MemoryFormat> format) {
  markArrival();
  return at::detail::empty_generic(size, c10::GetAllocator(c10::DeviceType::PrivateUse1),
                                   c10::DispatchKeySet(kKey), c10::dtype_or_default(dtype), format);
}

at::Tensor emptyStrided(c10::IntArrayRef size, c10::IntArrayRef stride,
                        std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> /*layout*/,
                        std::optional<c10::Device> /*device*/, std::optional<bool> /*pin*/) {
  markArrival();
  return at::detail::empty_strided_generic(size, stride,
                                           c10::GetAllocator(c10::DeviceType::PrivateUse1),
                                           c10::DispatchKeySet(kKey), c10::dtype_or_default(dtype));
}

/// Where a copy is made: nowhere, when nothing is to be computed with so many bytes.
c10::DeviceType hostOfCopy(const at::Tensor& self, const at::Tensor& to) {
  const uint64_t bytes = std::max(operandBytes(self), operandBytes(to));
  return bytes > computeBounds().exactBytes ? c10::kMeta : c10::kCPU;
}

at::Tensor copyFrom(const at::Tensor& self, const at::Tensor& to, bool nonBlocking) {
  const PauseRecording pause;
  const at::AutoDispatchBelowADInplaceOrView below;
  AliasScope scope(hostOfCopy(self, to));
  at::Tensor target = scope.toHost(to);
  at::_ops::copy_::call(target, scope.toHost(self), nonBlocking);
  return to;
}

at::Tensor copyFromAndResize(const at::Tensor& self, const at::Tensor& to) {
  const PauseRecording pause;
  const at::AutoDispatchBelowADInplaceOrView below;
  AliasScope scope(hostOfCopy(self, to));
  at::Tensor target = scope.toHost(to);
  at::_ops::resize_::call(target, self.sym_sizes(), std::nullopt);
  at::_ops::copy_::call(target, scope.toHost(self), false);
  scope.settle();
  return to;
}

bool sameImplementation(const at::Tensor& self, const at::Tensor& from) {
  markArrival();
  return self.device().type() == from.device().type() && self.layout() == from.layout();
}

/// torch's own CPU code works on our memory as it is; the wrapper only notes the arrival.
template <auto kernel>
struct Direct;

template <typename Result, typename... Args, Result (*kernel)(Args...)>
struct Direct<kernel> {
  static Result call(Args... args) {
    markArrival();
    return kernel(std::forward<Args>(args)...);
  }
};

}  // namespace

const std::map<std::string, Kernel>& plumbingKernels() {
  static const auto* kernels = new std::map<std::string, Kernel>{
      {"aten::empty.memory_format", kernelOf<&empty>()},
      {"aten::empty_strided", kernelOf<&emptyStrided>()},
      {"aten::_copy_from", kernelOf<&copyFrom>()},
      {"aten::_copy_from_and_resize", kernelOf<&copyFromAndResize>()},
      {"aten::_has_compatible_shallow_copy_type", kernelOf<&sameImplementation>()},
      {"aten::resize_", kernelOf<&Direct<&at::native::resize_>::call>()},
      {"aten::as_strided", kernelOf<&Direct<&at::native::as_strided_tensorimpl>::call>()},
      {"aten::view", kernelOf<&Direct<&at::native::view>::call>()},
      {"aten::_reshape_alias", kernelOf<&Direct<&at::native::_reshape_alias>::call>()},
      {"aten::unfold", kernelOf<&Direct<&at::native::unfold>::call>()},
      {"aten::view_as_real", kernelOf<&Direct<&at::native::view_as_real>::call>()},
      {"aten::view_as_complex", kernelOf<&Direct<&at::native::view_as_complex>::call>()},
      {"aten::set_.source_Tensor", kernelOf<&Direct<&at::native::set_tensor_>::call>()},
      {"aten::set_.source_Storage_storage_offset",
       kernelOf<&Direct<&at::native::set_storage_cpu_>::call>()},
  };
  return *kernels;
}

void registerPlumbing(torch::Library& aten) {
  for (const auto& [name, kernel] : plumbingKernels()) {
    kernel.registerOn(aten, name.c_str());
  }
}

}  // namespace neuroncheck::backend

// Copying a conjugated or negated tensor must not resolve it by copying first: that never ends.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
