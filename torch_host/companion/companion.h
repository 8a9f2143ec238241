// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/result.h"

/// The magnitude companions S of datasets/numerics/companions.tsv, for any call of an operator.
namespace neuroncheck::companion {

/// One call in fp64: what the reference evaluated. `op` may be any overload, in-place or out= too;
/// where a functional one with the same arguments exists, that is what is evaluated.
struct Call {
  const c10::OperatorHandle& op;
  /// In schema order, defaults filled in; floating tensors as fp64 (complex: complex128), dense, on
  /// the CPU; the values before the call, of operators that write into an argument.
  const torch::jit::Stack& arguments;
  const std::vector<at::Tensor>& truth;  ///< every tensor output, fp64
  std::size_t output = 0;                ///< which of them
  double length = 1;                     ///< k of the rule
  double accumulatorRoundoff = 0x1p-24;  ///< u_acc
};

/// S of `word`, fp64, not negative, with the sizes of truth[output] (complex: of its view_as_real).
/// Infinite where the formula bounds nothing. Input error that names what is not computed: an
/// unknown word, an operator that the word has no formula for, an argument that is absent, a call
/// that torch refuses. Sets torch's threads to one; runs backward for `conditioned`.
[[nodiscard]] Result<at::Tensor> magnitude(std::string_view word, const Call& call);

/// All words that are computed for at least one operator, each once.
[[nodiscard]] std::vector<std::string_view> words();

/// S for the gradient of sum(outputs * cotangents) with respect to argument `operand` of the schema
/// (`element` of it where that is a list), with the sizes of that tensor:
///
/// - sums, contractions and moves (sum, mm, convolution, einsum, cat, index): the gradient of the
///   operator on absolute values with absolute cotangents;
/// - elementwise operators: |g f'(x)| + sum_i |x_i d(g f'(x))/dx_i| over the operands of an
/// element;
/// - softmax, log_softmax, the norms, gelu, mish, hardswish, silu, embedding, cross_entropy_loss,
/// upsample_* and
///   scaled_dot_product_attention: the word of their backward operator;
/// - a bias: the sum of absolute cotangents.
///
/// `forward.length` is the k of the gradient's rule. An undefined cotangent is zero. Input error
/// that names the operator otherwise.
[[nodiscard]] Result<at::Tensor> gradientMagnitude(const Call& forward,
                                                   const std::vector<at::Tensor>& cotangents,
                                                   std::size_t operand, std::size_t element = 0);

}  // namespace neuroncheck::companion
