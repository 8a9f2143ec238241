// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

Tensor quotient(const Evaluation& e) { return (e.tensor("self") / e.tensor("other")).abs(); }

Tensor scaledDecimals(const Evaluation& e) {
  return e.tensor("self").abs() * std::pow(10.0, e.number("decimals", 0));
}

Tensor bins(const Evaluation& e) { return scalarTensor(e.number("bins", 100)).expand(e.h.sizes()); }

/// Of one channel each, along `axis` of x.
Tensor along(const Tensor& channels, const Tensor& x, std::int64_t axis) {
  Dims sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes.at(static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis)) = channels.numel();
  return channels.reshape(sizes);
}

Tensor quantSteps(const Evaluation& e) {
  TORCH_CHECK(!e.declares("tensors"), "one tensor of a list of quantised ones");
  const Tensor x = e.anyOf({"self", "input"});
  Tensor scale = e.anyOf({"scale", "scales"});
  Tensor zero = e.anyOf({"zero_point", "zero_points"});
  if (e.declares("axis")) {
    scale = along(scale, x, e.integer("axis", 0));
    zero = along(zero, x, e.integer("axis", 0));
  }
  return (x / scale).abs() + zero.abs();
}

}  // namespace

Formulas decisionFormulas() {
  return {{"scaled_decimals", scaledDecimals, "round"},
          {"quotient", quotient, "div divide floor_divide fmod remainder"},
          {"bins", bins, "histc"},
          {"quant_steps", quantSteps,
           "fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask "
           "fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask "
           "quantize_per_channel quantize_per_tensor"}};
}

}  // namespace neuroncheck::companion
