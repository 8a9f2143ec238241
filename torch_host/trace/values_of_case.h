// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <functional>

#include "core/case_spec.h"
#include "core/result.h"

namespace neuroncheck::trace {

/// Makes the tensor of a value that is a CaseTensor or a CaseResult.
using MakeTensor = std::function<Result<at::Tensor>(const CaseValue&)>;

/// A value of a case as the argument of a schema, which decides what a number, a word or a list
/// means. Input error that says what it cannot be.
[[nodiscard]] Result<c10::IValue> valueFor(const CaseValue& value, const c10::Argument& argument,
                                           const MakeTensor& makeTensor);

}  // namespace neuroncheck::trace
