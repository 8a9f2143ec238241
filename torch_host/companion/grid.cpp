// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "torch_host/companion/interpolation_axis.h"

namespace neuroncheck::companion {
namespace {

constexpr std::int64_t kNearest = 1;
constexpr std::int64_t kBicubic = 2;
constexpr std::int64_t kZeros = 0;
constexpr std::int64_t kReflection = 2;
constexpr double kCubic = -0.75;

/// One tap of one dimension, over [N, points]: the source, its weight and the weight's derivative.
struct Tap {
  Tensor source;
  Tensor weight;
  Tensor slope;
};

struct GridAxis {
  std::int64_t extent = 0;
  std::vector<Tap> taps;
};

struct Modes {
  std::int64_t interpolation;
  std::int64_t padding;
  bool alignCorners;
};

Tensor reflected(const Tensor& c, std::int64_t extent, bool alignCorners) {
  const double low = alignCorners ? 0 : -0.5;
  const double span = static_cast<double>(alignCorners ? extent - 1 : extent);
  if (span == 0) {
    return c * 0;
  }
  const Tensor distance = (c - low).abs();
  const Tensor rest = distance.fmod(span);
  const Tensor odd = (distance / span).floor().remainder(2) == 1;
  return where(odd, span - rest, rest) + low;
}

/// The coordinate that padding makes of one.
Tensor padded(const Tensor& c, std::int64_t extent, const Modes& modes) {
  if (modes.padding == kZeros) {
    return c;
  }
  const Tensor inside = modes.padding == kReflection ? reflected(c, extent, modes.alignCorners) : c;
  return inside.clamp(0, static_cast<double>(extent - 1));
}

void addTap(GridAxis& axis, const Tensor& place, const Tensor& weight, const Tensor& slope) {
  const auto last = static_cast<double>(axis.extent - 1);
  const Tensor outside = (place < 0).logical_or(place > last);
  axis.taps.push_back({place.clamp(0, last).to(at::kLong), weight.masked_fill(outside, 0),
                       slope.masked_fill(outside, 0)});
}

/// From the normalised coordinates of one dimension.
GridAxis axisOf(const Tensor& grid, std::int64_t extent, const Modes& modes) {
  GridAxis axis{extent, {}};
  const auto size = static_cast<double>(extent);
  const Tensor raw = modes.alignCorners ? (grid + 1) / 2 * (size - 1) : ((grid + 1) * size - 1) / 2;
  const Tensor ones = grid * 0 + 1;
  if (modes.interpolation == kBicubic) {
    const Tensor low = raw.floor();
    for (int tap = -1; tap <= 2; ++tap) {
      const Tensor x = raw - low - tap;
      const auto each = [&x](double (*of)(double, double)) {
        const Tensor out = x.clone().contiguous();
        double* values = out.mutable_data_ptr<double>();
        std::transform(values, values + out.numel(), values,
                       [of](double value) { return of(value, kCubic); });
        return out;
      };
      addTap(axis, padded(low + tap, extent, modes), each(cubic), each(cubicSlope));
    }
    return axis;
  }
  const Tensor c = padded(raw, extent, modes);
  if (modes.interpolation == kNearest) {
    addTap(axis, c.round(), ones, ones * 0);
    return axis;
  }
  const Tensor low = c.floor();
  addTap(axis, low, 1 - (c - low), -ones);
  addTap(axis, low + 1, c - low, ones);
  return axis;
}

/// The taps of all dimensions, slowest first; `grid` counts from the fastest.
std::vector<GridAxis> axesOf(const Evaluation& e, const Tensor& input, const Tensor& grid) {
  const Modes modes{e.integer("interpolation_mode", 0), e.integer("padding_mode", 0),
                    e.flag("align_corners", false)};
  const std::int64_t count = grid.size(-1);
  std::vector<GridAxis> axes;
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor along = grid.select(-1, count - 1 - i).reshape({grid.size(0), -1});
    axes.push_back(axisOf(along, input.size(i + 2), modes));
  }
  return axes;
}

/// One combination of taps: where it points, [N, points], and which tap of each axis it is.
struct Corner {
  Tensor source;
  std::vector<const Tap*> taps;

  /// The product of the weights, of the axes `sloped` their derivatives.
  [[nodiscard]] Tensor weight(const std::vector<std::size_t>& sloped) const {
    Tensor out;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const bool slope = std::ranges::find(sloped, i) != sloped.end();
      const Tensor& factor = slope ? taps[i]->slope : taps[i]->weight;
      out = out.defined() ? out * factor : factor;
    }
    return out;
  }
};

