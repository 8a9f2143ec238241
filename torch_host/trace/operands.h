// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include <cstdint>

#include "core/case_spec.h"
#include "core/result.h"
#include "torch_host/trace/values_of_case.h"

namespace neuroncheck::trace {

/// What is in the tensors of a case where it does not give the values itself.
enum class Fill : std::uint8_t {
  Zeros,     ///< integers are then valid indices
  Ones,      ///< for operators that refuse a zero: divisors, lengths, probabilities
  Identity,  ///< floating-point matrices are the identity, integers zero: for decompositions
};

/// The arguments of a step in the order of the schema, defaults filled in, tensors on `device` (the
/// recorder's, the CPU, or Meta, which has no memory to fill). Memory that is only zeros is not
/// touched. Strides, offsets and shared storage are those of the case; a number for a Tensor
/// argument becomes a wrapped number; a `device` argument becomes `device` when the case gives one,
/// when it must be given, or when no tensor says where to work. Input error that names the
/// argument where that cannot be done. Throws what torch throws.
[[nodiscard]] Result<torch::jit::Stack> buildArguments(const CaseStep& step,
                                                       const c10::FunctionSchema& schema,
                                                       c10::Device device, Fill fill);
/// The same with tensors that somebody else makes, each asked for when its argument is built.
[[nodiscard]] Result<torch::jit::Stack> buildArguments(const CaseStep& step,
                                                       const c10::FunctionSchema& schema,
                                                       c10::Device device,
                                                       const MakeTensor& makeTensor);

}  // namespace neuroncheck::trace
