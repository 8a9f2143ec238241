// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"

namespace neuroncheck {

/// One `--input-shape`: sizes and dtype of a tensor that is given to a method of a TorchScript
/// module.
struct InputShape {
  std::vector<std::int64_t> sizes;  ///< empty for a scalar tensor
  DType dtype = DType::Float32;
  bool operator==(const InputShape&) const = default;

  /// Reads "1x3x224x224" (float32) or "1x128:int64"; ":int64" alone is a scalar tensor. Usage error
  /// with the text for anything else.
  [[nodiscard]] static Result<InputShape> parse(std::string_view text);
  [[nodiscard]] std::string str() const;
};

}  // namespace neuroncheck
