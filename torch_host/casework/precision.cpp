// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/precision.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/lt.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/case_operands.h"

namespace neuroncheck::casework {
namespace {

using c10::ScalarType;

/// Floating-point elements through `through`, then in `computed`; others as they are.
Conversion floatsAs(ScalarType computed, std::optional<ScalarType> through = std::nullopt) {
  return [computed, through](const at::Tensor& base) {
    if (base.is_complex()) {
      return base.to(computed == c10::kDouble ? c10::kComplexDouble : c10::kComplexFloat, false,
                     true);
    }
    if (!base.is_floating_point()) {
      return base.clone();
    }
    const at::Tensor seen = through ? base.to(*through) : base;
    return seen.to(computed, false, true);
  };
}

/// fp32 with the 13 last bits of the significand rounded away, to nearest even.
at::Tensor roundedToTf32(const at::Tensor& base) {
  at::Tensor out = base.to(c10::kFloat, false, true);
  auto* words = reinterpret_cast<std::uint32_t*>(out.mutable_data_ptr<float>());
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    constexpr std::uint32_t kExponent = 0x7F800000U;
    if ((words[i] & kExponent) != kExponent) {
      const std::uint32_t odd = (words[i] >> 13U) & 1U;
      words[i] = (words[i] + 0xFFFU + odd) & ~0x1FFFU;
    }
  }
  return out;
}

at::Tensor withoutSubnormals(const at::Tensor& base) {
  const double smallest =
      base.scalar_type() == c10::kHalf ? 0x1p-14 : double{std::numeric_limits<float>::min()};
  at::Tensor out = base.to(c10::kDouble, false, true);
  auto* values = out.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    values[i] = std::abs(values[i]) < smallest ? std::copysign(0.0, values[i]) : values[i];
  }
  return out;
}

Conversion integersAs(ScalarType type, bool onlyLong) {
  return [type, onlyLong](const at::Tensor& base) {
    const bool integer = c10::isIntegralType(base.scalar_type(), false);
    return integer && (!onlyLong || base.scalar_type() == c10::kLong) ? base.to(type, false, true)
                                                                      : base.clone();
  };
}

double toFloat(double value) { return static_cast<double>(static_cast<float>(value)); }

c10::IValue roundedNumber(const c10::IValue& value) {
  if (value.isDouble()) {
    return toFloat(value.toDouble());
  }
  if (value.isTensor() && value.toTensor().defined() &&
      value.toTensor().unsafeGetTensorImpl()->is_wrapped_number() &&
      value.toTensor().scalar_type() == c10::kDouble) {
    at::Tensor number = c10::scalar_to_tensor(toFloat(value.toTensor().item<double>()));
    number.unsafeGetTensorImpl()->set_wrapped_number(true);
    return number;
  }
  return value;
}

bool isDType(const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  const c10::TypePtr& type = optional ? optional->getElementType() : argument.real_type();
  return type->kind() == c10::TypeKind::ScalarTypeType;
}

ScalarType widened(ScalarType type, ScalarType computed) {
  if (c10::isComplexType(type)) {
    return computed == c10::kDouble ? c10::kComplexDouble : c10::kComplexFloat;
  }
  return c10::isFloatingType(type) ? computed : type;
}

Adjust argumentsFor(ScalarType computed, bool roundNumbers, bool defaultDouble) {
  return [=](const c10::FunctionSchema& schema, torch::jit::Stack& stack) {
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (isDType(schema.arguments()[i])) {
        if (stack[i].isInt()) {
          stack[i] = widened(stack[i].toScalarType(), computed);
        } else if (stack[i].isNone() && defaultDouble) {
          stack[i] = computed;
        }
      } else if (roundNumbers) {
        stack[i] = roundedNumber(stack[i]);
      }
    }
  };
}

struct OperandHypothesis {
  std::string_view name;
  Conversion conversion;
};

}  // namespace

Manner inFloat64(bool roundNumbers, bool defaultDouble) {
  return {.device = c10::kCPU,
          .conversion = floatsAs(c10::kDouble),
          .adjust = argumentsFor(c10::kDouble, roundNumbers, defaultDouble)};
}

Manner inFloat32() {
  return {.device = c10::kCPU,
          .conversion = floatsAs(c10::kFloat),
          .adjust = argumentsFor(c10::kFloat, false, false)};
}

std::optional<Manner> underHypothesis(std::string_view name, bool roundNumbers) {
  const std::array<OperandHypothesis, 6> known{{
      {"tf32-inputs",
       [](const at::Tensor& base) {
         return base.is_floating_point() ? roundedToTf32(base).to(c10::kDouble) : base.clone();
       }},
      {"bf16-inputs", floatsAs(c10::kDouble, c10::kBFloat16)},
      {"fp16-inputs", floatsAs(c10::kDouble, c10::kHalf)},
      {"flush-subnormal-inputs",
       [](const at::Tensor& base) {
         return base.is_floating_point() ? withoutSubnormals(base) : base.clone();
       }},
      {"integer-through-fp32", integersAs(c10::kFloat, false)},
      {"int64-as-int32", integersAs(c10::kInt, true)},
  }};
  const auto* found = std::ranges::find(known, name, &OperandHypothesis::name);
  if (found == known.end()) {
    return std::nullopt;
  }
  return Manner{.device = c10::kCPU,
                .conversion = found->conversion,
                .adjust = argumentsFor(c10::kDouble, roundNumbers, false)};
}

bool computesInFloat32(const CaseSpec& spec) {
  bool any = false;
  for (const CaseStep& step : spec.steps) {
    const OperandLayout layout = layoutOf(step);
    const bool dimensions = widestWithDimensions(layout).has_value();
    for (const CaseTensor* operand : layout.operands) {
      if (dimensions && operand->sizes.empty()) {
        continue;  // it is promoted
      }
      const bool real = isFloating(operand->dtype) || isComplex(operand->dtype);
      if (operand->dtype == DType::Float64 || operand->dtype == DType::Complex128) {
        return false;
      }
      any = any || real;
    }
  }
  return any;
}

}  // namespace neuroncheck::casework