void eachCorner(const std::vector<GridAxis>& axes, const std::function<void(const Corner&)>& see,
                Corner corner = {}) {
  const std::size_t depth = corner.taps.size();
  if (depth == axes.size()) {
    see(corner);
    return;
  }
  for (const Tap& tap : axes[depth].taps) {
    Corner next = corner;
    next.source = depth == 0 ? tap.source : corner.source * axes[depth].extent + tap.source;
    next.taps.push_back(&tap);
    eachCorner(axes, see, next);
  }
}

/// [N, C, points] of [N, C, ...].
Tensor taken(const Tensor& x, const Tensor& source) {
  const Tensor flat = x.flatten(2);
  return flat.gather(2, source.unsqueeze(1).expand({x.size(0), x.size(1), source.size(1)}));
}

Tensor interpolate(const Evaluation& e) {
  const Tensor x = e.tensor("input");
  const auto axes = axesOf(e, x, e.tensor("grid"));
  Tensor s = scalarTensor(0);
  std::vector<Tensor> slopes(axes.size(), scalarTensor(0));
  eachCorner(axes, [&](const Corner& corner) {
    const Tensor value = taken(x, corner.source);
    s = s + (value * corner.weight({}).unsqueeze(1)).abs();
    for (std::size_t d = 0; d < axes.size(); ++d) {
      slopes[d] = slopes[d] + value * corner.weight({d}).unsqueeze(1);
    }
  });
  for (std::size_t d = 0; d < axes.size(); ++d) {
    s = s + static_cast<double>(axes[d].extent) * slopes[d].abs();
  }
  return s.reshape(e.h.sizes());
}

/// |w| + sum_d I_d |dw/dc_d| of one corner.
Tensor sensitive(const Corner& corner, const std::vector<GridAxis>& axes) {
  Tensor s = corner.weight({}).abs();
  for (std::size_t d = 0; d < axes.size(); ++d) {
    s = s + static_cast<double>(axes[d].extent) * corner.weight({d}).abs();
  }
  return s;
}

Tensor inputGradient(const Evaluation& e) {
  const Tensor g = e.tensor("grad_output").abs().flatten(2);
  const auto axes = axesOf(e, e.tensor("input"), e.tensor("grid"));
  Tensor s = e.h.flatten(2) * 0;
  Tensor n = s;
  eachCorner(axes, [&](const Corner& corner) {
    const Tensor source = corner.source.unsqueeze(1).expand(g.sizes());
    const Tensor each = sensitive(corner, axes).unsqueeze(1);
    s = s.scatter_add(2, source, g * each);
    n = n.scatter_add(2, source, (each != 0).to(at::kDouble).expand(g.sizes()));
  });
  return ((n / e.k).sqrt() * s).reshape(e.h.sizes());
}

Tensor gridGradient(const Evaluation& e) {
  const Tensor x = e.tensor("input").abs();
  const Tensor g = e.tensor("grad_output").abs().flatten(2);
  const auto axes = axesOf(e, x, e.tensor("grid"));
  std::vector<Tensor> sums(axes.size(), scalarTensor(0));
  eachCorner(axes, [&](const Corner& corner) {
    const Tensor through = (taken(x, corner.source) * g).sum(at::IntArrayRef({1}));
    for (std::size_t d = 0; d < axes.size(); ++d) {
      Tensor factor = corner.weight({d}).abs();
      for (std::size_t other = 0; other < axes.size(); ++other) {
        if (other != d) {
          factor =
              factor + static_cast<double>(axes[other].extent) * corner.weight({d, other}).abs();
        }
      }
      sums[d] = sums[d] + static_cast<double>(axes[d].extent) / 2 * through * factor;
    }
  });
  std::ranges::reverse(sums);
  return torchCall("aten::stack", "", {sums, -1}).reshape(e.h.sizes());
}

Tensor interpolateBackward(const Evaluation& e) {
  TORCH_CHECK(e.call.output == 0, "the gradient of the grid is 'grid_backward'");
  return inputGradient(e);
}

}  // namespace

Formulas gridFormulas() {
  return {{"interpolate", interpolate, "grid_sampler_2d grid_sampler_3d"},
          {"interpolate_backward", interpolateBackward,
           "grid_sampler_2d_backward grid_sampler_3d_backward"},
          {"grid_backward", gridGradient, "grid_sampler_2d_backward grid_sampler_3d_backward"}};
}

}  // namespace neuroncheck::companion
