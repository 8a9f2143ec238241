// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/interpolation_axis.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace neuroncheck::companion {
namespace {

constexpr double kCubic = -0.75;
constexpr double kCubicAntialias = -0.5;

double scaleOf(const AxisSpec& spec) {
  if (spec.alignCorners) {
    return spec.out > 1 ? static_cast<double>(spec.in - 1) / static_cast<double>(spec.out - 1) : 0;
  }
  return spec.scale && *spec.scale > 0
             ? 1 / *spec.scale
             : static_cast<double>(spec.in) / static_cast<double>(spec.out);
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

double filterOf(Filter filter, double x) {
  switch (filter) {
    case Filter::Linear:
      return std::max(0.0, 1 - std::abs(x));
    case Filter::Cubic:
      return cubic(x, kCubicAntialias);
    default:
      return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
}

double halfWidth(Filter filter) {
  return filter == Filter::Linear ? 1 : filter == Filter::Cubic ? 2 : 3;
}

/// Rows of [out, in] matrices.
struct Rows {
  double* weights;
  double* slopes;
  std::int64_t in;

  void add(std::int64_t row, std::int64_t source, double weight, double slope) const {
    const std::int64_t at = row * in + std::clamp<std::int64_t>(source, 0, in - 1);
    weights[at] += weight;
    slopes[at] += slope;
  }
};

void linearRow(const Rows& rows, std::int64_t row, double c) {
  const double place = std::max(c, 0.0);
  const auto low = std::min(static_cast<std::int64_t>(std::floor(place)), rows.in - 1);
  const double t = std::clamp(place - static_cast<double>(low), 0.0, 1.0);
  rows.add(row, low, 1 - t, -1);
  rows.add(row, low + 1, t, 1);
}

void cubicRow(const Rows& rows, std::int64_t row, double c) {
  const auto low = static_cast<std::int64_t>(std::floor(c));
  const double t = c - static_cast<double>(low);
  for (std::int64_t tap = -1; tap <= 2; ++tap) {
    const double x = t - static_cast<double>(tap);
    rows.add(row, low + tap, cubic(x, kCubic), cubicSlope(x, kCubic));
  }
}

/// A filter as wide as the step, its weights divided by their sum.
void antialiasRow(const Rows& rows, std::int64_t row, const AxisSpec& spec, double scale) {
  const double stretch = std::max(scale, 1.0);
  const double support = halfWidth(spec.filter) * stretch;
  const double centre = scale * (static_cast<double>(row) + 0.5);
  const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
  const auto last = std::min(static_cast<std::int64_t>(centre + support + 0.5), spec.in);
  constexpr double kStep = 1e-7;
  double sum = 0;
  double sumSlope = 0;
  std::vector<std::pair<double, double>> taps;
  for (std::int64_t j = first; j < last; ++j) {
    const double x = (static_cast<double>(j) - centre + 0.5) / stretch;
    const double f = filterOf(spec.filter, x);
    const double slope = (filterOf(spec.filter, x - kStep) - f) / (kStep * stretch);
    taps.emplace_back(f, slope);
    sum += f;
    sumSlope += slope;
  }
  for (std::size_t i = 0; i < taps.size() && sum != 0; ++i) {
    const auto [f, slope] = taps[i];
    rows.add(row, first + static_cast<std::int64_t>(i), f / sum,
             (slope - f * sumSlope / sum) / sum);
  }
}

}  // namespace

double cubic(double x, double a) {
  const double s = std::abs(x);
  return s < 1   ? ((a + 2) * s - (a + 3)) * s * s + 1
         : s < 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a
                 : 0;
}

double cubicSlope(double x, double a) {
  const double s = std::abs(x);
  const double slope = s < 1   ? (3 * (a + 2) * s - 2 * (a + 3)) * s
                       : s < 2 ? (3 * a * s - 10 * a) * s + 8 * a
                               : 0;
  return x < 0 ? -slope : slope;
}

Axis axisOf(const AxisSpec& spec) {
  const Tensor zeros = torchCall("aten::zeros", "", {Dims{spec.out, spec.in}, at::kDouble});
  Axis axis{zeros, zeros.clone()};
  const Rows rows{axis.weights.mutable_data_ptr<double>(), axis.slopes.mutable_data_ptr<double>(),
                  spec.in};
  const double scale = scaleOf(spec);
  for (std::int64_t row = 0; row < spec.out; ++row) {
    const auto i = static_cast<double>(row);
    const double c = spec.alignCorners ? i * scale : (i + 0.5) * scale - 0.5;
    if (spec.antialias) {
      antialiasRow(rows, row, spec, scale);
    } else if (spec.filter == Filter::Linear) {
      linearRow(rows, row, c);
    } else {
      cubicRow(rows, row, c);
    }
  }
  return axis;
}

}  // namespace neuroncheck::companion
