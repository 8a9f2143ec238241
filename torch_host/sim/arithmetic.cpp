// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/arithmetic.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <exception>
#include <unordered_map>

#include "torch_host/backend/alias_engine.h"
#include "torch_host/sim/engine.h"

namespace neuroncheck::sim {
namespace {

using at::Tensor;

bool isInteger(c10::ScalarType type) { return c10::isIntegralType(type, false); }

/// Values modulo 2^32, as int32 would hold them. Sums and products may as well be wrapped at the
/// end, so nothing needs to be computed in int32.
Tensor wrapped(const Tensor& host) { return host.to(at::kInt).to(at::kLong); }

c10::IValue wrappedScalar(const c10::IValue& value) {
  return value.isInt() ? c10::IValue(int64_t{static_cast<int32_t>(value.toInt())}) : value;
}

/// The values one step nearer to zero where `which`, by their bits: sign and magnitude.
Tensor stepped(const Tensor& values, const Tensor& which, int64_t step) {
  const auto bits = values.element_size() == 2 ? at::kShort : at::kInt;
  const Tensor moved = values.view(bits).add(step).view(values.scalar_type());
  return at::where(which, moved, values);
}

/// fp64 rounded toward zero.
Tensor truncated(const Tensor& value, c10::ScalarType type) {
  if (!c10::isFloatingType(type) || type == at::kDouble) {
    return value.to(type);
  }
  const Tensor nearest = value.to(type).contiguous();
  return stepped(nearest, nearest.to(at::kDouble).abs().gt(value.abs()), -1);
}

Tensor roundedByChance(const Tensor& value, c10::ScalarType type, const at::Generator& chance) {
  if (!c10::isFloatingType(type) || type == at::kDouble) {
    return value.to(type);
  }
  const Tensor low = truncated(value, type);
  const Tensor high = stepped(low, low.isfinite(), 1);
  const Tensor from = low.to(at::kDouble).abs();
  const Tensor share = value.abs().sub(from).div(high.to(at::kDouble).abs().sub(from));
  const Tensor draw = share.clone().uniform_(0, 1, chance);
  return at::where(draw.lt(share), high, low);
}

c10::ScalarType doubled(c10::ScalarType type) {
  return c10::isFloatingType(type)   ? at::kDouble
         : type == at::kComplexFloat ? at::kComplexDouble
                                     : type;
}

c10::ScalarType halved(c10::ScalarType type) {
  return type == at::kDouble ? at::kFloat : type == at::kComplexDouble ? at::kComplexFloat : type;
}

Arithmetic onOperands(std::function<Tensor(const Tensor&)> change) {
  Arithmetic out;
  out.operand = [change = std::move(change)](const Tensor& host) {
    return c10::isFloatingType(host.scalar_type()) ? change(host) : host;
  };
  return out;
}

/// In fp64 with a rounding of the results that `round` says.
Arithmetic inDouble(std::function<Tensor(const Tensor&, c10::ScalarType)> round) {
  Arithmetic out;
  out.operand = [](const Tensor& host) { return host.to(doubled(host.scalar_type())); };
  out.dtype = doubled;
  out.result = std::move(round);
  return out;
}

/// The call's arguments with changed copies of its tensors, one copy a tensor.
torch::jit::Stack changedArguments(const Call& call, const Arithmetic& how, bool keepDtypes) {
  std::unordered_map<const c10::TensorImpl*, Tensor> copies;
  const auto change = [&](const Tensor& tensor) {
    if (!isOnDevice(tensor)) {
      return tensor;
    }
    Tensor& copy = copies[tensor.unsafeGetTensorImpl()];
    if (!copy.defined()) {
      const Tensor host = onHost(tensor);
      Tensor changed = how.operand ? how.operand(host) : host;
      changed = keepDtypes ? changed.to(host.scalar_type()) : changed;
      copy = onDevice(changed.is_alias_of(host) ? changed.clone() : changed);
    }
    return copy;
  };
  torch::jit::Stack out;
  const auto& formal = call.op.schema().arguments();
  const bool reads = firstInput(call).defined();  // a factory's numbers are counted on the host
  for (size_t i = 0; i < formal.size(); ++i) {
    const c10::IValue& value = call.arguments[i];
    if (value.isInt() && formal[i].name() == "dtype" && how.dtype && !keepDtypes) {
      const auto type = how.dtype(static_cast<c10::ScalarType>(value.toInt()));
      out.emplace_back(static_cast<int64_t>(type));
    } else if (how.scalar && reads && formal[i].type()->kind() == c10::TypeKind::NumberType) {
      out.push_back(how.scalar(value));
    } else {
      out.push_back(backend::convertTensors(value, change));
    }
  }
  return out;
}

}  // namespace

Tensor roundedThrough(const Tensor& host, c10::ScalarType narrow) {
  return host.to(narrow).to(host.scalar_type());
}

Tensor roundedToTFloat32(const Tensor& host) {
  constexpr int64_t kDropped = 13;
  const Tensor values = host.to(at::kFloat).contiguous();
  const Tensor bits = values.view(at::kInt);
  const Tensor odd = bits.bitwise_right_shift(kDropped).bitwise_and(1);
  const Tensor rounded =
      bits.add(odd).add((1 << (kDropped - 1)) - 1).bitwise_and(-(1 << kDropped)).view(at::kFloat);
  return at::where(values.isfinite(), rounded, values).to(host.scalar_type());
}

Tensor flushed(const Tensor& host) {
  const auto type = host.scalar_type();
  const int exponent = type == at::kHalf ? -14 : type == at::kDouble ? -1022 : -126;
  return host.masked_fill(host.to(at::kDouble).abs().lt(std::ldexp(1.0, exponent)), 0);
}

Arithmetic narrowed(bool int64, bool float64) {
  Arithmetic out;
  out.operand = [=](const Tensor& host) {
    if (int64 && host.scalar_type() == at::kLong) {
      return wrapped(host);
    }
    return float64 ? host.to(halved(host.scalar_type())) : host;
  };
  if (float64) {
    out.dtype = halved;
  }
  out.result = [=](const Tensor& value, c10::ScalarType type) {
    const Tensor cast = value.to(type);
    return int64 && type == at::kLong ? wrapped(cast) : cast;
  };
  if (int64) {
    out.scalar = wrappedScalar;
  }
  return out;
}

Arithmetic wide() {
  return inDouble([](const Tensor& value, c10::ScalarType type) { return value.to(type); });
}

Arithmetic arithmeticOf(FaultKind kind, DeviceState& state) {
  const auto through = [](c10::ScalarType narrow) {
    return onOperands([narrow](const Tensor& host) { return roundedThrough(host, narrow); });
  };
  switch (kind) {
    case FaultKind::BFloat16Inputs:
      return through(at::kBFloat16);
    case FaultKind::Float16Inputs:
      return through(at::kHalf);
    case FaultKind::TFloat32Inputs:
      return onOperands(roundedToTFloat32);
    case FaultKind::FlushInputs:
      return onOperands(flushed);
    case FaultKind::Truncation:
      return inDouble(truncated);
    case FaultKind::StochasticRounding: {
      const at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(state.nextRandom());
      return inDouble([chance](const Tensor& value, c10::ScalarType type) {
        return roundedByChance(value, type, chance);
      });
    }
    case FaultKind::Int64AsInt32:
      return narrowed(true, false);
    case FaultKind::IntThroughFloat: {
      Arithmetic out;
      out.operand = [](const Tensor& host) {
        return isInteger(host.scalar_type()) ? host.to(at::kFloat) : host;
      };
      out.dtype = [](c10::ScalarType type) { return isInteger(type) ? at::kFloat : type; };
      out.result = [](const Tensor& value, c10::ScalarType type) {
        return isInteger(type) ? value.to(at::kFloat).to(type) : value.to(type);
      };
      return out;
    }
    default:
      return {};
  }
}

bool runDegraded(Call& call, const Arithmetic& arithmetic) {
  if (call.op.hasTag(at::Tag::nondeterministic_seeded)) {
    execute(call.op, &call.stack);
    return false;
  }
  std::array<torch::jit::Stack, 2> attempts{changedArguments(call, arithmetic, false),
                                            changedArguments(call, arithmetic, true)};
  execute(call.op, &call.stack);
  // Some operators refuse other dtypes: they then get the same ones with narrowed values.
  for (torch::jit::Stack& twin : attempts) {
    const std::vector<c10::IValue> arguments = twin;
    try {
      execute(call.op, &twin);
    } catch (const std::exception&) {
      continue;
    }
    const auto given = touched(call.op, call.arguments, call.stack);
    const auto computed = touched(call.op, arguments, twin);
    for (size_t i = 0; i < given.size() && i < computed.size(); ++i) {
      const Tensor& target = given[i].tensor;
      if (given[i].view) {
        continue;
      }
      Tensor value = onHost(computed[i].tensor);
      value = arithmetic.result ? arithmetic.result(value, target.scalar_type())
                                : value.to(target.scalar_type());
      if (value.sizes() == target.sizes()) {
        onHost(target).copy_(value);
      } else {
        replaceContents(target, value.clone());
      }
    }
    return true;
  }
  return false;
}

}  // namespace neuroncheck::sim
