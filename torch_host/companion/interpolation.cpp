// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include "torch_host/companion/interpolation_axis.h"

namespace neuroncheck::companion {
namespace {

constexpr std::string_view kForward =
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d "
    "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa";
constexpr std::string_view kBackward =
    "upsample_linear1d_backward upsample_bilinear2d_backward upsample_trilinear3d_backward "
    "upsample_bicubic2d_backward _upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward "
    "_upsample_lanczos2d_aa_backward";

std::optional<double> scaleFactor(const Evaluation& e, std::size_t axis, std::size_t count) {
  if (e.has("scale_factors")) {
    return e.at("scale_factors").toDoubleVector().at(axis);
  }
  static constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
  const std::string_view name = count == 1 ? "scales" : kNames[axis + 3 - count];
  return e.has(name) ? std::optional(e.number(name, 1)) : std::nullopt;
}

/// One for each spatial dimension, from sizes [N, C, ...] of source and result.
std::vector<Axis> axesOf(const Evaluation& e, at::IntArrayRef in, at::IntArrayRef out) {
  TORCH_CHECK(in.size() == out.size() && in.size() > 2, "sizes that do not fit");
  const std::size_t count = in.size() - 2;
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    AxisSpec spec{in[i + 2], out[i + 2], scaleFactor(e, i, count), e.flag("align_corners", false)};
    spec.antialias = e.name.find("_aa") != std::string::npos;
    spec.filter = e.name.find("bicubic") != std::string::npos   ? Filter::Cubic
                  : e.name.find("lanczos") != std::string::npos ? Filter::Lanczos
                                                                : Filter::Linear;
    axes.push_back(axisOf(spec));
  }
  return axes;
}

/// x with every spatial dimension multiplied by its matrix [out, in].
Tensor applied(Tensor x, const std::vector<Tensor>& matrices) {
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const auto dim = static_cast<std::int64_t>(i) + 2;
    x = x.movedim(dim, -1).matmul(matrices[i].t()).movedim(-1, dim);
  }
  return x;
}

using Part = Tensor (*)(const Axis&, bool slope);

/// Matrices of all axes by `part`, of the axis `sloped` those of its derivative.
std::vector<Tensor> matricesOf(const std::vector<Axis>& axes, std::size_t sloped, Part part) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    out.push_back(part(axes[i], i == sloped));
  }
  return out;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

Tensor interpolate(const Evaluation& e) {
  const Tensor x = e.anyOf({"self", "input"});
  const auto axes = axesOf(e, x.sizes(), e.h.sizes());
  const Part sign = [](const Axis& a, bool slope) { return slope ? a.slopes : a.weights; };
  const Part size = [](const Axis& a, bool) { return a.weights.abs(); };
  Tensor s = applied(x.abs(), matricesOf(axes, kNone, size));
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const auto extent = static_cast<double>(x.size(static_cast<std::int64_t>(d) + 2));
    s = s + extent * applied(x, matricesOf(axes, d, sign)).abs();
  }
  return s;
}

Tensor interpolateBackward(const Evaluation& e) {
  const Tensor g = e.tensor("grad_output").abs();
  const auto axes = axesOf(e, e.h.sizes(), g.sizes());
  const Part size = [](const Axis& a, bool slope) {
    return (slope ? a.slopes : a.weights).abs().t();
  };
  const Part uses = [](const Axis& a, bool) {
    return (a.weights != 0).logical_or(a.slopes != 0).to(at::kDouble).t();
  };
  Tensor s = applied(g, matricesOf(axes, kNone, size));
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const auto extent = static_cast<double>(e.h.size(static_cast<std::int64_t>(d) + 2));
    s = s + extent * applied(g, matricesOf(axes, d, size));
  }
  const Tensor n = applied(g * 0 + 1, matricesOf(axes, kNone, uses));
  return (n / e.k).sqrt() * s;
}

}  // namespace

Formulas interpolationFormulas() {
  return {{"interpolate", interpolate, kForward},
          {"interpolate_backward", interpolateBackward, kBackward}};
}

}  // namespace neuroncheck::companion
