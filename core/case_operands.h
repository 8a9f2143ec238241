// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/case_spec.h"

namespace neuroncheck {

/// How the tensor operands of one step lie in memory. Operands are counted as in the case grammar:
/// tensors in written order, elements of lists included.
struct OperandLayout {
  std::vector<const CaseTensor*> operands;
  /// The operand whose storage each lies in: itself, or the one its alias leads to.
  std::vector<std::size_t> roots;
  /// Bytes of each root's storage; 0 for an operand that is no root. UINT64_MAX beyond 64 bits.
  std::vector<std::uint64_t> bytes;

  [[nodiscard]] bool isRoot(std::size_t operand) const { return roots[operand] == operand; }
  /// All storages together; UINT64_MAX beyond 64 bits.
  [[nodiscard]] std::uint64_t total() const;
};

/// The pointers are into `step`.
[[nodiscard]] OperandLayout layoutOf(const CaseStep& step);

/// The widest floating-point dtype of operands that have dimensions; nullopt when there is none.
[[nodiscard]] std::optional<DType> widestWithDimensions(const OperandLayout& layout);

/// Those of the case, or the contiguous ones.
[[nodiscard]] std::vector<std::int64_t> stridesOf(const CaseTensor& tensor);
/// Elements of its sizes; 0 when one of them is 0. INT64_MAX beyond 64 bits.
[[nodiscard]] std::int64_t elementsOf(const CaseTensor& tensor);

}  // namespace neuroncheck
