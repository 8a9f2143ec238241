// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/result.h"

namespace neuroncheck::tensor_io {

/// Bytes of a dense tensor. Fails with Input when a size is negative, or when the product of the
/// sizes that are not zero passes 2^63 bytes: then even the strides of an empty tensor would
/// overflow. numpy refuses the same.
[[nodiscard]] Result<std::uint64_t> byteCountOf(std::int64_t itemSize,
                                                std::span<const std::int64_t> sizes);

/// Strides in elements of sizes that byteCountOf() took; a size of zero counts as one, as in torch.
[[nodiscard]] std::vector<std::int64_t> rowMajor(std::span<const std::int64_t> sizes);
[[nodiscard]] std::vector<std::int64_t> columnMajor(std::span<const std::int64_t> sizes);

}  // namespace neuroncheck::tensor_io
