// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>
#include <limits>

#include "torch_host/companion/attention_logits.h"
#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kFused =
    "scaled_dot_product_attention _scaled_dot_product_attention_math "
    "_scaled_dot_product_attention_math_for_mps _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention "
    "_scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_fused_attention_overrideable";

/// The additive mask: 0 where it is open, -inf where it is shut, a bias elsewhere.
Tensor maskOf(const Evaluation& e, const Tensor& products) {
  Tensor mask = products * 0;
  for (const std::string_view name : {"attn_mask", "attn_bias"}) {
    if (e.has(name)) {
      const Tensor given = e.tensor(name);
      // The composed operator adds the ones of a bool mask; only its callers turn them into -inf.
      const bool shuts =
          given.scalar_type() == at::kBool && e.name != "aten::_scaled_dot_product_attention_math";
      mask = shuts ? mask.masked_fill(given.logical_not(), -kInfinity) : mask + given;
    }
  }
  if (e.flag("is_causal", false)) {
    mask = mask.masked_fill((mask * 0 + 1).tril() == 0, -kInfinity);
  }
  return mask;
}

Tensor attention(const Evaluation& e) {
  const Logits of(e);
  return of.amplified(of.d, underflow(e)).matmul(of.value);
}

Tensor attentionStored(const Evaluation& e) {
  const Logits of(e);
  return of.amplified(of.s, 0).matmul(of.value);
}

Tensor attentionLse(const Evaluation& e) {
  const Logits of(e);
  const Tensor s = 1 + of.expected(of.d).squeeze(-1);
  return s.reshape(e.h.sizes()) + e.h / e.rootK();
}

Tensor attentionWeights(const Evaluation& e) {
  const Logits of(e);
  return of.amplified(of.d, 0);
}

Tensor attentionWeightsStored(const Evaluation& e) {
  const Logits of(e);
  return of.p * (of.s + of.expected(of.s));
}

}  // namespace

double underflow(const Evaluation& e) { return 0x1p-126 / e.u; }

Logits::Logits(const Evaluation& e) {
  TORCH_CHECK(e.number("dropout_p", 0) == 0 && !e.has("dropout_mask"), "dropout is on");
  const Tensor q = e.tensor("query");
  Tensor k = e.tensor("key");
  Tensor v = e.tensor("value");
  TORCH_CHECK(!q.is_nested() && q.dim() >= 2, "a nested query");
  sharing = q.dim() > 2 ? q.size(-3) / std::max<std::int64_t>(k.size(-3), 1) : 1;
  if (sharing > 1 && k.size(-3) > 1) {
    k = k.repeat_interleave(sharing, -3);
    v = v.repeat_interleave(sharing, -3);
  } else {
    sharing = 1;
  }
  scale = e.number("scale", 1 / std::sqrt(static_cast<double>(q.size(-1))));
  query = q.abs();
  key = k.abs();
  value = v.abs();
  signedValue = v;
  products = std::abs(scale) * query.matmul(key.mT());
  const Tensor mask = maskOf(e, products);
  const Tensor logits = scale * q.matmul(k.mT()) + mask;
  open = logits != -kInfinity;
  p = logits.softmax(-1).masked_fill(open.logical_not(), 0);
  s = logits.abs().masked_fill(open.logical_not(), 0);
  const Tensor distance = (logits.amax({-1}, true) - logits) / e.rootK();
  d = (products + mask.abs() + distance).masked_fill(open.logical_not(), 0);
}

Tensor Logits::amplified(const Tensor& by, double tiny) const {
  return ((p + tiny) * (1 + by + expected(by))).masked_fill(open.logical_not(), 0);
}

Tensor Logits::expected(const Tensor& x) const { return (p * x).sum(at::IntArrayRef({-1}), true); }

Formulas attentionFormulas() {
  return {{"attention", attention, kFused},
          {"attention_stored", attentionStored, kFused},
          {"attention_lse", attentionLse, kFused},
          {"attention_weights", attentionWeights, kFused},
          {"attention_weights_stored", attentionWeightsStored, kFused}};
}

}  // namespace neuroncheck::companion
