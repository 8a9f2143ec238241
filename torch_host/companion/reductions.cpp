// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/moments.h"

namespace neuroncheck::companion {
namespace {

Tensor operandsMean(const Evaluation& e) {
  const Tensor x = e.anyOf({"self", "input"});
  return x.abs().mean(e.dims("dim", x), e.flag("keepdim", false));
}

double correctionOf(const Evaluation& e) {
  return e.declares("unbiased") ? (e.flag("unbiased", true) ? 1 : 0) : e.number("correction", 1);
}

/// The scatter S of var: with the factor of the correction.
Tensor scatterOf(const Evaluation& e, bool naive) {
  const Tensor x = e.tensor("self");
  const Moments moments(x, e.dims("dim", x), e.flag("keepdim", false));
  const double left = std::max(moments.count - correctionOf(e), 0.0);
  return (naive ? moments.naive() : moments.stable(e.k, e.u)) * (moments.count / left);
}

Tensor variance(const Evaluation& e) { return scatterOf(e, false); }
Tensor varianceNaive(const Evaluation& e) { return scatterOf(e, true); }

Tensor rootOf(const Evaluation& e, const Tensor& scatter) {
  return rootMagnitude(scatter, e.h, e.k, e.u) + e.h / e.rootK();
}

Tensor deviation(const Evaluation& e) { return rootOf(e, scatterOf(e, false)); }
Tensor deviationNaive(const Evaluation& e) { return rootOf(e, scatterOf(e, true)); }

Tensor cdistNaive(const Evaluation& e) {
  if (e.number("p", 2) != 2) {
    return e.h;
  }
  const Tensor a = e.tensor("x1").abs();
  const Tensor b = e.tensor("x2").abs();
  const Tensor q = (a.unsqueeze(-2) + b.unsqueeze(-3)).square().sum(at::IntArrayRef({-1}));
  return rootMagnitude(q, e.h, e.k, e.u);
}

/// |d distance / d a| for a - b = difference, without the gradient that comes in; `distance` has a
/// last dimension of one.
Tensor slopeOf(const Tensor& difference, const Tensor& distance, double p) {
  const Tensor size = difference.abs();
  if (p == 0) {
    return size * 0;
  }
  if (p == 1) {
    return (size != 0).to(at::kDouble);
  }
  if (std::isinf(p)) {
    return (size == distance).logical_and(size != 0).to(at::kDouble);
  }
  return (size / distance).pow(p - 1).masked_fill((distance == 0).logical_or(size == 0), 0);
}

Tensor cdistBackward(const Evaluation& e) {
  const Tensor difference = e.tensor("x1").unsqueeze(-2) - e.tensor("x2").unsqueeze(-3);
  const Tensor slope = slopeOf(difference, e.tensor("cdist").unsqueeze(-1), e.number("p", 2));
  return (e.tensor("grad").abs().unsqueeze(-1) * slope).sum(at::IntArrayRef({-2}));
}

Tensor pdistBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor pairs = torchCall("aten::triu_indices", "", {x.size(0), x.size(0), 1});
  const Tensor first = pairs.select(0, 0);
  const Tensor second = pairs.select(0, 1);
  const Tensor difference = x.index_select(0, first) - x.index_select(0, second);
  const Tensor terms = e.tensor("grad").abs().unsqueeze(-1) *
                       slopeOf(difference, e.tensor("pdist").unsqueeze(-1), e.number("p", 2));
  return (x * 0).index_add(0, first, terms).index_add(0, second, terms);
}

Tensor distanceBackward(const Evaluation& e) {
  return e.declares("x1") ? cdistBackward(e) : pdistBackward(e);
}

Tensor cumprodBackward(const Evaluation& e) {
  const Tensor x = e.tensor("input");
  if (x.dim() == 0) {
    return e.h;
  }
  const std::int64_t dim = e.integer("dim", 0);
  const Tensor terms = (e.tensor("grad") * e.tensor("output")).abs();
  const Tensor suffix = terms.flip({dim}).cumsum(dim).flip({dim});
  return where(x == 0, e.h, suffix / x.abs());
}

}  // namespace

Moments::Moments(const Tensor& of, const Dims& over, bool keep)
    : x(of), dims(over), keepdim(keep), count(1) {
  for (const std::int64_t dim : dims) {
    count *= x.dim() == 0 ? 1 : static_cast<double>(x.size(dim));
  }
  mean = x.mean(dims, keepdim);
  meanSquare = x.square().mean(dims, keepdim);
  variance = (x - x.mean(dims, true)).square().mean(dims, keepdim);
}

Tensor Moments::stable(double k, double u) const {
  return variance + (variance * meanSquare).sqrt() / k + 4 * std::sqrt(k) * u * meanSquare;
}

Tensor Moments::naive() const { return meanSquare + mean.square(); }

Tensor rootMagnitude(const Tensor& square, const Tensor& root, double k, double u) {
  return (square / (2 * root)).fmin((square / (4 * std::sqrt(k) * u)).sqrt());
}

Formulas reductionFormulas() {
  return {{"operands_mean", operandsMean, "var_mean std_mean"},
          {"variance", variance, "var var_mean"},
          {"variance_naive", varianceNaive, "var var_mean"},
          {"deviation", deviation, "std std_mean"},
          {"deviation_naive", deviationNaive, "std std_mean"},
          {"cdist_naive", cdistNaive, "_cdist_forward cdist"},
          {"distance_backward", distanceBackward, "_cdist_backward _pdist_backward"},
          {"cumprod_backward", cumprodBackward, "cumprod_backward"}};
}

}  // namespace neuroncheck::companion
