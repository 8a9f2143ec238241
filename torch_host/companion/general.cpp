// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "torch_host/companion/absolute.h"
#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

Tensor zeros(const Evaluation& e) { return scalarTensor(0).expand(e.h.sizes()); }
Tensor value(const Evaluation& e) { return e.h; }
Tensor one(const Evaluation& e) { return scalarTensor(1).expand(e.h.sizes()); }
Tensor onePlusValue(const Evaluation& e) { return 1 + e.h; }

Tensor whole(const Evaluation& e) {
  const double count = static_cast<double>(std::max<std::int64_t>(e.h.numel(), 1));
  return (e.h.square().sum() / count).sqrt().expand(e.h.sizes());
}

Tensor operands(const Evaluation& e) {
  const std::vector<Tensor> out = invoke(e.call.op, absoluteArguments(e.call));
  TORCH_CHECK(e.call.output < out.size(), "the operator returned fewer tensors");
  const Tensor& s = out[e.call.output];
  return (s.is_sparse() ? s.to_dense() : s).abs();
}

Tensor alphaProduct(const Evaluation& e) {
  const double alpha = e.number("alpha", 1);
  if (alpha == 1 || alpha == -1) {
    return zeros(e);
  }
  const bool reversed = e.name == "aten::rsub";
  return (alpha * e.tensor(reversed ? "self" : "other")).abs();
}

Tensor affine(const Evaluation& e) {
  const bool endpoints = e.declares("steps");
  const double start = std::abs(e.number("start", 0));
  if (endpoints) {
    return scalarTensor(start + std::abs(e.number("end", 0))).expand(e.h.sizes());
  }
  const Tensor index = torchCall("aten::arange", "", {e.h.numel(), at::kDouble});
  return start + (index * e.number("step", 1)).abs();
}

Tensor logspace(const Evaluation& e) {
  const double ends = std::abs(e.number("start", 0)) + std::abs(e.number("end", 0));
  return e.h * (1 + std::abs(std::log(e.number("base", 10))) * ends);
}

/// Operators that have no kernel of the CPU to call on absolute values.
Tensor gradientSums(const Evaluation& e) {
  const Tensor g = e.tensor("grad_out").abs();
  Dims dims;
  for (std::int64_t i = 0; i < g.dim(); ++i) {
    if (i != 1) {
      dims.push_back(i);
    }
  }
  return g.sum(dims).reshape(e.h.sizes());
}

Tensor linearBackward(const Evaluation& e) {
  const Tensor g = e.tensor("grad_output").abs();
  const Tensor rows = g.reshape({-1, g.size(-1)});
  const Tensor x = e.tensor("self").abs();
  return e.call.output == 0   ? g.matmul(e.tensor("weight").abs())
         : e.call.output == 1 ? rows.t().matmul(x.reshape({-1, x.size(-1)}))
                              : rows.sum(at::IntArrayRef({0}));
}

Tensor matmulBackward(const Evaluation& e) {
  const Tensor g = e.tensor("grad").abs();
  const bool first = e.call.output == 0;
  const Tensor other = e.tensor(first ? "other" : "self").abs();
  TORCH_CHECK(g.dim() >= 2 && other.dim() >= 2, "a vector in matmul");
  const Tensor s = first ? g.matmul(other.mT()) : other.mT().matmul(g);
  return s.sum_to_size(e.h.sizes());
}

Tensor convolutionOverrideable(const Evaluation& e) {
  const auto twin = findOperator("aten::convolution", "");
  return invoke(*twin, absoluteArguments(e.call)).at(0).abs();
}

Tensor convolutionBackwardOverrideable(const Evaluation& e) {
  torch::jit::Stack stack = absoluteArguments(e.call);
  const Tensor g = stack.at(0).toTensor();
  stack.insert(stack.begin() + 3, c10::IValue(Dims{g.size(1)}));
  return invoke(*findOperator("aten::convolution_backward", ""), stack).at(e.call.output).abs();
}

/// |H - bias|, the bias along the last dimension; a plain product where it has none.
Tensor storedProduct(const Evaluation& e) {
  const auto bias = e.maybe("bias");
  return bias ? (e.signedTruth - *bias).abs() : e.h;
}

}  // namespace

Formulas generalFormulas() {
  return {{"none", zeros},
          {"value", value},
          {"one", one},
          {"one_plus_value", onePlusValue},
          {"operands", gradientSums, "batch_norm_backward_reduce"},
          {"operands", linearBackward, "linear_backward"},
          {"operands", matmulBackward, "matmul_backward"},
          {"operands", convolutionOverrideable, "convolution_overrideable"},
          {"operands", convolutionBackwardOverrideable, "convolution_backward_overrideable"},
          {"operands", operands},
          {"alpha_product", alphaProduct, "add sub subtract rsub"},
          {"affine", affine, "arange range linspace"},
          {"logspace", logspace, "logspace"},
          {"stored_product", storedProduct, "linear bilinear"},
          {"whole", whole}};
}

}  // namespace neuroncheck::companion
