// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/enum_tag.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "torch_host/companion/absolute.h"
#include "torch_host/companion/functional.h"
#include "torch_host/companion/gradient_call.h"
#include "torch_host/companion/gradients.h"

namespace neuroncheck::companion {
namespace {

/// Linear in each tensor, without a difference: on absolute values nothing cancels.
constexpr std::string_view kMultilinear =
    " sum mean nansum nanmean cumsum trace mm bmm mv dot vdot matmul inner outer ger kron addmm "
    "addmv addbmm baddbmm addr linear bilinear tensordot _trilinear einsum convolution "
    "_convolution "
    "convolution_overrideable conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d mul multiply add sub subtract "
    "rsub addcmul embedding_bag _embedding_bag ";

/// Results are operands, moved: which ones, the values decide.
constexpr std::string_view kMoves =
    " reshape flatten clone contiguous cat concat concatenate stack hstack vstack dstack gather "
    "index index_select take take_along_dim masked_select roll flip fliplr flipud rot90 repeat "
    "tile "
    "repeat_interleave constant_pad_nd pad reflection_pad1d reflection_pad2d reflection_pad3d "
    "replication_pad1d replication_pad2d replication_pad3d pixel_shuffle pixel_unshuffle im2col "
    "col2im tril triu diag_embed diag diagonal_scatter scatter scatter_add index_add index_put "
    "_unsafe_index_put index_fill index_copy masked_fill masked_scatter where slice_scatter "
    "select_scatter sort topk max min amax amin median kthvalue max_pool1d max_pool2d max_pool3d "
    "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d to _to_copy copy type_as nll_loss nll_loss_nd nll_loss2d nll_loss_forward "
    "nll_loss2d_forward channel_shuffle _reshape_copy _unsafe_view ";

bool listed(std::string_view list, std::string_view name) {
  const auto colons = name.find("::");
  const std::string padded = " " + std::string(name.substr(colons + 2)) + " ";
  return list.find(padded) != std::string_view::npos;
}

bool isView(const c10::FunctionSchema& schema) {
  return !schema.returns().empty() && schema.returns()[0].alias_info() != nullptr &&
         !schema.returns()[0].alias_info()->isWrite();
}

/// The tensors of a call as something to take derivatives of: the one that is asked for, or all.
struct Leaves {
  torch::jit::Stack stack;
  std::vector<Tensor> all;
  Tensor asked;
};

template <typename Change, typename Number>
Leaves leavesOf(const GradientOf& of, bool every, Change change, Number number) {
  Leaves out;
  std::size_t element = 0;
  out.stack = changedArguments(
      of.forward.call,
      [&](std::string_view name, const Tensor& x) {
        const Tensor leaf = change(x).detach().clone();
        const bool asked = name == of.argument && element++ == of.element;
        leaf.requires_grad_(asked || every);
        out.all.push_back(leaf);
        if (asked) {
          out.asked = leaf;
        }
        return leaf;
      },
      number);
  TORCH_CHECK(out.asked.defined(), "no floating tensor '", of.argument, "' ", of.element);
  return out;
}

Tensor fitted(const Tensor& s, const Tensor& operand) {
  Tensor out = s.expand(operand.sizes());
  if (operand.is_complex()) {
    Dims sizes = operand.sizes().vec();
    sizes.push_back(2);
    out = out.unsqueeze(-1).expand(sizes);
  }
  return out.abs().contiguous();
}

/// The word of the backward operator, on a call of it.
Result<Tensor> byBackward(const GradientOf& of, const BackwardCall& backward) {
  const auto op = findOperator(backward.name, backward.overload);
  TORCH_CHECK(op.has_value(), "torch has no ", backward.name);
  const std::vector<Tensor> truth(backward.output + 1, gradientSeen(of, Seen::AsTheyAre));
  return magnitude(backward.word, {*op, backward.arguments, truth, backward.output,
                                   of.forward.call.length, of.forward.u});
}

Result<Tensor> magnitudeOf(const GradientOf& of) {
  const Evaluation& e = of.forward;
  if (of.argument == "bias") {  // Added, whatever the operator.
    return fitted(gradientSeen(of, Seen::Absolute), of.operand());
  }
  if (const auto backward = backwardCall(of)) {
    return byBackward(of, *backward);
  }
  if (listed(kMultilinear, e.name)) {
    return fitted(gradientSeen(of, Seen::Absolute), of.operand());
  }
  if (listed(kMoves, e.name) || isView(e.call.op.schema())) {
    std::vector<Tensor> sizes;
    for (const Tensor& each : of.cotangents) {
      sizes.push_back(each.defined() ? each.abs() : each);
    }
    const GradientOf moved{e, sizes, of.argument, of.element};
    return fitted(gradientSeen(moved, Seen::AsTheyAre).abs(), of.operand());
  }
  if (e.call.op.hasTag(at::Tag::pointwise)) {
    return fitted(elementwiseGradient(of), of.operand());
  }
  return inputError("no magnitude for the gradient of " + e.name);
}

}  // namespace

Tensor GradientOf::operand() const {
  const c10::IValue& value = forward.at(argument);
  return value.isTensorList() ? value.toTensorVector().at(element) : value.toTensor();
}

Tensor GradientOf::cotangent() const {
  TORCH_CHECK(!cotangents.empty() && cotangents[0].defined(), "no first cotangent");
  for (std::size_t i = 1; i < cotangents.size(); ++i) {
    TORCH_CHECK(!cotangents[i].defined(), "a cotangent of output ", i);
  }
  return cotangents[0];
}

Tensor gradientSeen(const GradientOf& of, Seen seen) {
  const c10::AutoGradMode withGradients(true);
  const bool absolute = seen == Seen::Absolute;
  const Leaves leaves = leavesOf(
      of, false, [absolute](const Tensor& x) { return absolute ? x.abs() : x; },
      [absolute](double number) { return absolute ? std::abs(number) : number; });
  std::vector<Tensor> cotangents;
  for (const Tensor& each : of.cotangents) {
    cotangents.push_back(absolute && each.defined() ? each.abs() : each);
  }
  return gradients(invoke(of.forward.call.op, leaves.stack), cotangents, {leaves.asked}, false)[0];
}

Tensor elementwiseGradient(const GradientOf& of) {
  const c10::AutoGradMode withGradients(true);
  const auto sizes = of.forward.h.sizes();
  const Leaves leaves = leavesOf(
      of, true, [sizes](const Tensor& x) { return x.expand(sizes); },
      [](double number) { return number; });
  const std::vector<Tensor> outputs = invoke(of.forward.call.op, leaves.stack);
  const Tensor first = gradients(outputs, of.cotangents, {leaves.asked}, true)[0];
  Tensor s = first.detach().abs();
  const std::vector<Tensor> slopes = gradients({first}, {scalarTensor(1)}, leaves.all, false);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    s = s + weighted(leaves.all[i].detach(), slopes[i].detach()).abs();
  }
  if (of.forward.name == "aten::sigmoid" || of.forward.name == "aten::special_expit") {
    s = s + of.cotangent().abs() * of.forward.h;  // 1 - y, of the result, which is rounded.
  }
  return s.sum_to_size(of.operand().sizes()).detach();
}

Result<Tensor> gradientMagnitude(const Call& forward, const std::vector<Tensor>& cotangents,
                                 std::size_t operand, std::size_t element) {
  at::set_num_threads(1);
  const std::string what = "no magnitude for the gradient of " + forward.op.schema().name() + ": ";
  try {
    const c10::AutoGradMode noGradients(false);
    const auto& arguments = forward.op.schema().arguments();
    if (operand >= arguments.size()) {
      return inputError(what + "it has no argument " + std::to_string(operand));
    }
    const FunctionalCall functional(forward);
    const GradientOf of{Evaluation(functional.call()), cotangents, arguments[operand].name(),
                        element};
    return magnitudeOf(of);
  } catch (const c10::Error& error) {
    return inputError(what + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return inputError(what + error.what());
  }
}

}  // namespace neuroncheck::companion
