// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <vector>

#include "numerics/rules/length.h"
#include "torch_host/casework/execution.h"

namespace neuroncheck::casework {

/// What a length expression may ask of a call: sizes of its tensors, its integers, and the sizes of
/// its outputs.
[[nodiscard]] numerics::LengthOperands lengthOperandsOf(const c10::FunctionSchema& schema,
                                                        const torch::jit::Stack& arguments,
                                                        const std::vector<OutputTensor>& outputs);

}  // namespace neuroncheck::casework
