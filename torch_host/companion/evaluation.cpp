// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/evaluation.h"

#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace neuroncheck::companion {
namespace {

Tensor widened(const Tensor& tensor) {
  if (c10::isQIntType(tensor.scalar_type()) || tensor.is_complex()) {
    return tensor;
  }
  return tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor;
}

/// |H| and H of an output; of quantised ones only the sizes matter.
std::pair<Tensor, Tensor> valuesOf(const Tensor& truth) {
  if (!truth.defined()) {
    return {};
  }
  if (c10::isQIntType(truth.scalar_type())) {
    const Tensor zeros = scalarTensor(0).expand(truth.sizes());
    return {zeros, zeros};
  }
  const Tensor dense = truth.is_sparse() ? truth.to_dense() : truth;
  const Tensor wide = dense.is_complex() ? dense : dense.to(at::kDouble);
  return {wide.abs(), wide};
}

}  // namespace

Evaluation::Evaluation(const Call& of)
    : call(of),
      name(of.op.schema().name()),
      k(std::max(of.length, 1.0)),
      u(of.accumulatorRoundoff) {
  TORCH_CHECK(of.output < of.truth.size(), "the call has no output ", of.output);
  std::tie(h, signedTruth) = valuesOf(of.truth[of.output]);
  TORCH_CHECK(h.defined(), "output ", of.output, " is not defined");
}

bool Evaluation::declares(std::string_view argument) const {
  return call.op.schema().argumentIndexWithName(argument).has_value();
}

bool Evaluation::has(std::string_view argument) const {
  const auto index = call.op.schema().argumentIndexWithName(argument);
  if (!index || static_cast<std::size_t>(*index) >= call.arguments.size()) {
    return false;
  }
  const c10::IValue& value = call.arguments[static_cast<std::size_t>(*index)];
  return !value.isNone() && !(value.isTensor() && !value.toTensor().defined());
}

const c10::IValue& Evaluation::at(std::string_view argument) const {
  TORCH_CHECK(has(argument), "the call gives no '", std::string(argument), "'");
  const auto index = *call.op.schema().argumentIndexWithName(argument);
  return call.arguments[static_cast<std::size_t>(index)];
}

Tensor Evaluation::tensor(std::string_view argument) const {
  const c10::IValue& value = at(argument);
  return value.isScalar() ? scalarTensor(value.toScalar().toDouble()) : widened(value.toTensor());
}

Tensor Evaluation::anyOf(std::initializer_list<std::string_view> arguments) const {
  const auto* found = std::ranges::find_if(arguments, [this](auto each) { return has(each); });
  return tensor(found == arguments.end() ? *arguments.begin() : *found);
}

std::optional<Tensor> Evaluation::maybe(std::string_view argument) const {
  return has(argument) ? std::optional(tensor(argument)) : std::nullopt;
}

double Evaluation::number(std::string_view argument, double otherwise) const {
  if (!has(argument)) {
    return otherwise;
  }
  const c10::IValue& value = at(argument);
  return value.isTensor() ? value.toTensor().item().toDouble() : value.toScalar().toDouble();
}

std::int64_t Evaluation::integer(std::string_view argument, std::int64_t otherwise) const {
  return has(argument) ? at(argument).toScalar().toLong() : otherwise;
}

bool Evaluation::flag(std::string_view argument, bool otherwise) const {
  return has(argument) ? at(argument).toBool() : otherwise;
}

std::string Evaluation::text(std::string_view argument, std::string_view otherwise) const {
  return has(argument) ? at(argument).toStringRef() : std::string(otherwise);
}

Dims Evaluation::ints(std::string_view argument) const {
  if (!has(argument)) {
    return {};
  }
  const c10::IValue& value = at(argument);
  return value.isInt() ? Dims{value.toInt()} : value.toIntVector();
}

Dims Evaluation::dims(std::string_view argument, const Tensor& x) const {
  Dims out = ints(argument);
  if (out.empty()) {
    for (std::int64_t i = 0; i < x.dim(); ++i) {
      out.push_back(i);
    }
  }
  for (std::int64_t& each : out) {
    each += each < 0 ? std::max<std::int64_t>(x.dim(), 1) : 0;
  }
  return out;
}

double Evaluation::rootK() const { return std::sqrt(k); }

std::vector<Tensor> invoke(const c10::OperatorHandle& op, torch::jit::Stack stack) {
  op.callBoxed(stack);
  std::vector<Tensor> out;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) {
      out.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const Tensor& each : value.toTensorVector()) {
        out.push_back(each);
      }
    }
  }
  return out;
}

std::optional<c10::OperatorHandle> findOperator(std::string_view name, std::string_view overload) {
  return c10::Dispatcher::singleton().findSchema({std::string(name), std::string(overload)});
}

Tensor torchCall(const char* name, const char* overload, torch::jit::Stack stack) {
  const auto op = findOperator(name, overload);
  TORCH_CHECK(op.has_value(), "torch has no ", name, ".", overload);
  const auto& arguments = op->schema().arguments();
  for (std::size_t i = stack.size(); i < arguments.size(); ++i) {
    stack.push_back(arguments[i].default_value().value_or(c10::IValue()));
  }
  const std::vector<Tensor> out = invoke(*op, std::move(stack));
  TORCH_CHECK(!out.empty(), name, " returned no tensor");
  return out.front();
}

c10::IValue optionalOf(const std::optional<Tensor>& tensor) {
  return tensor ? c10::IValue(*tensor) : c10::IValue();
}

Tensor scalarTensor(double value) {
  return at::scalar_tensor(value, at::TensorOptions(at::kDouble));
}

Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
  return yes.where(condition, no);
}

Tensor weighted(const Tensor& p, const Tensor& d) { return p.mul(d).masked_fill(p.eq(0), 0); }

}  // namespace neuroncheck::companion
