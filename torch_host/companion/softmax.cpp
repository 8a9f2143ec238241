// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <cmath>
#include <limits>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x along one dimension that becomes the last, of size 1 for a scalar tensor.
Tensor lastOf(const Tensor& x, std::int64_t dim) {
  return x.dim() == 0 ? x.reshape({1}) : x.movedim(dim, -1);
}

Tensor backFrom(const Tensor& s, const Tensor& like, std::int64_t dim) {
  return like.dim() == 0 ? s.reshape({}) : s.movedim(-1, dim);
}

/// x - max x: -inf where x is, 0 where all are.
Tensor shifted(const Tensor& x) {
  const Tensor top = x.amax({-1}, true);
  return (x - top).nan_to_num(0, kInfinity, -kInfinity);
}

/// sum p |x_j - m|, kept.
Tensor spread(const Tensor& x, const Tensor& p) {
  return weighted(p, shifted(x).abs()).sum(at::IntArrayRef({-1}), true);
}

Tensor softmax(const Evaluation& e) {
  const Tensor self = e.tensor("self");
  const std::int64_t dim = e.integer("dim", -1);
  const Tensor x = lastOf(self, dim);
  const Tensor p = lastOf(e.h, dim);
  const Tensor s =
      weighted(p, 1 + spread(x, p) + shifted(x).abs() / e.rootK()).masked_fill(x == -kInfinity, 0);
  return backFrom(s, self, dim);
}

struct LogSoftmax {
  Tensor x;
  Tensor top;
  Tensor logSum;  ///< log sum exp(x_j - m)
  Tensor common;  ///< 1 + sum p |x_j - m|
};

LogSoftmax logSoftmaxOf(const Tensor& x) {
  LogSoftmax out;
  out.x = x;
  out.top = x.amax({-1}, true);
  const Tensor exps = shifted(x).exp();
  const Tensor sum = exps.sum(at::IntArrayRef({-1}), true);
  out.logSum = sum.log();
  out.common = 1 + spread(x, exps / sum);
  return out;
}

Tensor logSoftmax(const Evaluation& e) {
  const Tensor self = e.tensor("self");
  const std::int64_t dim = e.integer("dim", -1);
  const LogSoftmax of = logSoftmaxOf(lastOf(self, dim));
  return backFrom(of.common + (shifted(of.x).abs() + of.logSum) / e.rootK(), self, dim);
}

Tensor logSoftmaxNaive(const Evaluation& e) {
  const Tensor self = e.tensor("self");
  const std::int64_t dim = e.integer("dim", -1);
  const LogSoftmax of = logSoftmaxOf(lastOf(self, dim));
  return backFrom(of.common + (of.x.abs() + (of.top + of.logSum).abs()) / e.rootK(), self, dim);
}

Tensor softmaxBackward(const Evaluation& e) {
  const Tensor y = e.tensor("output").abs();
  const Tensor g = e.tensor("grad_output").abs();
  const std::int64_t dim = e.integer("dim", -1);
  return y * (g / e.rootK() + (g * y).sum(at::IntArrayRef({dim}), true));
}

Tensor logSoftmaxBackward(const Evaluation& e) {
  const Tensor g = e.tensor("grad_output").abs();
  const std::int64_t dim = e.integer("dim", -1);
  return g / e.rootK() + e.tensor("output").exp() * g.sum(at::IntArrayRef({dim}), true);
}

Tensor logsumexp(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Dims dims = e.dims("dim", x);
  const bool keep = e.flag("keepdim", false);
  const Tensor h = x.logsumexp(dims, true);
  const Tensor top = x.amax(dims, true);
  const Tensor distance = (x - top).nan_to_num(0, kInfinity, -kInfinity).abs();
  const Tensor p = (x - h).nan_to_num(0, kInfinity, -kInfinity).exp();
  const Tensor s =
      1 + weighted(p, distance).sum(dims, true) + (top.abs() + (h - top).abs()) / e.rootK();
  return keep ? s : s.reshape(e.h.sizes());
}

Tensor logcumsumexp(const Evaluation& e) {
  const Tensor self = e.tensor("self");
  const std::int64_t dim = e.integer("dim", -1);
  const Tensor x = lastOf(self, dim);
  const Tensor h = lastOf(e.signedTruth, dim);
  const Tensor largest = std::get<0>(h.abs().cummax(-1));
  std::vector<Tensor> columns;
  for (std::int64_t i = 0; i < x.size(-1); ++i) {
    const Tensor head = x.narrow(-1, 0, i + 1);
    const Tensor p = (head - h.narrow(-1, i, 1)).nan_to_num(0, kInfinity, -kInfinity).exp();
    columns.push_back(1 + largest.narrow(-1, i, 1) + spread(head, p));
  }
  return columns.empty() ? e.h : backFrom(torchCall("aten::cat", "", {columns, -1}), self, dim);
}

}  // namespace

Formulas softmaxFormulas() {
  return {{"logsumexp", logsumexp, "logsumexp special_logsumexp"},
          {"logcumsumexp", logcumsumexp, "logcumsumexp _logcumsumexp"},
          {"softmax", softmax, "softmax _softmax _safe_softmax special_softmax"},
          {"log_softmax", logSoftmax, "log_softmax _log_softmax special_log_softmax"},
          {"log_softmax_naive", logSoftmaxNaive, "log_softmax _log_softmax special_log_softmax"},
          {"softmax_backward", softmaxBackward, "_softmax_backward_data"},
          {"log_softmax_backward", logSoftmaxBackward, "_log_softmax_backward_data"}};
}

}  // namespace neuroncheck::companion
