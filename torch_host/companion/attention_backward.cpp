// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>
#include <limits>

#include "torch_host/companion/attention_logits.h"
#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

constexpr std::string_view kBackward =
    "_scaled_dot_product_cudnn_attention_backward _scaled_dot_product_efficient_attention_backward "
    "_scaled_dot_product_flash_attention_backward "
    "_scaled_dot_product_flash_attention_for_cpu_backward "
    "_scaled_dot_product_fused_attention_overrideable_backward";

Tensor cotangent(const Evaluation& e) { return e.anyOf({"grad_out", "grad_out_"}); }

/// Summed over what broadcasting, or sharing of heads, made of the operand.
Tensor summedTo(const Tensor& s, const Evaluation& e, std::int64_t sharing) {
  const auto sizes = e.h.sizes();
  if (sharing > 1 && s.dim() == e.h.dim() && s.size(-3) != e.h.size(-3)) {
    return s.unflatten(-3, at::IntArrayRef({e.h.size(-3), sharing})).sum(at::IntArrayRef({-3}));
  }
  return s.sum_to_size(sizes);
}

/// The result that is asked for, from P and G.
Tensor resultOf(const Evaluation& e, const Logits& of, const Tensor& p, const Tensor& g) {
  switch (e.call.output) {
    case 0:
      return summedTo(std::abs(of.scale) * g.matmul(of.key), e, 1);
    case 1:
      return summedTo(std::abs(of.scale) * g.mT().matmul(of.query), e, of.sharing);
    case 2:
      return summedTo(p.mT().matmul(cotangent(e).abs()), e, of.sharing);
    case 3:
      return summedTo(g, e, 1);
    default:
      break;
  }
  TORCH_CHECK(false, "no output ", e.call.output);
}

Tensor attentionBackward(const Evaluation& e) {
  const Logits of(e);
  const Tensor g = cotangent(e).abs();
  // First order in the error of the logits: where that is no longer small, nothing is bounded.
  const Tensor p = of.amplified(of.d, underflow(e))
                       .masked_fill(of.products * (e.rootK() * e.u) > 1.0 / 16,
                                    std::numeric_limits<double>::infinity());
  const Tensor through = g.matmul(of.value.mT());
  const Tensor mean = (g * of.p.matmul(of.value)).sum(at::IntArrayRef({-1}), true);
  return resultOf(e, of, p, weighted(through + mean, p));
}

Tensor attentionBackwardStored(const Evaluation& e) {
  const Logits of(e);
  const Tensor p = of.p * (1 + of.s + of.expected(of.s));
  const Tensor d = cotangent(e).matmul(of.signedValue.mT());
  return resultOf(e, of, p, p * (d.abs() + of.expected(d).abs()));
}

}  // namespace

Formulas attentionBackwardFormulas() {
  return {{"attention_backward", attentionBackward, kBackward},
          {"attention_backward_stored", attentionBackwardStored, kBackward}};
}

}  // namespace neuroncheck::companion
