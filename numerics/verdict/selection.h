// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics {

/// What an operator promises of the indices it returns.
struct SelectionPromise {
  bool largest = true;  ///< descending order; false: ascending
  bool sorted = true;   ///< in that order; false: the set only (topk with sorted=False)
  /// Among equal values the smaller index first: argmax, argmin, max.dim, min.dim and stable sorts
  /// promise that (torch's documentation); topk, sort, kthvalue and median do not.
  bool firstOfTies = false;
  /// NaN comes first in ascending order too: argmin and min.dim propagate it, sorts put it last.
  bool nanFirst = false;
  std::int64_t firstRank = 0;  ///< kthvalue and median return one value of this rank, from 0
  bool operator==(const SelectionPromise&) const = default;
};

/// An index output, and the operand the decision was taken on.
struct SelectionRequest {
  TensorView indices;  ///< integers
  Structure expected;  ///< of the indices
  TensorView operand;
  /// Dimension of the operand; absent: the whole operand as one slice (argmax without dim).
  std::optional<std::int64_t> dimension;
  SelectionPromise promise;
  /// How far each operand element may be off, row-major, where the device computed it; empty: the
  /// operand is exact. A decision between values closer than their margins may go either way.
  std::span<const double> margins;
  std::optional<TensorView> values;  ///< the operator's value output, which must fit its indices
};

/// Judges indices by what they point at: out of range, repeated or pointing at a wrong value is a
/// mismatch; another index of an equal value is right unless the operator promises the first. NaN
/// counts as larger than every number, as in torch, or as the first. An operand all of whose
/// decisions are open (every slice of one value) is `mistrusted`.
[[nodiscard]] Judgement judgeSelection(const SelectionRequest& request);

}  // namespace neuroncheck::numerics
