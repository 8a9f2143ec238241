// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

enum class Filter : std::uint8_t { Linear, Cubic, Lanczos };

/// How one spatial dimension is resampled.
struct AxisSpec {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::optional<double> scale;  ///< factor given by the caller
  bool alignCorners = false;
  Filter filter = Filter::Linear;
  bool antialias = false;
};

/// [out, in]: the weight of each source, and its derivative to the source coordinate (to the right
/// where the filter has a corner). As ATen/native/UpSample.h has them.
struct Axis {
  Tensor weights;
  Tensor slopes;
};
[[nodiscard]] Axis axisOf(const AxisSpec& spec);

/// Keys' cubic of parameter a, and its derivative.
[[nodiscard]] double cubic(double x, double a);
[[nodiscard]] double cubicSlope(double x, double a);

}  // namespace neuroncheck::companion
