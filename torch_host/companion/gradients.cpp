// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/gradients.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "torch_host/companion/absolute.h"
#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& cotangents,
                              const std::vector<Tensor>& leaves, bool again) {
  std::vector<Tensor> roots;
  std::vector<Tensor> weights;
  for (std::size_t i = 0; i < outputs.size() && i < cotangents.size(); ++i) {
    if (outputs[i].requires_grad() && cotangents[i].defined()) {
      roots.push_back(outputs[i]);
      weights.push_back(cotangents[i].expand(outputs[i].sizes()));
    }
  }
  std::vector<Tensor> out(leaves.size());
  if (!roots.empty()) {
    out = torch::autograd::grad(roots, leaves, weights, again, again, /*allow_unused=*/true);
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!out[i].defined()) {
      out[i] = leaves[i].detach() * 0;
    }
  }
  return out;
}

Tensor sensitivity(const Call& call) {
  const c10::AutoGradMode withGradients(true);
  const auto sizes = call.truth.at(call.output).sizes();
  std::vector<Tensor> leaves;
  const torch::jit::Stack stack = changedArguments(
      call,
      [&](std::string_view, const Tensor& x) {
        leaves.push_back(x.detach().expand(sizes).clone().requires_grad_());
        return leaves.back();
      },
      [](double number) { return number; });
  const std::vector<Tensor> out = invoke(call.op, stack);
  const Tensor& h = out.at(call.output);
  const std::vector<Tensor> slopes = gradients({h}, {scalarTensor(1)}, leaves, false);
  Tensor sum = scalarTensor(0).expand(sizes);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    sum = sum + weighted(leaves[i].detach(), slopes[i]).abs();
  }
  return sum;
}

}  // namespace neuroncheck::companion
