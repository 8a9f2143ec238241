// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/dtype.h"
#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

/// How a survivor of dropout came from its input x, in the order they are tried.
enum class DropoutScale : std::uint8_t {
  RoundedOnce,         ///< x / (1 - p), rounded once to the format
  Float32Reciprocal,   ///< x times 1 / (1 - p) in fp32, then rounded: torch's fused kernels
  Float32Complement,   ///< the same with 1 - p in fp32 too
  ReciprocalInFormat,  ///< the factor itself rounded to the format: torch's unfused kernels, 0.16 %
                       ///< off in bf16 at p = 0.1; not accepted
};
inline constexpr std::size_t kDropoutScaleCount =
    static_cast<std::size_t>(DropoutScale::ReciprocalInFormat) + 1;
[[nodiscard]] std::string_view name(DropoutScale scale);

/// Contiguous buffers of one floating-point dtype, of equal size. The input should have no zeros
/// and be finite: other elements tell nothing of the mask and are left out of the count.
struct DropoutSample {
  DType dtype = DType::Float32;
  std::span<const std::byte> input;
  std::span<const std::byte> output;
  double p = 0.5;  ///< probability of a zero
};

/// Fails unless one accepted scale explains every survivor, zeros are within 5 sigma of p, p = 0
/// changes no bit and p = 1 leaves nothing. `statistic` is the z of the zeros. Mistrusted when the
/// elements are too few for the count to fail. An Error for a dtype without a format, sizes that
/// differ or p outside [0, 1].
[[nodiscard]] Result<RandomFinding> dropoutTest(const DropoutSample& sample);

/// The gradient must pass where the output survived and nowhere else, and be scaled alike.
/// `gradOutput` without zeros, the sizes of the sample's buffers.
[[nodiscard]] Result<RandomFinding> dropoutBackwardTest(const DropoutSample& sample,
                                                        std::span<const std::byte> gradOutput,
                                                        std::span<const std::byte> gradInput);

}  // namespace neuroncheck::numerics
