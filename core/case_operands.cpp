// SPDX-License-Identifier: Apache-2.0
#include "core/case_operands.h"

#include <algorithm>

#include "core/case_parser.h"
#include "core/dtype.h"

namespace neuroncheck {
namespace {

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? UINT64_MAX : out;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? UINT64_MAX : out;
}

/// Bytes from the start of its storage to the end of its last element.
std::uint64_t extent(const CaseTensor& tensor) {
  if (std::ranges::find(tensor.sizes, 0) != tensor.sizes.end()) {
    return 0;
  }
  const std::vector<std::int64_t> strides = stridesOf(tensor);
  std::uint64_t elements = sum(1, static_cast<std::uint64_t>(tensor.offset));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    elements = sum(elements, product(static_cast<std::uint64_t>(tensor.sizes[i] - 1),
                                     static_cast<std::uint64_t>(strides[i])));
  }
  return product(elements, static_cast<std::uint64_t>(itemSize(tensor.dtype)));
}

}  // namespace

std::uint64_t OperandLayout::total() const {
  std::uint64_t all = 0;
  for (const std::uint64_t storage : bytes) {
    all = sum(all, storage);
  }
  return all;
}

OperandLayout layoutOf(const CaseStep& step) {
  OperandLayout layout;
  layout.operands = case_detail::tensorOperands(step);
  for (std::size_t i = 0; i < layout.operands.size(); ++i) {
    std::size_t root = i;
    if (const auto& alias = layout.operands[i]->alias) {
      const std::size_t named = case_detail::aliasOperand(*alias).value_or(i);
      root = named < i ? layout.roots[named] : i;
    }
    layout.roots.push_back(root);
  }
  layout.bytes.resize(layout.operands.size());
  for (std::size_t i = 0; i < layout.operands.size(); ++i) {
    std::uint64_t& bytes = layout.bytes[layout.roots[i]];
    bytes = std::max(bytes, extent(*layout.operands[i]));
  }
  return layout;
}

std::vector<std::int64_t> stridesOf(const CaseTensor& tensor) {
  if (tensor.strides) {
    return *tensor.strides;
  }
  std::vector<std::int64_t> out(tensor.sizes.size(), 1);
  for (std::size_t i = out.size(); i > 1; --i) {
    const auto next =
        product(static_cast<std::uint64_t>(out[i - 1]),
                static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.sizes[i - 1], 1)));
    out[i - 2] = static_cast<std::int64_t>(std::min<std::uint64_t>(next, INT64_MAX));
  }
  return out;
}

std::optional<DType> widestWithDimensions(const OperandLayout& layout) {
  std::optional<DType> widest;
  for (const CaseTensor* operand : layout.operands) {
    const bool real = isFloating(operand->dtype) && !operand->sizes.empty();
    if (real && (!widest || itemSize(operand->dtype) > itemSize(*widest))) {
      widest = operand->dtype;
    }
  }
  return widest;
}

std::int64_t elementsOf(const CaseTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::int64_t size : tensor.sizes) {
    count = product(count, static_cast<std::uint64_t>(size));
  }
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

}  // namespace neuroncheck
