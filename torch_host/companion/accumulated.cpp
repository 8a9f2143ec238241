// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "torch_host/companion/absolute.h"
#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {
namespace {

constexpr std::string_view kScatters =
    "scatter scatter_add scatter_reduce index_add index_reduce index_put _index_put_impl "
    "_index_put_impl_ _unsafe_index_put _unsafe_masked_index_put_accumulate put bincount";
constexpr std::string_view kBags =
    "embedding_bag _embedding_bag _embedding_bag_forward_only _embedding_bag_backward "
    "_embedding_bag_dense_backward embedding_backward embedding_dense_backward";
constexpr std::string_view kMoves =
    "gather_backward index_select_backward unfold_backward col2im adaptive_max_pool2d_backward "
    "adaptive_max_pool3d_backward fractional_max_pool2d_backward fractional_max_pool3d_backward "
    "max_pool2d_with_indices_backward max_pool3d_with_indices_backward "
    "reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward "
    "replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward "
    "upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward "
    "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
    "_upsample_nearest_exact3d_backward";

bool isBackward(const Evaluation& e) { return e.name.size() > 9 && e.name.ends_with("_backward"); }

/// In a backward operator the gradients (and weights of samples) are what is summed; elsewhere
/// every floating tensor is.
bool isTerm(const Evaluation& e, std::string_view argument) {
  return !isBackward(e) || argument.starts_with("grad") || argument == "per_sample_weights";
}

torch::jit::Stack replaced(const Evaluation& e, const torch::jit::Stack& stack,
                           std::string_view name, const c10::IValue& value) {
  torch::jit::Stack out;
  const auto index = e.call.op.schema().argumentIndexWithName(name);
  for (std::size_t i = 0; i < stack.size(); ++i) {
    out.push_back(index && static_cast<std::size_t>(*index) == i ? value : stack[i]);
  }
  return out;
}

/// index_reduce has no sum of its own.
Tensor indexReduceCounts(const Evaluation& e) {
  const Tensor self = e.tensor("self") * 0 + (e.flag("include_self", true) ? 1 : 0);
  return self.index_add(e.integer("dim", 0), e.tensor("index"), e.tensor("source") * 0 + 1);
}

/// n_i: the operator on ones, with nothing that scales.
Tensor counts(const Evaluation& e) {
  if (e.name.starts_with("aten::index_reduce")) {
    return indexReduceCounts(e);
  }
  torch::jit::Stack stack = changedArguments(
      e.call,
      [&e](std::string_view name, const Tensor& x) { return isTerm(e, name) ? x * 0 + 1 : x; },
      [](double) { return 1.0; });
  stack = replaced(e, stack, "scale_grad_by_freq", false);
  if (e.text("reduce", "") == "mean") {
    stack = replaced(e, stack, "reduce", "sum");
  }
  if (e.integer("mode", 0) == 1) {
    stack = replaced(e, stack, "mode", 0);
  }
  return invoke(e.call.op, stack).at(e.call.output);
}

Tensor accumulated(const Evaluation& e) {
  const std::string reduce = e.text("reduce", "sum");
  if (reduce == "prod" || reduce == "multiply") {
    return e.h;
  }
  const bool largestOfBag = e.integer("mode", 0) == 2 && !isBackward(e);
  if (reduce == "amax" || reduce == "amin" || largestOfBag) {
    return scalarTensor(0);
  }
  const torch::jit::Stack stack = changedArguments(
      e.call,
      [&e](std::string_view name, const Tensor& x) { return isTerm(e, name) ? x.abs() : x; },
      [](double number) { return std::abs(number); });
  const Tensor sum = invoke(e.call.op, stack).at(e.call.output).to(at::kDouble);
  const Tensor n = counts(e).to(at::kDouble);
  // A lone term is moved, unless the operator divides it first.
  const bool scaled = e.integer("mode", 0) == 1 || e.flag("scale_grad_by_freq", false);
  return where(n <= 1, scaled ? e.h : scalarTensor(0), (n / e.k).sqrt() * sum);
}

/// Has no kernel of the CPU; the one with indices has.
Tensor maxPoolBackward(const Evaluation& e) {
  torch::jit::Stack window{e.tensor("self")};
  for (const char* name : {"kernel_size", "stride", "padding", "dilation"}) {
    window.emplace_back(e.ints(name));
  }
  window.emplace_back(e.flag("ceil_mode", false));
  const auto forward = invoke(*findOperator("aten::max_pool2d_with_indices", ""), window);
  const auto of = [&](const Tensor& g) {
    torch::jit::Stack stack = window;
    stack.insert(stack.begin(), g);
    stack.emplace_back(forward.at(1));
    return torchCall("aten::max_pool2d_with_indices_backward", "", stack);
  };
  const Tensor g = e.tensor("grad_output").abs();
  const Tensor n = of(g * 0 + 1);
  return ((n / e.k).sqrt() * of(g)).masked_fill(n <= 1, 0);
}

}  // namespace

Formulas accumulationFormulas() {
  return {{"accumulated", accumulated, kScatters},
          {"accumulated", accumulated, kBags},
          {"accumulated", accumulated, kMoves},
          {"accumulated", maxPoolBackward, "max_pool2d_backward"}};
}

}  // namespace neuroncheck::companion
