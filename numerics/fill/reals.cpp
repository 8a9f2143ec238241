// SPDX-License-Identifier: Apache-2.0
// G3, G4 and the random half of G6.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

/// Integers take the place of reals as small whole numbers of the same shape.
constexpr double kIntegerScale = 16;

double within(DType dtype, double value) {
  return std::clamp(value, static_cast<double>(lowestInteger(dtype)),
                    static_cast<double>(std::min<std::int64_t>(highestInteger(dtype), 1 << 20)));
}

bool isUnsigned(DType dtype) {
  return dtype == DType::Bool || kind(dtype) == DTypeKind::UnsignedInt;
}

/// x, then -x (1 + d): what is left of their sum is a few ulps of x.
ElementSource pairs(const FillPlan& plan) {
  return [random = plan.random, dtype = plan.dtype(), format = *plan.format](std::int64_t index,
                                                                             std::uint64_t word) {
    const std::uint64_t own =
        index % 2 == 0 ? word : random.word(CounterRandom::Stream::Values, index - 1);
    const double x = roundTo(format, normalQuantile(unitInterval(own)));
    if (index % 2 == 0) {
      return toPattern(dtype, x);
    }
    const auto steps = static_cast<double>(1 + below(word, 8));
    return toPattern(dtype, -(x + std::copysign(steps * ulp(format, x), x)));
  };
}

}  // namespace

Result<ElementSource> normalValues(const FillPlan& plan) {
  constexpr std::array<double, 3> kScales = {1, 0x1p-20, 0x1p10};
  const auto variant = static_cast<std::size_t>(plan.request.variant);
  if (variant >= kScales.size()) {
    return inputError(fmt::format("G3 has variants 0 to 2, not {}", variant));
  }
  const DType dtype = plan.dtype();
  if (!plan.format) {
    return [dtype](std::int64_t, std::uint64_t word) {
      const double value = std::nearbyint(normalQuantile(unitInterval(word)) * kIntegerScale);
      return integerPattern(dtype, static_cast<std::int64_t>(
                                       within(dtype, isUnsigned(dtype) ? std::abs(value) : value)));
    };
  }
  const double scale = kScales.at(variant);
  const double most = traits(*plan.format).maxFinite();
  return [=](std::int64_t, std::uint64_t word) {
    return toPattern(dtype, std::clamp(normalQuantile(unitInterval(word)) * scale, -most, most));
  };
}

Result<ElementSource> uniformValues(const FillPlan& plan) {
  const DType dtype = plan.dtype();
  if (!plan.format) {
    return [dtype](std::int64_t, std::uint64_t word) {
      const std::int64_t most = std::min<std::int64_t>(highestInteger(dtype), 100);
      return integerPattern(dtype, dtype == DType::Bool ? static_cast<std::int64_t>(word >> 63U)
                                                        : 1 + below(word, most));
    };
  }
  // A narrow format may round the smallest to zero.
  const double least = traits(*plan.format).minSubnormal();
  return [=](std::int64_t, std::uint64_t word) {
    return toPattern(dtype, std::max(unitInterval(word), least));
  };
}

Result<ElementSource> cancellation(const FillPlan& plan) {
  if (!plan.format || plan.format == Format::E8M0) {
    return inputError(fmt::format("nothing cancels in {}", name(plan.dtype())));
  }
  const FillRequest& request = plan.request;
  const auto variant = static_cast<CancellationVariant>(request.variant);
  switch (variant) {
    case CancellationVariant::Pairs:
      return pairs(plan);
    case CancellationVariant::Mean10:
    case CancellationVariant::Mean1000: {
      const double mean = std::min(variant == CancellationVariant::Mean10 ? 10.0 : 1000.0,
                                   traits(*plan.format).maxFinite() / 4);
      return [mean, dtype = plan.dtype()](std::int64_t, std::uint64_t word) {
        return toPattern(dtype, mean + normalQuantile(unitInterval(word)));
      };
    }
    case CancellationVariant::LeftFactor:
    case CancellationVariant::RightFactor:
      break;
    default:
      return inputError(fmt::format("G6 has variants 0 to 4, not {}", request.variant));
  }
  const AxisWalk axis =
      AxisWalk::of(plan.sizes(), request.reductionAxis ? request.reductionAxis : std::nullopt);
  const auto dot = std::make_shared<const ConditionedDot>(conditionedDot(
      *plan.format, axis.size, request.conditionLog2, request.factors, request.seed));
  if (dot->left.empty()) {
    return inputError(fmt::format("no sum of {} terms of {} has condition 2^{}", axis.size,
                                  name(plan.dtype()), request.conditionLog2));
  }
  const bool left = variant == CancellationVariant::LeftFactor;
  // Every row is the same vector but for a sign and a power of two, which keep the condition, so
  // that all outputs of a matrix product have it.
  return [=, dtype = plan.dtype(), random = plan.random](std::int64_t index, std::uint64_t) {
    const std::uint64_t row = random.word(CounterRandom::Stream::Rows, axis.row(index));
    const double scale = std::ldexp((row & 1U) != 0 ? -1.0 : 1.0, static_cast<int>(row >> 1U & 1U));
    const auto& factor = left ? dot->left : dot->right;
    return toPattern(dtype, factor[static_cast<std::size_t>(axis.place(index))] * scale);
  };
}

}  // namespace neuroncheck::numerics
