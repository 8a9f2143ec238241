// SPDX-License-Identifier: Apache-2.0
// Forward calls as calls of their backward operators, of which only the arguments are read.
#include <ATen/TensorOperators.h>

#include <array>

#include "torch_host/companion/gradient_call.h"

namespace neuroncheck::companion {
namespace {

using c10::IValue;
using torch::jit::Stack;

std::string baseOf(const Evaluation& e) { return e.name.substr(e.name.find("::") + 2); }

std::string without(std::string name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

BackwardCall unary(const GradientOf& of, std::string_view word) {
  Stack stack{of.cotangent(), of.forward.tensor("self")};
  if (word == "gelu_backward") {
    stack.emplace_back(of.forward.text("approximate", "none"));
  }
  return {word, "aten::" + std::string(word), "", stack};
}

BackwardCall softmax(const GradientOf& of, bool log) {
  return {log ? "log_softmax_backward" : "softmax_backward",
          log ? "aten::_log_softmax_backward_data" : "aten::_softmax_backward_data", "",
          Stack{of.cotangent(), of.forward.signedTruth, of.forward.integer("dim", -1),
                IValue(at::kDouble)}};
}

/// The word of each result of a normalisation: input, weight.
std::optional<BackwardCall> normalisation(const GradientOf& of, std::string name, Stack stack) {
  static constexpr std::array<std::string_view, 2> kArguments{"input", "weight"};
  static constexpr std::array<std::string_view, 2> kWords{"norm_backward", "norm_backward_weight"};
  for (std::size_t i = 0; i < kArguments.size(); ++i) {
    if (of.argument == kArguments[i]) {
      return BackwardCall{kWords[i], std::move(name), "", std::move(stack), i};
    }
  }
  return std::nullopt;
}

IValue allOf(std::size_t count) {
  c10::List<bool> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(true);
  }
  return out;
}

struct Statistics {
  Tensor mean;
  Tensor rstd;
};

Statistics statisticsOf(const Tensor& x, const Dims& dims, double eps, bool keep) {
  const Tensor mean = x.mean(dims, true);
  const Tensor rstd = ((x - mean).square().mean(dims, keep) + eps).rsqrt();
  return {x.mean(dims, keep), rstd};
}

Dims lastDims(const Tensor& x, std::size_t count) {
  Dims out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(x.dim() - static_cast<std::int64_t>(count - i));
  }
  return out;
}

std::optional<BackwardCall> layerNorm(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const Tensor x = e.tensor("input");
  const Dims shape = e.ints("normalized_shape");
  const auto [mean, rstd] = statisticsOf(x, lastDims(x, shape.size()), e.number("eps", 1e-5), true);
  return normalisation(of, "aten::native_layer_norm_backward",
                       Stack{of.cotangent(), x, shape, mean, rstd, optionalOf(e.maybe("weight")),
                             optionalOf(e.maybe("bias")), allOf(3)});
}

std::optional<BackwardCall> groupNorm(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const Tensor x = e.tensor("input");
  const std::int64_t groups = e.integer("num_groups", e.integer("group", 1));
  const std::int64_t inner = x.numel() / (x.size(0) * x.size(1));
  const auto [mean, rstd] =
      statisticsOf(x.reshape({x.size(0), groups, -1}), {2}, e.number("eps", 1e-5), false);
  return normalisation(of, "aten::native_group_norm_backward",
                       Stack{of.cotangent(), x, mean, rstd, optionalOf(e.maybe("weight")),
                             x.size(0), x.size(1), inner, groups, allOf(3)});
}

std::optional<BackwardCall> batchNorm(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const Tensor x = e.tensor("input");
  Dims dims;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    if (i != 1) {
      dims.push_back(i);
    }
  }
  const bool train = e.flag("training", e.name != "aten::_native_batch_norm_legit_no_training");
  const double eps = e.number("eps", 1e-5);
  const auto [mean, rstd] = statisticsOf(x, dims, eps, false);
  return normalisation(
      of, "aten::native_batch_norm_backward",
      Stack{of.cotangent(), x, optionalOf(e.maybe("weight")), optionalOf(e.maybe("running_mean")),
            optionalOf(e.maybe("running_var")), mean, rstd, train, eps, allOf(3)});
}

std::optional<BackwardCall> rmsNorm(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const Tensor x = e.tensor("input");
  const Dims shape = e.ints("normalized_shape");
  const Tensor meanSquare = x.square().mean(lastDims(x, shape.size()), true);
  const Tensor rstd = (meanSquare + e.number("eps", 0x1p-52)).rsqrt();
  const bool weight = of.argument == "weight";
  return BackwardCall{
      weight ? "rms_norm_backward_weight" : "rms_norm_backward", "aten::_fused_rms_norm_backward",
      "", Stack{of.cotangent(), x, shape, rstd, optionalOf(e.maybe("weight")), allOf(2)},
      static_cast<std::size_t>(weight)};
}

std::optional<BackwardCall> attention(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const bool hasMask = e.has("attn_mask");
  const auto mask = hasMask ? e.maybe("attn_mask") : e.maybe("attn_bias");
  const Stack stack{of.cotangent(),
                    e.tensor("query"),
                    e.tensor("key"),
                    e.tensor("value"),
                    optionalOf(mask),
                    allOf(4),
                    IValue(),
                    IValue(),
                    IValue(),
                    IValue(),
                    0,
                    0,
                    e.number("dropout_p", 0),
                    e.flag("is_causal", false),
                    IValue(),
                    IValue(),
                    e.has("scale") ? IValue(e.number("scale", 1)) : IValue()};
  static constexpr std::array<std::string_view, 5> kArguments{"query", "key", "value", "attn_mask",
                                                              "attn_bias"};
  for (std::size_t i = 0; i < kArguments.size(); ++i) {
    if (of.argument == kArguments[i]) {
      return BackwardCall{"attention_backward",
                          "aten::_scaled_dot_product_fused_attention_overrideable_backward", "",
                          stack, std::min<std::size_t>(i, 3)};
    }
  }
  return std::nullopt;
}

