// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/length_operands.h"

#include <ATen/core/Tensor.h>

#include <optional>

#include <fmt/format.h>

namespace neuroncheck::casework {
namespace {

using numerics::LengthOperand;
using numerics::TensorSizes;

std::optional<LengthOperand> operandOf(const c10::IValue& value) {
  if (value.isNone() || (value.isTensor() && !value.toTensor().defined())) {
    return LengthOperand(std::monostate{});
  }
  if (value.isTensor()) {
    return LengthOperand(TensorSizes{value.toTensor().sizes().vec()});
  }
  if (value.isTensorList()) {
    std::vector<TensorSizes> out;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      out.push_back({tensor.sizes().vec()});
    }
    return LengthOperand(std::move(out));
  }
  if (value.isOptionalTensorList()) {
    std::vector<TensorSizes> out;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      if (tensor && tensor->defined()) {
        out.push_back({tensor->sizes().vec()});
      }
    }
    return LengthOperand(std::move(out));
  }
  if (value.isInt()) {
    return LengthOperand(value.toInt());
  }
  if (value.isBool()) {
    return LengthOperand(std::int64_t{value.toBool() ? 1 : 0});
  }
  if (value.isIntList()) {
    return LengthOperand(value.toIntVector());
  }
  if (value.isString()) {
    return LengthOperand(value.toStringRef());
  }
  return std::nullopt;
}

}  // namespace

numerics::LengthOperands lengthOperandsOf(const c10::FunctionSchema& schema,
                                          const torch::jit::Stack& arguments,
                                          const std::vector<OutputTensor>& outputs) {
  numerics::LengthOperands out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (auto operand = operandOf(arguments[i])) {
      out.named.emplace(schema.arguments()[i].name(), *std::move(operand));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].tensor.defined()) {
      out.named.emplace(fmt::format("out{}", i),
                        LengthOperand(TensorSizes{outputs[i].tensor.sizes().vec()}));
    }
  }
  return out;
}

}  // namespace neuroncheck::casework
