// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

/// x[rows, n], each row normalised. weight and bias have n elements; or one per row where `perRow`
/// (batch_norm, with the channels brought to the rows); or one for every `channel` elements,
/// through the `groups` rows of a sample (group_norm).
struct NormShape {
  std::int64_t rows = 1, n = 1;
  bool perRow = false;
  std::int64_t channel = 0, groups = 1;

  [[nodiscard]] std::int64_t parameter(std::int64_t row, std::int64_t i) const {
    if (perRow) {
      return row;
    }
    return channel == 0 ? i : row % groups * (n / channel) + i / channel;
  }
};
struct NormOptions {
  double epsilon = 1e-5;
  bool takesMean = true;  ///< rms_norm: no
  double correction = 0;  ///< divisor of the variance: n - correction
  bool takesRoot = true;
  /// What kernels of narrow dtypes do on the way: mean and variance summed in a format, mean and
  /// 1 / deviation rounded to it, or weight / deviation and what is added then.
  std::optional<Format> momentsIn, momentsStoredIn, foldedIn;
};
[[nodiscard]] Values normalise(const Machine& machine, const NormShape& shape, const Values& x,
                               const Values& weight, const Values& bias,
                               const NormOptions& options = {});
/// (|x| + mean |x|) / deviation |weight| + |bias|
[[nodiscard]] Values normaliseMagnitude(const NormShape& shape, const Values& x,
                                        const Values& weight, const Values& bias,
                                        const NormOptions& options = {});

/// The gradients of layer_norm.
struct NormGradients {
  Values x, weight, bias;
};
[[nodiscard]] NormGradients normaliseBackward(const Machine& machine, const NormShape& shape,
                                              const Values& gradient, const Values& x,
                                              const Values& weight,
                                              const NormOptions& options = {});
[[nodiscard]] NormGradients normaliseBackwardMagnitude(const NormShape& shape,
                                                       const Values& gradient, const Values& x,
                                                       const Values& weight,
                                                       const NormOptions& options = {});

struct SoftmaxOptions {
  bool logarithm = false;
  bool subtractMax = true;
  std::int64_t summed = -1;  ///< elements of the denominator; -1: all
};
/// Over the last dimension of x[rows, n].
[[nodiscard]] Values softmax(const Machine& machine, std::int64_t rows, std::int64_t n,
                             const Values& x, const SoftmaxOptions& options = {});
[[nodiscard]] Values softmaxMagnitude(std::int64_t rows, std::int64_t n, const Values& x,
                                      bool logarithm);

/// Scaled dot product attention: q[heads, queries, depth], k and v[heads, keys, depth].
struct AttentionShape {
  std::int64_t heads = 1, queries = 1, keys = 1, depth = 1;
  double scale = 1;
  bool causal = false;
  std::int64_t diagonal = 0;  ///< key j is seen by query i where j <= i + diagonal
};
[[nodiscard]] Values attention(const Machine& machine, const AttentionShape& shape, const Values& q,
                               const Values& k, const Values& v);
[[nodiscard]] Values attentionMagnitude(const AttentionShape& shape, const Values& q,
                                        const Values& k, const Values& v);

}  // namespace neuroncheck::numerics::testing
