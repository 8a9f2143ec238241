// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

/// Mean, mean square and variance over `dims`, and the magnitudes of the two ways to a variance.
struct Moments {
  Moments(const Tensor& of, const Dims& over, bool keep);

  Tensor x;
  Dims dims;
  bool keepdim;
  double count;  ///< n
  Tensor mean;
  Tensor meanSquare;  ///< q
  Tensor variance;    ///< v, over n

  /// v + sqrt(v q)/k + 4 sqrt(k) u q: two passes, or Welford.
  [[nodiscard]] Tensor stable(double k, double u) const;
  /// q + mean^2: mean(x^2) - mean(x)^2.
  [[nodiscard]] Tensor naive() const;
};

/// What an error of `square` makes of its root: to first order, and no more than its own root.
[[nodiscard]] Tensor rootMagnitude(const Tensor& square, const Tensor& root, double k, double u);

}  // namespace neuroncheck::companion
