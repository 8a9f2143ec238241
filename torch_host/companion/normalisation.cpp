// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>

#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/moments.h"

namespace neuroncheck::companion {
namespace {

constexpr std::string_view kForward =
    "native_layer_norm layer_norm native_group_norm group_norm native_batch_norm batch_norm "
    "_batch_norm_impl_index _native_batch_norm_legit _native_batch_norm_legit_functional "
    "_native_batch_norm_legit_no_training instance_norm";
constexpr std::string_view kBackward =
    "native_layer_norm_backward native_group_norm_backward native_batch_norm_backward "
    "batch_norm_backward _batch_norm_impl_index_backward batch_norm_backward_elemt "
    "batch_norm_backward_reduce";

/// How an operator of the family groups its input: x as it is seen, the dimensions of one group of
/// the statistics and those of one element of the weight.
struct Grouping {
  Dims sizes;          ///< of x as it is seen
  Dims affineSizes;    ///< of weight and bias in it
  Dims statisticDims;  ///< reduced by a mean
  Dims weightDims;     ///< reduced by the gradient of the weight
  bool given = false;  ///< the statistics are operands

  [[nodiscard]] Tensor seen(const Tensor& x) const { return x.reshape(sizes); }
  [[nodiscard]] Tensor statistic(const Tensor& x) const {
    Dims kept = sizes;
    for (const std::int64_t dim : statisticDims) {
      kept[static_cast<std::size_t>(dim)] = 1;
    }
    return x.reshape(kept);
  }
  [[nodiscard]] Tensor affine(const std::optional<Tensor>& w, double otherwise) const {
    return w ? w->reshape(affineSizes) : scalarTensor(otherwise);
  }
};

Grouping byChannel(const Tensor& x, bool instances) {
  Grouping out;
  out.sizes = x.sizes().vec();
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    out.affineSizes.push_back(i == 1 ? x.size(1) : 1);
    if (i != 1) {
      out.weightDims.push_back(i);
    }
    if (i > 1 || (i == 0 && !instances)) {
      out.statisticDims.push_back(i);
    }
  }
  return out;
}

Grouping byLayer(const Tensor& x, const Dims& shape) {
  Grouping out;
  out.sizes = x.sizes().vec();
  out.affineSizes = shape;
  const std::int64_t outer = x.dim() - static_cast<std::int64_t>(shape.size());
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    (i < outer ? out.weightDims : out.statisticDims).push_back(i);
  }
  return out;
}

Grouping byGroups(const Tensor& x, std::int64_t groups) {
  Grouping out;
  const std::int64_t channels = x.size(1) / groups;
  const std::int64_t inner = x.numel() / std::max<std::int64_t>(x.size(0) * x.size(1), 1);
  out.sizes = {x.size(0), groups, channels, inner};
  out.affineSizes = {1, groups, channels, 1};
  out.statisticDims = {2, 3};
  out.weightDims = {0, 3};
  return out;
}

Grouping groupingOf(const Evaluation& e, const Tensor& x) {
  if (e.declares("normalized_shape")) {
    return byLayer(x, e.ints("normalized_shape"));
  }
  if (e.declares("num_groups") || e.declares("group")) {
    return byGroups(x, e.integer("num_groups", e.integer("group", 1)));
  }
  Grouping out = byChannel(x, e.declares("use_input_stats"));
  const bool fixed = e.name == "aten::_native_batch_norm_legit_no_training";
  out.given = fixed || !e.flag("use_input_stats", true) || !e.flag("training", true) ||
              !e.flag("train", true) || !e.flag("update", true);
  return out;
}

/// V of the reciprocal deviation: the magnitude of the variance without correction.
Tensor scatterOf(const Evaluation& e, const Moments& moments, bool naive) {
  return naive ? moments.naive() : moments.stable(e.k, e.u);
}

