// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>

#include "core/arg_value.h"

namespace neuroncheck::torchscript {

/// dtype, sizes, strides, offset and layout of a tensor. The device stays unnamed: where the
/// tensors of a TorchScript model live is decided by who loads it.
[[nodiscard]] TensorSpec specOf(const at::Tensor& tensor);

/// A spec of which nothing is known.
[[nodiscard]] TensorSpec unknownSpec();

/// A value that is known before the model runs, as the argument or result `name` of a use. `type`
/// is the type the schema gives it: an int may be a dtype, a layout or a memory format. Devices
/// that follow a tensor, and values that have no counterpart, become `computed` values.
[[nodiscard]] ArgValue knownValue(const c10::IValue& value, const c10::TypePtr& type,
                                  const std::string& name);

/// A value that only running the model would tell: a tensor of unknown shape when its type is a
/// tensor, a list of nothing when it is a list of tensors, else a `computed` value that carries the
/// type's name.
[[nodiscard]] ArgValue unknownValue(const c10::TypePtr& type, const std::string& name);

/// What two visits of one place agree on: the value itself when they are the same, else what they
/// have in common (a tensor's dtype), else unknown.
[[nodiscard]] ArgValue agreed(const ArgValue& first, const ArgValue& second);

}  // namespace neuroncheck::torchscript
