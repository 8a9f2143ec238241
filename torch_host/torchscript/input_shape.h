// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"

namespace neuroncheck::torchscript {

/// One `--input-shape`: sizes and dtype of a tensor that is given to a method.
struct InputShape {
  std::vector<std::int64_t> sizes;
  DType dtype = DType::Float32;
};

}  // namespace neuroncheck::torchscript
