// SPDX-License-Identifier: Apache-2.0
// Custom operators of datasets/models/ts_custom.pt, as a library a user would have.
#include <ATen/core/Tensor.h>
#include <ATen/ops/split.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace {

std::tuple<at::Tensor, at::Tensor> halves(const at::Tensor& x, int64_t n) {
  const std::vector<at::Tensor> parts = at::split(x, x.size(0) / n, 0);
  return {parts.at(0), parts.at(1)};
}

std::vector<at::Tensor> pieces(const at::Tensor& x, int64_t dim) { return at::split(x, 1, dim); }

double factor(const at::Tensor& x) { return static_cast<double>(x.numel()); }

}  // namespace

TORCH_LIBRARY(scriptlib, m) {
  m.def("halves(Tensor x, int n) -> (Tensor, Tensor)");
  m.def("pieces(Tensor x, *, int dim=0) -> Tensor[]");
  m.def("factor(Tensor x) -> float");
}
TORCH_LIBRARY_IMPL(scriptlib, CPU, m) {
  m.impl("halves", &halves);
  m.impl("pieces", &pieces);
  m.impl("factor", &factor);
}
