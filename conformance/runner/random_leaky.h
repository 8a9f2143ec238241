// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "conformance/runner/random_sample.h"

namespace neuroncheck::conformance {

/// rrelu: negative inputs times slopes of uniform(lower, upper). `noise` are the slopes where the
/// operator gives them (1 where the input is positive), else empty.
struct Leaky {
  DType dtype = DType::Float32;
  std::vector<double> input, output, noise;
  double lower = 0, upper = 1;
  bool training = true;
};
/// Adds its findings to those of the outputs. Input error for sizes that differ.
[[nodiscard]] Result<void> judgeLeaky(const Leaky& leaky, RandomFindings& out);

/// alpha_dropout: a x + b for what is kept and one number for what is dropped, both within a few
/// roundings (torch/nn/functional.py and aten/src/ATen/native/Dropout.cpp).
[[nodiscard]] numerics::RandomFinding alphaDropoutTest(DType dtype,
                                                       const std::vector<double>& input,
                                                       const std::vector<double>& output, double p);

}  // namespace neuroncheck::conformance
