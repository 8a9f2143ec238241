// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

/// What gradientMagnitude() was asked, of a functional operator.
struct GradientOf {
  Evaluation forward;
  const std::vector<Tensor>& cotangents;
  std::string argument;
  std::size_t element;

  /// The tensor the gradient is for.
  [[nodiscard]] Tensor operand() const;
  /// The first cotangent; the others must be zero.
  [[nodiscard]] Tensor cotangent() const;
};

/// How the tensors of a call are seen before derivatives are taken.
enum class Seen : std::uint8_t {
  AsTheyAre,
  Absolute,  ///< multiplying numbers and cotangents too
};

/// The gradient itself.
[[nodiscard]] Tensor gradientSeen(const GradientOf& of, Seen seen);
/// |g f'(x)| + sum_i |x_i d(g f'(x))/dx_i|, summed over what the operand broadcasts to.
[[nodiscard]] Tensor elementwiseGradient(const GradientOf& of);

/// A call of the operator's backward operator, and the word and output of its magnitude.
struct BackwardCall {
  std::string_view word;
  std::string name;
  std::string overload;
  torch::jit::Stack arguments;
  std::size_t output = 0;
};
/// Empty where the operator has no word of its own for this gradient.
[[nodiscard]] std::optional<BackwardCall> backwardCall(const GradientOf& of);

}  // namespace neuroncheck::companion