Tensor normaliseBy(const Evaluation& e, bool naive) {
  const Tensor input = e.tensor("input");
  const Grouping group = groupingOf(e, input);
  const Tensor x = group.seen(input);
  const Tensor weight = group.affine(e.maybe("weight"), 1).abs();
  const Tensor bias = group.affine(e.maybe("bias"), 0).abs();
  const double eps = e.number("eps", 0);
  if (group.given) {
    const Tensor mean = group.affine(e.tensor("running_mean"), 0);
    const Tensor r = (group.affine(e.tensor("running_var"), 0) + eps).rsqrt();
    return ((x.abs() + mean.abs()) * r * weight + bias).reshape(e.h.sizes());
  }
  const Moments moments(x, group.statisticDims, true);
  const Tensor underRoot = moments.variance + eps;
  const Tensor centred =
      (x - moments.mean).abs() * (1 + scatterOf(e, moments, naive) / (2 * underRoot));
  const Tensor absoluteMean = x.abs().mean(group.statisticDims, true);
  return ((absoluteMean + centred) * underRoot.rsqrt() * weight + bias / e.rootK())
      .reshape(e.h.sizes());
}

Tensor normalise(const Evaluation& e) { return normaliseBy(e, false); }
Tensor normaliseNaive(const Evaluation& e) { return normaliseBy(e, true); }

/// Statistics that were operands are not returned, or as an empty tensor.
bool noStatistics(const Evaluation& e) { return e.h.numel() == 0; }

Tensor groupMean(const Evaluation& e) {
  if (noStatistics(e)) {
    return e.h;
  }
  const Tensor input = e.tensor("input");
  const Grouping group = groupingOf(e, input);
  return group.seen(input).abs().mean(group.statisticDims, true).reshape(e.h.sizes());
}

Tensor rstdBy(const Evaluation& e, bool naive) {
  if (noStatistics(e)) {
    return e.h;
  }
  const Tensor input = e.tensor("input");
  const Grouping group = groupingOf(e, input);
  const Moments moments(group.seen(input), group.statisticDims, true);
  const Tensor share = scatterOf(e, moments, naive) / (2 * (moments.variance + e.number("eps", 0)));
  return e.h * (share.reshape(e.h.sizes()) + 1 / e.rootK());
}

Tensor rstd(const Evaluation& e) { return rstdBy(e, false); }
Tensor rstdNaive(const Evaluation& e) { return rstdBy(e, true); }

Tensor runningMean(const Evaluation& e) {
  const Tensor x = e.tensor("input");
  if (!e.flag("training", true)) {
    return scalarTensor(0);
  }
  const double momentum = e.number("momentum", 0.1);
  return (1 - momentum) * e.tensor("running_mean").abs() +
         momentum * x.abs().mean(groupingOf(e, x).statisticDims);
}

Tensor runningVarBy(const Evaluation& e, bool naive) {
  const Tensor x = e.tensor("input");
  if (!e.flag("training", true)) {
    return scalarTensor(0);
  }
  const Moments moments(x, groupingOf(e, x).statisticDims, false);
  const double momentum = e.number("momentum", 0.1);
  const double factor = moments.count / std::max(moments.count - 1, 0.0);
  return (1 - momentum) * e.tensor("running_var") +
         momentum * factor * scatterOf(e, moments, naive);
}

Tensor runningVar(const Evaluation& e) { return runningVarBy(e, false); }
Tensor runningVarNaive(const Evaluation& e) { return runningVarBy(e, true); }

/// The operands of a backward, as the grouping sees them.
struct Backward {
  Grouping group;
  Tensor g;  ///< |g|
  Tensor x;
  Tensor mean;
  Tensor rstd;
  Tensor y;  ///< |x - mean| rstd, or (|x| + |mean|) rstd
};

Backward backwardOf(const Evaluation& e, bool naive) {
  Backward out;
  const Tensor input = e.tensor("input");
  out.group = groupingOf(e, input);
  out.x = out.group.seen(input);
  out.g = out.group.seen(e.anyOf({"grad_out", "grad_output", "grad_out_"})).abs();
  if (out.group.given) {
    out.mean = out.group.statistic(e.tensor("running_mean"));
    out.rstd = (out.group.statistic(e.tensor("running_var")) + e.number("eps", 0)).rsqrt();
  } else {
    out.mean = out.group.statistic(e.anyOf({"mean", "save_mean"}));
    out.rstd = out.group.statistic(
        e.anyOf({"rstd", "invstd", "save_invstd", "save_var", "save_var_transform"}));
  }
  const Tensor centred = naive ? out.x.abs() + out.mean.abs() : (out.x - out.mean).abs();
  out.y = centred * out.rstd;
  return out;
}

