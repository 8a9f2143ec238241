// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "torch_host/sim/call.h"
#include "torch_host/sim/state.h"

namespace neuroncheck::sim {

/// Another way to compute. Each function works on CPU tensors and may change the dtype; absent ones
/// change nothing.
struct Arithmetic {
  std::function<at::Tensor(const at::Tensor&)> operand;
  /// The dtype to ask for in place of one that an argument names.
  std::function<c10::ScalarType(c10::ScalarType)> dtype;
  std::function<c10::IValue(const c10::IValue&)> scalar;
  /// A computed result as one of the dtype that the caller expects.
  std::function<at::Tensor(const at::Tensor&, c10::ScalarType)> result;
};

/// int64 wrapped to 32 bits, float64 in fp32; results keep the dtype torch expects.
[[nodiscard]] Arithmetic narrowed(bool int64, bool float64);
/// Floating operands in fp64, results rounded once: right, and not the bits a CPU gives.
[[nodiscard]] Arithmetic wide();
/// The arithmetic of a fault; nothing set when the kind is none.
[[nodiscard]] Arithmetic arithmeticOf(FaultKind kind, DeviceState& state);

/// Runs the call, and once more on changed operands; the values of the second run replace those of
/// the first in whatever it gave or wrote. False when the operator cannot be computed so: it has
/// then run as usual. Random operators are left as they are.
bool runDegraded(Call& call, const Arithmetic& arithmetic);

/// Sums of products, and sums, whose partial sums are rounded every `tile` elements: the mm family,
/// linear, sum and mean. False for every other operator, which has not run then.
bool runWithCoarseSums(Call& call, int64_t tile, c10::ScalarType partial);

/// An operand or result in a narrower format and back.
[[nodiscard]] at::Tensor roundedThrough(const at::Tensor& host, c10::ScalarType narrow);
[[nodiscard]] at::Tensor roundedToTFloat32(const at::Tensor& host);
[[nodiscard]] at::Tensor flushed(const at::Tensor& host);

}  // namespace neuroncheck::sim
