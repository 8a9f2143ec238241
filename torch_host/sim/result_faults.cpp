// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/result_faults.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "torch_host/sim/arithmetic.h"

namespace neuroncheck::sim {
namespace {

using at::Tensor;

bool isFloating(const Tensor& tensor) { return c10::isFloatingType(tensor.scalar_type()); }

/// Each value `ulps` steps of its format further from zero.
Tensor movedByUlps(const Tensor& host, int64_t ulps) {
  const auto bits = host.element_size() == 2   ? at::kShort
                    : host.element_size() == 4 ? at::kInt
                                               : at::kLong;
  return host.contiguous().view(bits).add(ulps).view(host.scalar_type());
}

/// Wrong everywhere but where the value is NaN.
Tensor farOff(const Tensor& host) { return host.mul(-1.5).masked_fill(host.eq(0), 1); }

/// A value that nobody takes for the right one, of the same dtype.
Tensor wrong(const Tensor& host, int64_t ulps) {
  if (host.scalar_type() == at::kBool) {
    return host.logical_not();
  }
  if (ulps != 0 && isFloating(host) && host.element_size() > 1) {
    return movedByUlps(host, ulps);
  }
  if (isFloating(host) || host.is_complex()) {
    return farOff(host);
  }
  return host.add(1);
}

/// One element as a tensor without dimensions that writes through.
Tensor elementOf(Tensor host, int64_t index) {
  for (int64_t dim = host.dim() - 1; dim >= 0; --dim) {
    const int64_t size = host.size(dim);
    host = host.select(dim, index % size);
    index /= size;
  }
  return host;
}

double largestFinite(c10::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return 65504;
    case at::kBFloat16:
      return static_cast<double>(std::numeric_limits<c10::BFloat16>::max());
    case at::kDouble:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

/// The changed values, or nothing when the kind does not change values of this dtype.
Tensor changedValues(const Fault& fault, const Tensor& host) {
  const bool floating = isFloating(host);
  const auto through = [&](c10::ScalarType narrow) {
    return floating ? roundedThrough(host, narrow) : Tensor();
  };
  switch (fault.kind) {
    case FaultKind::WrongValue:
    case FaultKind::WrongOneElement:
      return wrong(host, fault.ulps);
    case FaultKind::WrongGradient:
      return floating ? farOff(host) : Tensor();
    case FaultKind::Nan:
      return floating ? host.mul(std::numeric_limits<double>::quiet_NaN()) : Tensor();
    case FaultKind::Infinite:
      return floating ? host.masked_fill(host.eq(host), std::numeric_limits<double>::infinity())
                      : Tensor();
    case FaultKind::InfToMax: {
      const double most = largestFinite(host.scalar_type());
      return floating ? host.clamp(-most, most) : Tensor();
    }
    case FaultKind::NanSpread:
      return floating && host.dim() > 0
                 ? host.masked_fill(host.isfinite().logical_not().any(-1, true),
                                    std::numeric_limits<double>::quiet_NaN())
                 : Tensor();
    case FaultKind::Zeros:
      return host.mul(0).nan_to_num(0, 0, 0);
    case FaultKind::BFloat16Output:
      return through(at::kBFloat16);
    case FaultKind::Float16Output:
      return through(at::kHalf);
    case FaultKind::TFloat32Output:
      return floating ? roundedToTFloat32(host) : Tensor();
    case FaultKind::FlushOutputs:
      return floating ? flushed(host) : Tensor();
    default:
      return {};
  }
}

c10::ScalarType otherDtype(c10::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return at::kDouble;
    case at::kComplexFloat:
      return at::kComplexDouble;
    case at::kComplexDouble:
      return at::kComplexFloat;
    case at::kLong:
      return at::kInt;
    case at::kBool:
      return at::kByte;
    default:
      return c10::isFloatingType(type) ? at::kFloat : at::kLong;
  }
}

/// The same values, the dimensions laid out in the opposite order, or every other element.
Tensor inOtherStrides(const Tensor& host) {
  if (host.dim() < 2) {
    return at::Tensor(host).unsqueeze(-1).repeat_interleave(2, -1).select(-1, 0);
  }
  std::vector<int64_t> order;
  for (int64_t dim = host.dim() - 1; dim >= 0; --dim) {
    order.push_back(dim);
  }
  const Tensor contiguous = host.contiguous();
  return contiguous.permute(order).clone(at::MemoryFormat::Contiguous).permute(order);
}

/// Another tensor in place of the result, or nothing when the kind changes no geometry.
Tensor replacement(const Fault& fault, const Tensor& host) {
  switch (fault.kind) {
    case FaultKind::Shape0:
      return host.new_empty({0});
    case FaultKind::EmptyOutput: {
      std::vector<int64_t> sizes = host.sizes().vec();
      sizes.resize(std::max<size_t>(sizes.size(), 1));
      sizes[0] = 0;
      return host.new_empty(sizes);
    }
    case FaultKind::WrongShape:
      return host.clone().unsqueeze(0);
    case FaultKind::WrongDtype:
      return host.to(otherDtype(host.scalar_type())).clone();
    case FaultKind::WrongStrides:
      return inOtherStrides(host);
    case FaultKind::AliasLost:
      return host.clone();
    default:
      return {};
  }
}

void shareInput(const Call& call, const Tensor& result) {
  const Tensor input = firstInput(call);
  if (input.defined() && input.sizes() == result.sizes() &&
      input.scalar_type() == result.scalar_type()) {
    const Tensor host = onHost(input);
    host.copy_(onHost(result));
    auto* impl = result.unsafeGetTensorImpl();
    impl->set_storage_and_dtype(input.storage(), input.dtype());
    impl->set_storage_offset(input.storage_offset());
    impl->set_sizes_and_strides(input.sizes(), input.strides());
  }
}

void mutateInput(const Call& call, const Fault& fault) {
  const Tensor input = firstInput(call);
  if (input.defined()) {
    const Tensor element = elementOf(onHost(input), fault.element.value_or(0));
    element.copy_(wrong(element, fault.ulps));
  }
}

/// What the result before this one was, as from memory that was used again and not written.
void giveStale(const Tensor& result, std::size_t index, DeviceState& state) {
  Tensor host = onHost(result).contiguous();
  std::vector<char> bytes(host.nbytes());
  std::memcpy(bytes.data(), host.data_ptr(), bytes.size());
  const std::vector<char> before = state.exchangeStale(index, bytes);
  if (before.size() == bytes.size() && !bytes.empty()) {
    host = host.clone();
    std::memcpy(host.data_ptr(), before.data(), before.size());
    onHost(result).copy_(host);
  }
}

void spoilTensor(const Call& call, const Fault& fault, std::size_t index, const Touched& result,
                 DeviceState& state) {
  const Tensor& tensor = result.tensor;
  if (const Tensor other = replacement(fault, onHost(tensor)); other.defined()) {
    if (fault.kind != FaultKind::AliasLost || result.view) {
      replaceContents(tensor, other);
    }
    return;
  }
  if (fault.kind == FaultKind::AliasOutput) {
    shareInput(call, tensor);
    return;
  }
  if (result.view) {  // its memory is that of an argument, which stays as it is
    replaceContents(tensor, onHost(tensor).clone());
  }
  if (fault.kind == FaultKind::Uninitialised) {
    fillWithGarbage(tensor, state);
  } else if (fault.kind == FaultKind::StaleOutput) {
    giveStale(tensor, index, state);
  } else if (tensor.numel() > 0) {
    const bool one = fault.element || fault.kind == FaultKind::WrongOneElement;
    const int64_t place = fault.element.value_or(tensor.numel() / 2) % tensor.numel();
    const Tensor host = onHost(tensor);
    const Tensor target = one ? elementOf(host, place) : host;
    if (const Tensor values = changedValues(fault, target); values.defined()) {
      target.copy_(values);
    }
  }
}

Tensor places(const Tensor& host, SpecialValue::When when) {
  switch (when) {
    case SpecialValue::When::Nan:
      return host.isnan();
    case SpecialValue::When::Zero:
      return host.eq(0);
    case SpecialValue::When::Infinite:
      return host.eq(std::numeric_limits<double>::infinity());
    case SpecialValue::When::MinusInfinite:
      return host.eq(-std::numeric_limits<double>::infinity());
  }
  return {};
}

/// A number that an operator gives, changed as an element would be.
c10::IValue changedNumber(const Fault& fault, const c10::IValue& value) {
  const bool wrongly =
      fault.kind == FaultKind::WrongValue || fault.kind == FaultKind::WrongOneElement;
  if (value.isDouble()) {
    const double x = value.toDouble();
    return wrongly                             ? (x == 0 ? 1.0 : x * -1.5)
           : fault.kind == FaultKind::Nan      ? std::numeric_limits<double>::quiet_NaN()
           : fault.kind == FaultKind::Infinite ? std::numeric_limits<double>::infinity()
           : fault.kind == FaultKind::Zeros    ? 0.0
                                               : x;
  }
  if (value.isInt()) {
    const int64_t x = value.toInt();
    return wrongly ? x + 1 : fault.kind == FaultKind::Zeros ? 0 : x;
  }
  if (value.isBool()) {
    return wrongly ? !value.toBool() : fault.kind != FaultKind::Zeros && value.toBool();
  }
  return value;
}

}  // namespace

SpecialValues::SpecialValues(const Call& call, const Profile& profile) {
  for (const SpecialValue& special : profile.specialValues) {
    if (!matches(special.calls, call)) {
      continue;
    }
    Tensor first;
    for (const c10::IValue& value : call.arguments) {
      eachTensor(value, [&first](const Tensor& tensor) {
        if (!first.defined() && isOnDevice(tensor)) {
          first = tensor;
        }
      });
    }
    if (first.defined() && isFloating(first)) {
      places_.emplace_back(places(onHost(first), special.when), special.becomes);
    }
  }
}

void SpecialValues::apply(const Call& call) const {
  for (const auto& [where, value] : places_) {
    for (const Touched& result : touched(call.op, call.arguments, call.stack)) {
      if (result.tensor.sizes() == where.sizes()) {
        onHost(result.tensor).masked_fill_(where, value);
      }
    }
  }
}

void fillWithGarbage(const at::Tensor& neuron, DeviceState& state) {
  const Tensor host = onHost(neuron);
  const Tensor junk = host.clone(at::MemoryFormat::Contiguous);
  auto* bytes = static_cast<unsigned char*>(junk.data_ptr());
  const bool boolean = host.scalar_type() == at::kBool;
  for (size_t i = 0; i < junk.nbytes(); ++i) {
    const auto random = static_cast<unsigned char>(state.nextRandom() >> 56);
    bytes[i] = boolean ? random & 1 : random;
  }
  host.copy_(junk);
}

void spoilResults(const Call& call, const Fault& fault, std::size_t index, DeviceState& state) {
  if (fault.kind == FaultKind::MutatesInput) {
    mutateInput(call, fault);
    return;
  }
  for (size_t i = call.stack.size() - call.op.schema().returns().size(); i < call.stack.size();
       ++i) {
    call.stack[i] = changedNumber(fault, call.stack[i]);
  }
  bool first = true;
  for (const Touched& result : touched(call.op, call.arguments, call.stack)) {
    const bool onlyFirst = fault.kind == FaultKind::WrongOneElement || fault.element ||
                           fault.kind == FaultKind::AliasOutput ||
                           fault.kind == FaultKind::StaleOutput;
    if (first || !onlyFirst) {
      spoilTensor(call, fault, index, result, state);
    }
    first = false;
  }
}

}  // namespace neuroncheck::sim
