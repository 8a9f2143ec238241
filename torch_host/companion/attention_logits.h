// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

/// The inside of scaled dot product attention, each of sizes [..., queries, keys] but the operands.
/// Places that a mask shuts have p, D and |s| of 0.
struct Logits {
  explicit Logits(const Evaluation& e);

  double scale;
  std::int64_t sharing;      ///< query heads to one key head
  Tensor query, key, value;  ///< absolute values, key and value repeated for shared heads
  Tensor signedValue;        ///< repeated too
  Tensor open;               ///< not shut
  Tensor products;           ///< scale sum |q| |k|
  Tensor s;                  ///< |logit|
  Tensor p;                  ///< softmax
  Tensor d;                  ///< D
  /// (p + tiny) (1 + d + sum p d), 0 where shut.
  [[nodiscard]] Tensor amplified(const Tensor& by, double tiny) const;
  /// sum_l p_il x_il, kept.
  [[nodiscard]] Tensor expected(const Tensor& x) const;
};

/// What an exponential that underflows in the accumulator loses, in units of u_acc.
[[nodiscard]] double underflow(const Evaluation& e);

}  // namespace neuroncheck::companion
