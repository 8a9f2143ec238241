// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/case_operands.h"
#include "core/result.h"
#include "torch_host/casework/arena.h"

namespace neuroncheck::casework {

/// What is made of the elements of an operand before the operator sees them: nothing, or another
/// precision. Takes and gives one-dimensional CPU tensors of as many elements.
using Conversion = std::function<at::Tensor(const at::Tensor&)>;

/// The tensor operands of one step on one device, each over a copy of its storage in the arena, so
/// that strides, offsets and aliases are those of the case and writes stay here.
class OperandTensors {
 public:
  /// `offsets[i]` is where the storage of root operand i lies; those of others are not read. `step`
  /// and `arena` must outlive this.
  OperandTensors(const CaseStep& step, const Arena& arena, std::vector<std::uint64_t> offsets,
                 c10::Device device, Conversion conversion = {});

  /// Input error for a dtype that torch lacks, or where storages with elements of two dtypes are to
  /// be converted. Throws what torch throws.
  [[nodiscard]] Result<at::Tensor> make(const CaseTensor& spec);

  [[nodiscard]] const OperandLayout& layout() const { return layout_; }
  /// The root operand whose storage a tensor shares; -1 when it shares none.
  [[nodiscard]] std::int64_t sharedWith(const at::Tensor& tensor) const;
  /// Root operands whose storage differs from what it was, in order.
  [[nodiscard]] Result<std::vector<std::size_t>> changed() const;
  /// The tensor of an operand, undefined when it was not asked for.
  [[nodiscard]] at::Tensor made(std::size_t operand) const;

 private:
  [[nodiscard]] Result<at::Tensor> hostBase(std::size_t root) const;
  /// A scalar tensor of a wider dtype takes part in the dtype of those with dimensions (torch's
  /// type promotion): the numbers that are computed with are rounded to it.
  [[nodiscard]] at::Tensor promoted(const at::Tensor& base, std::size_t root) const;

  OperandLayout layout_;
  const Arena* arena_;
  std::vector<std::uint64_t> offsets_;
  c10::Device device_;
  Conversion conversion_;
  std::map<std::size_t, at::Tensor> bases_;
  std::map<std::size_t, at::Tensor> made_;
};

}  // namespace neuroncheck::casework
