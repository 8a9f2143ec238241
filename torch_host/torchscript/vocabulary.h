// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <optional>

#include "core/arg_value.h"

namespace neuroncheck::torchscript {

/// libtorch's enumerations as core has them, and back. What the other side lacks is Unknown, or
/// nullopt.
[[nodiscard]] DType dtypeOf(c10::ScalarType type);
[[nodiscard]] std::optional<c10::ScalarType> scalarTypeOf(DType dtype);
[[nodiscard]] Layout layoutOf(c10::Layout layout);
[[nodiscard]] std::optional<c10::Layout> layoutOf(Layout layout);
[[nodiscard]] MemoryFormat memoryFormatOf(c10::MemoryFormat format);
[[nodiscard]] std::optional<c10::MemoryFormat> memoryFormatOf(MemoryFormat format);

}  // namespace neuroncheck::torchscript