std::optional<BackwardCall> embedding(const GradientOf& of) {
  const Evaluation& e = of.forward;
  return BackwardCall{"accumulated", "aten::embedding_dense_backward", "",
                      Stack{of.cotangent(), e.tensor("indices"), of.operand().size(0),
                            e.integer("padding_idx", -1), e.flag("scale_grad_by_freq", false)}};
}

/// The gradient reaches x through log_softmax: g' is that of the loss with respect to it.
std::optional<BackwardCall> crossEntropy(const GradientOf& of) {
  const Evaluation& e = of.forward;
  const Tensor x = e.tensor("self");
  const std::int64_t dim = x.dim() == 1 ? 0 : 1;
  const Tensor target = e.tensor("target");
  TORCH_CHECK(
      of.argument == "self" && target.sizes() != x.sizes() && e.number("label_smoothing", 0) == 0,
      "only classes as targets, without smoothing");
  const Tensor y = torchCall("aten::log_softmax", "int", {x, dim});
  const auto loss = findOperator("aten::nll_loss_nd", "");
  const Stack stack{y, target, optionalOf(e.maybe("weight")), e.integer("reduction", 1),
                    e.integer("ignore_index", -100)};
  const Call call{*loss, stack, e.call.truth, 0, e.k, e.u};
  const GradientOf through{Evaluation(call), of.cotangents, "self", 0};
  return BackwardCall{"log_softmax_backward", "aten::_log_softmax_backward_data", "",
                      Stack{gradientSeen(through, Seen::AsTheyAre), y, dim, IValue(at::kDouble)}};
}

std::optional<BackwardCall> resampled(const GradientOf& of, const std::string& base) {
  const Evaluation& e = of.forward;
  const Tensor x = e.anyOf({"self", "input"});
  const Tensor g = of.cotangent();
  const std::size_t count = static_cast<std::size_t>(x.dim()) - 2;
  Stack stack{g, g.sizes().slice(2).vec(), x.sizes().vec()};
  const bool nearest = base.find("nearest") != std::string::npos;
  if (!nearest) {
    stack.emplace_back(e.flag("align_corners", false));
  }
  static constexpr std::array<const char*, 3> kNames{"scales_d", "scales_h", "scales_w"};
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = count == 1 ? "scales" : kNames.at(i + 3 - count);
    if (e.has("scale_factors")) {
      stack.emplace_back(e.at("scale_factors").toDoubleVector().at(i));
    } else {
      stack.push_back(e.has(name) ? IValue(e.number(name, 1)) : IValue());
    }
  }
  return BackwardCall{nearest ? "accumulated" : "interpolate_backward",
                      "aten::" + base + "_backward", "", stack};
}

std::optional<BackwardCall> grid(const GradientOf& of, const std::string& base) {
  const Evaluation& e = of.forward;
  const bool ofGrid = of.argument == "grid";
  return BackwardCall{
      ofGrid ? "grid_backward" : "interpolate_backward", "aten::" + base + "_backward", "",
      Stack{of.cotangent(), e.tensor("input"), e.tensor("grid"), e.integer("interpolation_mode", 0),
            e.integer("padding_mode", 0), e.flag("align_corners", false), allOf(2)},
      static_cast<std::size_t>(ofGrid)};
}

}  // namespace

std::optional<BackwardCall> backwardCall(const GradientOf& of) {
  const std::string base = baseOf(of.forward);
  const std::string plain = without(without(base, "special_"), "_");
  if (plain == "gelu" || plain == "silu" || plain == "mish" || plain == "hardswish") {
    return unary(of, plain == "gelu"   ? "gelu_backward"
                     : plain == "silu" ? "silu_backward"
                     : plain == "mish" ? "mish_backward"
                                       : "hardswish_backward");
  }
  if (plain == "tanh") {  // From the result, which is rounded.
    return BackwardCall{"tanh_backward", "aten::tanh_backward", "",
                        Stack{of.cotangent(), of.forward.signedTruth}};
  }
  if (plain == "softmax" || plain == "safe_softmax" || plain == "log_softmax") {
    return softmax(of, plain == "log_softmax");
  }
  if (plain == "layer_norm" || plain == "native_layer_norm") {
    return layerNorm(of);
  }
  if (plain == "group_norm" || plain == "native_group_norm") {
    return groupNorm(of);
  }
  if (plain.find("batch_norm") != std::string::npos &&
      plain.find("backward") == std::string::npos) {
    return batchNorm(of);
  }
  if (plain == "rms_norm" || plain == "fused_rms_norm") {
    return rmsNorm(of);
  }
  if (plain.starts_with("scaled_dot_product") && plain.find("backward") == std::string::npos) {
    return attention(of);
  }
  if (plain == "embedding" && of.argument == "weight") {
    return embedding(of);
  }
  if (plain == "cross_entropy_loss") {
    return crossEntropy(of);
  }
  if (plain.starts_with("upsample_") && !plain.ends_with("_backward")) {
    return resampled(of, base);
  }
  if (plain == "grid_sampler_2d" || plain == "grid_sampler_3d") {
    return grid(of, base);
  }
  return std::nullopt;
}

}  // namespace neuroncheck::companion
