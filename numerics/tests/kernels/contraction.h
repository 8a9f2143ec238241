// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "numerics/reference.h"
#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

struct MatmulShape {
  std::int64_t rows = 1, length = 1, columns = 1;
};
/// a[rows, length] b[length, columns].
[[nodiscard]] Values matmul(const Machine& machine, const MatmulShape& shape, const Values& a,
                            const Values& b);
/// sqrt of the sum of the squares of the partial sums after every `tile` terms: what rounding each
/// of them once can add up to, by element and in units of its roundoff.
[[nodiscard]] Values partialSums(const MatmulShape& shape, const Values& a, const Values& b,
                                 std::int64_t tile);
[[nodiscard]] Values transposed(const Values& values, std::int64_t rows, std::int64_t columns);

/// How operands rounded to a format and coarse accumulation are named.
inline constexpr std::array kCastInputs = {
    std::pair{HypothesisId::TFloat32Inputs, Format::TFloat32},
    std::pair{HypothesisId::BFloat16Inputs, Format::BFloat16},
    std::pair{HypothesisId::Float16Inputs, Format::Float16}};
/// Room of an arithmetic that rounds partial sums to `format`: 4 u sqrt(sum of their squares).
[[nodiscard]] Values roomOf(Format format, Values partialSums);

struct ConvShape {
  std::int64_t batch = 1, channels = 1, height = 1, width = 1;
  std::int64_t filters = 1, kernelHeight = 1, kernelWidth = 1;
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;

  [[nodiscard]] std::int64_t outHeight() const {
    return (height + 2 * padding - dilation * (kernelHeight - 1) - 1) / stride + 1;
  }
  [[nodiscard]] std::int64_t outWidth() const {
    return (width + 2 * padding - dilation * (kernelWidth - 1) - 1) / stride + 1;
  }
  /// k: terms of one output element, without the bias.
  [[nodiscard]] std::int64_t length() const {
    return channels / groups * kernelHeight * kernelWidth;
  }
};
/// x[batch, channels, height, width], weight[filters, channels / groups, kernelHeight,
/// kernelWidth], bias[filters]; `shiftX` moves the window, for faults; `edge` is what padding
/// reads.
[[nodiscard]] Values conv2d(const Machine& machine, const ConvShape& shape, const Values& x,
                            const Values& weight, const Values& bias, std::int64_t shiftX = 0,
                            double edge = 0);
/// partialSums() of a convolution.
[[nodiscard]] Values convPartialSums(const ConvShape& shape, const Values& x, const Values& weight,
                                     std::int64_t tile);

}  // namespace neuroncheck::numerics::testing
