// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/extent.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::tensor_io {
namespace {

constexpr std::size_t kMaxRank = 64;  // of numpy 2 and of torch

}  // namespace

Result<std::uint64_t> byteCountOf(std::int64_t itemSize, std::span<const std::int64_t> sizes) {
  if (sizes.size() > kMaxRank) {
    return inputError(
        fmt::format("it has {} dimensions, at most {} are read", sizes.size(), kMaxRank));
  }
  std::int64_t bytes = itemSize;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) {
      return inputError(fmt::format("a size is negative: {}", size));
    }
    empty = empty || size == 0;
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes)) {
      return inputError(
          fmt::format("its shape [{}] needs more than 2^63 bytes", fmt::join(sizes, ",")));
    }
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

std::vector<std::int64_t> rowMajor(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

std::vector<std::int64_t> columnMajor(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

}  // namespace neuroncheck::tensor_io