Tensor normBackwardBy(const Evaluation& e, bool naive) {
  const Backward of = backwardOf(e, naive);
  if (of.group.given) {
    return e.h;
  }
  const Tensor weight = of.group.affine(e.maybe("weight"), 1).abs();
  const Tensor g = of.g * weight;
  Tensor meanG = g.mean(of.group.statisticDims, true);
  Tensor meanGy = (g * of.y).mean(of.group.statisticDims, true);
  if (e.declares("sum_dy")) {  // The sums are operands, of all ranks.
    const double count = e.tensor("count").sum().item().toDouble();
    meanG = of.group.affine(e.tensor("sum_dy"), 0).abs() * weight / count;
    meanGy = of.group.affine(e.tensor("sum_dy_xmu"), 0).abs() * weight * of.rstd / count;
  }
  return (of.rstd * (g / e.rootK() + meanG + of.y * meanGy)).reshape(e.h.sizes());
}

Tensor normBackward(const Evaluation& e) { return normBackwardBy(e, false); }
Tensor normBackwardNaive(const Evaluation& e) { return normBackwardBy(e, true); }

Tensor weightSum(const Backward& of, const Tensor& terms, const Evaluation& e) {
  return (of.group.weightDims.empty() ? terms : terms.sum(of.group.weightDims))
      .reshape(e.h.sizes());
}

Tensor weightBy(const Evaluation& e, bool naive) {
  const Backward of = backwardOf(e, naive);
  return weightSum(of, of.g * of.y, e);
}

Tensor normBackwardWeight(const Evaluation& e) { return weightBy(e, false); }
Tensor normBackwardWeightNaive(const Evaluation& e) { return weightBy(e, true); }

Tensor centredBy(const Evaluation& e, bool naive) {
  const Backward of = backwardOf(e, naive);
  return weightSum(of, of.g * of.y / of.rstd, e);
}

Tensor centredSum(const Evaluation& e) { return centredBy(e, false); }
Tensor centredSumNaive(const Evaluation& e) { return centredBy(e, true); }

Tensor rmsNormBackward(const Evaluation& e) {
  const Tensor x = e.tensor("input");
  const Grouping group = groupingOf(e, x);
  const Tensor r = group.statistic(e.tensor("rstd"));
  const Tensor g = (e.tensor("grad_out") * group.affine(e.maybe("weight"), 1)).abs();
  const Tensor y = (x * r).abs();
  return r * (g / e.rootK() + y * (g * y).mean(group.statisticDims, true));
}

Tensor rmsNormBackwardWeight(const Evaluation& e) {
  const Tensor x = e.tensor("input");
  const Grouping group = groupingOf(e, x);
  const Tensor terms = (e.tensor("grad_out") * x * group.statistic(e.tensor("rstd"))).abs();
  return group.weightDims.empty() ? terms : terms.sum(group.weightDims);
}

}  // namespace

Formulas normalisationFormulas() {
  return {{"group_mean", groupMean, kForward},
          {"rstd", rstd, kForward},
          {"rstd_naive", rstdNaive, kForward},
          {"normalise", normalise, kForward},
          {"normalise_naive", normaliseNaive, kForward},
          {"norm_backward", normBackward, kBackward},
          {"norm_backward_naive", normBackwardNaive, kBackward},
          {"norm_backward_weight", normBackwardWeight, kBackward},
          {"norm_backward_weight_naive", normBackwardWeightNaive, kBackward},
          {"centred_sum", centredSum, "batch_norm_backward_reduce"},
          {"centred_sum_naive", centredSumNaive, "batch_norm_backward_reduce"},
          {"running_mean", runningMean, "_native_batch_norm_legit_functional"},
          {"running_var", runningVar, "_native_batch_norm_legit_functional"},
          {"running_var_naive", runningVarNaive, "_native_batch_norm_legit_functional"},
          {"rms_norm_backward", rmsNormBackward, "_fused_rms_norm_backward"},
          {"rms_norm_backward_weight", rmsNormBackwardWeight, "_fused_rms_norm_backward"}};
}

}  // namespace neuroncheck::companion
