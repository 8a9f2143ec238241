// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/alternatives.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/round.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace neuroncheck::casework {
namespace {

std::optional<std::size_t> placeOf(const c10::FunctionSchema& schema, std::string_view name) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    if (schema.arguments()[i].name() == name) {
      return i;
    }
  }
  return std::nullopt;
}

/// An argument as fp64: a tensor, or a number.
std::optional<at::Tensor> numbers(const companion::Call& call, std::string_view name) {
  const auto place = placeOf(call.op.schema(), name);
  if (!place) {
    return std::nullopt;
  }
  const c10::IValue& value = call.arguments[*place];
  if (value.isTensor()) {
    return value.toTensor().detach().to(c10::kDouble);
  }
  if (value.isScalar()) {
    return at::full_like(call.truth[call.output], value.toScalar(), c10::kDouble);
  }
  return std::nullopt;
}

std::string baseOf(const companion::Call& call) {
  std::string name = call.op.schema().name();
  name = name.substr(name.find("::") + 2);
  if (name.ends_with('_')) {
    name.pop_back();
  }
  return name;
}

bool floors(const companion::Call& call, const std::string& base) {
  const auto place = placeOf(call.op.schema(), "rounding_mode");
  if (!place) {
    return base != "fmod";
  }
  return call.arguments[*place].isString() && call.arguments[*place].toStringRef() == "floor";
}

/// How many the decided integer becomes more when the quotient is taken for the integer, or the
/// number beyond it, that it is closest to: -1, 1, or 0.
at::Tensor stepOf(const at::Tensor& quotient, bool floor, double margin) {
  const at::Tensor nearest = at::round(quotient);
  const at::Tensor open = (quotient - nearest).abs() <= quotient.abs() * margin;
  const at::Tensor decided = floor ? at::floor(quotient) : at::trunc(quotient);
  // Below the integer the other result is that integer; on it or above, the one before it.
  const at::Tensor before = floor ? nearest - 1 : at::where(quotient < 0, nearest + 1, nearest - 1);
  const at::Tensor other = at::where(decided == nearest, before, nearest);
  return at::where(open, other - decided, at::full_like(quotient, 0.0));
}

at::Tensor whereMoved(const at::Tensor& step, const at::Tensor& value) {
  return at::where(step != 0, value,
                   at::full_like(value, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

std::optional<at::Tensor> alternativeOf(const companion::Call& call, double margin) {
  const std::string base = baseOf(call);
  const at::Tensor& truth = call.truth[call.output];
  const auto self = numbers(call, "self");
  if (!truth.defined() || !self || truth.is_complex()) {
    return std::nullopt;
  }
  if (base == "round") {
    const auto place = placeOf(call.op.schema(), "decimals");
    if (!place || !call.arguments[*place].isInt()) {
      return std::nullopt;
    }
    const double scale = std::pow(10.0, static_cast<double>(call.arguments[*place].toInt()));
    // Rounding x is the floor of x + 1/2.
    const at::Tensor scaled = *self * scale;
    const at::Tensor open = ((scaled - at::floor(scaled)) - 0.5).abs() <= scaled.abs() * margin;
    const at::Tensor decided = at::round(truth * scale);
    const at::Tensor lower = at::floor(scaled);
    const at::Tensor other = at::where(decided == lower, lower + 1, lower);
    return whereMoved(open, other / scale);
  }
  const bool quotient =
      base == "floor_divide" || base == "remainder" || base == "fmod" ||
      ((base == "div" || base == "divide") && placeOf(call.op.schema(), "rounding_mode"));
  const auto other = numbers(call, "other");
  if (!quotient || !other) {
    return std::nullopt;
  }
  const at::Tensor step = stepOf(*self / *other, floors(call, base), margin);
  const bool rest = base == "remainder" || base == "fmod";
  return whereMoved(step, rest ? truth - step * *other : truth + step);
}

}  // namespace neuroncheck::casework
