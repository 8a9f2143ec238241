// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <array>
#include <cmath>
#include <numbers>

#include "torch_host/companion/evaluation.h"
#include "torch_host/companion/gradients.h"

namespace neuroncheck::companion {
namespace {

constexpr double kPi = std::numbers::pi;
const double kRoot2OverPi = std::sqrt(2 / kPi);

/// What gelu multiplies x/2 with, less one.
Tensor geluShape(const Evaluation& e, const Tensor& x) {
  return e.text("approximate", "none") == "tanh" ? (kRoot2OverPi * (x + 0.044715 * x.pow(3))).tanh()
                                                 : (x / std::sqrt(2.0)).erf();
}

Tensor gelu(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  return x.abs() / 2 * (1 + geluShape(e, x).abs());
}

Tensor geluBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor shape = geluShape(e, x);
  const Tensor square = x.square();
  const Tensor slope =
      e.text("approximate", "none") == "tanh"
          ? x.abs() / 2 * (1 + shape.square()) * kRoot2OverPi * (1 + 0.134145 * square)
          : x.abs() * (square / -2).exp() / std::sqrt(2 * kPi) * (1 + square / 2);
  return e.tensor("grad_output").abs() * ((1 + shape.abs()) / 2 + slope);
}

Tensor conditioned(const Evaluation& e) { return e.h + sensitivity(e.call); }

Tensor eluNaive(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  double alpha = e.number("alpha", 1);
  double scale = e.number("scale", 1);
  double inputScale = e.number("input_scale", 1);
  if (e.name == "aten::celu") {
    inputScale = 1 / alpha;
  } else if (e.name == "aten::selu") {
    alpha = 1.6732632423543772848170429916717;
    scale = 1.0507009873554804934193349852946;
  }
  return where(x <= 0, std::abs(alpha * scale) * ((inputScale * x).exp() + 1), e.h);
}

Tensor eluBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self_or_result");
  const double inputScale = e.number("input_scale", 1);
  const double product = std::abs(e.number("alpha", 1) * e.number("scale", 1));
  const Tensor curved = e.flag("is_result", false)
                            ? (e.tensor("grad_output") * inputScale).abs() * (x.abs() + product)
                            : e.h * (1 + (inputScale * x).abs());
  return where(x <= 0, curved, e.h);
}

Tensor lerp(const Evaluation& e) {
  const Tensor self = e.tensor("self").abs();
  return self + e.tensor("weight").abs() * (e.tensor("end").abs() + self);
}

Tensor tanhBackward(const Evaluation& e) {
  return e.tensor("grad_output").abs() * (1 + e.tensor("output").square());
}

Tensor hardswishBackward(const Evaluation& e) {
  const Tensor size = e.tensor("self").abs();
  return where(size < 3, e.tensor("grad_output").abs() * (size / 3 + 0.5), e.h);
}

Tensor siluBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  return e.tensor("grad_output").abs() * x.sigmoid() * (1 + x.abs());
}

Tensor mishBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor t = (x.clamp_min(0) + x.abs().neg().exp().log1p()).tanh();
  return e.tensor("grad_output").abs() * (t + x.abs() * x.sigmoid() * (1 + t.square()));
}

Tensor gluBackward(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const std::int64_t dim = e.integer("dim", -1);
  const std::int64_t half = x.size(dim) / 2;
  const Tensor s = x.narrow(dim, half, half).sigmoid();
  const Tensor first = e.tensor("grad_output").abs() * s;
  const std::vector<Tensor> both{first, first * x.narrow(dim, 0, half).abs()};
  return torchCall("aten::cat", "", {both, dim});
}

Tensor lgammaOf(const Tensor& x) {
  const Tensor reflected = (kPi * (x - x.round())).sin().abs().log().abs() + (1 - x).lgamma().abs();
  return 1 + x.lgamma().abs() + where(x < 0.5, reflected, scalarTensor(0));
}

Tensor lgamma(const Evaluation& e) { return lgammaOf(e.tensor("self")); }

Tensor mvlgamma(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const std::int64_t p = e.integer("p", 1);
  Tensor s = scalarTensor(static_cast<double>(p * p));
  for (std::int64_t j = 0; j < p; ++j) {
    s = s + lgammaOf(x - 0.5 * static_cast<double>(j));
  }
  return s;
}

Tensor digamma(const Evaluation& e) {
  const Tensor x = e.tensor("self");
  const Tensor reflected = kPi / (kPi * (x - x.round())).tan().abs() + (1 - x).digamma().abs();
  return 1 + e.h + where(x < 0, reflected, scalarTensor(0));
}

/// The first dimension of three, as aten::cross without `dim` has it.
std::int64_t crossDim(const Evaluation& e, const Tensor& x) {
  if (e.has("dim")) {
    return e.integer("dim", -1);
  }
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    if (x.size(i) == 3) {
      return i;
    }
  }
  return -1;
}

Tensor cross(const Evaluation& e) {
  const Tensor x = e.tensor("self").abs().expand(e.h.sizes());
  const Tensor y = e.tensor("other").abs().expand(e.h.sizes());
  const std::int64_t dim = crossDim(e, x);
  const auto from = [dim](const Tensor& t, std::int64_t by) { return t.roll({-by}, {dim}); };
  return from(x, 1) * from(y, 2) + from(x, 2) * from(y, 1);
}

/// The operand of diff, with what is put before and after it.
Tensor extended(const Evaluation& e, std::int64_t dim) {
  std::vector<Tensor> parts;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (e.has(name)) {
      parts.push_back(e.tensor(name).abs());
    }
  }
  return torchCall("aten::cat", "", {parts, dim});
}

Tensor differences(const Evaluation& e) {
  const std::int64_t order = e.integer("n", 1);
  if (order <= 1) {
    return scalarTensor(0);
  }
  const std::int64_t dim = e.integer("dim", -1);
  Tensor sum = extended(e, dim);
  for (std::int64_t i = 0; i < order; ++i) {
    const std::int64_t left = sum.size(dim) - 1;
    sum = sum.narrow(dim, 0, left) + sum.narrow(dim, 1, left);
  }
  return sum;
}

}  // namespace

Formulas elementwiseFormulas() {
  return {{"differences", differences, "diff"},
          {"conditioned", conditioned,
           "logaddexp logaddexp2 polygamma special_polygamma sinc special_sinc softplus "
           "softplus_backward"},
          {"lgamma", lgamma, "lgamma"},
          {"digamma", digamma, "digamma"},
          {"mvlgamma", mvlgamma, "mvlgamma"},
          {"gelu", gelu, "gelu"},
          {"elu_naive", eluNaive, "elu celu selu"},
          {"lerp", lerp, "lerp"},
          {"cross", cross, "cross linalg_cross"},
          {"tanh_backward", tanhBackward, "tanh_backward"},
          {"hardswish_backward", hardswishBackward, "hardswish_backward"},
          {"silu_backward", siluBackward, "silu_backward"},
          {"gelu_backward", geluBackward, "gelu_backward"},
          {"mish_backward", mishBackward, "mish_backward"},
          {"elu_backward", eluBackward, "elu_backward"},
          {"glu_backward", gluBackward, "glu_backward"}};
}

}  // namespace neuroncheck::companion
