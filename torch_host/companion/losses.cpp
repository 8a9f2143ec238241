// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

constexpr std::int64_t kMean = 1;
constexpr std::int64_t kSum = 2;

Tensor reduced(const Evaluation& e, const Tensor& terms) {
  const std::int64_t reduction = e.integer("reduction", kMean);
  return reduction == kMean ? terms.mean() : reduction == kSum ? terms.sum() : terms;
}

/// Magnitude of -log p of every class, classes in dimension `dim`.
Tensor negativeLogs(const Tensor& x, std::int64_t dim) {
  const Tensor distance = (x - x.amax({dim}, true)).abs();
  const Tensor p = x.softmax(dim);
  const Tensor sum = distance.neg().exp().sum(at::IntArrayRef({dim}), true);
  return 1 + weighted(p, distance).sum(at::IntArrayRef({dim}), true) + distance + sum.log();
}

Tensor classWeights(const Evaluation& e, const Tensor& like, std::int64_t dim) {
  const auto weight = e.maybe("weight");
  Dims sizes(static_cast<std::size_t>(like.dim()), 1);
  sizes[static_cast<std::size_t>(dim)] = like.size(dim);
  return weight ? weight->abs().reshape(sizes).expand(like.sizes()) : like * 0 + 1;
}

/// Targets are probabilities.
Tensor softTargets(const Evaluation& e, const Tensor& logs, std::int64_t dim) {
  const double smoothing = e.number("label_smoothing", 0);
  const double classes = static_cast<double>(logs.size(dim));
  const Tensor target = e.tensor("target").abs() * (1 - smoothing) + smoothing / classes;
  const Tensor terms =
      weighted(target * classWeights(e, logs, dim), logs).sum(at::IntArrayRef({dim}));
  if (e.integer("reduction", kMean) != kMean) {
    return reduced(e, terms);
  }
  return terms.sum() / static_cast<double>(std::max<std::int64_t>(terms.numel(), 1));
}

Tensor crossEntropy(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const std::int64_t dim = x.dim() == 1 ? 0 : 1;
  const Tensor logs = negativeLogs(x, dim);
  const Tensor target = e.tensor("target");
  if (target.sizes() == x.sizes()) {
    return softTargets(e, logs, dim);
  }
  const std::int64_t ignored = e.integer("ignore_index", -100);
  const Tensor shut = target == ignored;
  const Tensor index = target.masked_fill(shut, 0).unsqueeze(dim);
  const auto of = [&](const Tensor& all) {
    return all.gather(dim, index).squeeze(dim).masked_fill(shut, 0);
  };
  const Tensor weights = classWeights(e, logs, dim);
  const double smoothing = e.number("label_smoothing", 0);
  const double classes = static_cast<double>(x.size(dim));
  Tensor terms = of(weights * logs) * (1 - smoothing);
  if (smoothing > 0) {
    const Tensor smooth = weighted(weights, logs).sum(at::IntArrayRef({dim}));
    terms = terms + (smooth * (smoothing / classes)).masked_fill(shut, 0);
  }
  const bool mean = e.integer("reduction", kMean) == kMean;
  return mean ? terms.sum() / of(weights).sum() : reduced(e, terms);
}

Tensor bceLogits(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor target = e.tensor("target").abs();
  const Tensor positive = e.has("pos_weight") ? e.tensor("pos_weight") : scalarTensor(1);
  const Tensor softplus = x.abs().neg().exp().log1p();
  const Tensor terms = x.abs() * (1 + target) + softplus * (1 + (positive - 1).abs() * target);
  const auto weight = e.maybe("weight");
  return reduced(e, weight ? terms * weight->abs() : terms);
}

/// The terms of the loss before weights and reduction.
Tensor termsOf(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor target = e.tensor("target");
  return e.name == "aten::soft_margin_loss"
             ? torchCall("aten::soft_margin_loss", "", {x, target, 0})
             : torchCall("aten::binary_cross_entropy", "", {x, target, c10::IValue(), 0});
}

Tensor onePlusLoss(const Evaluation& e) {
  const Tensor terms = 1 + termsOf(e).abs();
  const auto weight = e.maybe("weight");
  return reduced(e, weight ? terms * weight->abs() : terms);
}

}  // namespace

Formulas lossFormulas() {
  return {{"cross_entropy", crossEntropy, "cross_entropy_loss"},
          {"bce_logits", bceLogits, "binary_cross_entropy_with_logits"},
          {"one_plus_loss", onePlusLoss, "soft_margin_loss binary_cross_entropy"}};
}

}  // namespace neuroncheck::companion
