// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/values.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>

#include "torch_host/torchscript/vocabulary.h"

namespace neuroncheck::torchscript {
namespace {

ArgValue computed(const std::string& what) { return OpaqueValue{.kind = "computed", .json = what}; }

TensorPtr tensorOf(const at::Tensor& tensor, const std::string& name) {
  if (!tensor.defined()) {
    return nullptr;
  }
  return std::make_shared<const TensorValue>(TensorValue{.name = name, .spec = specOf(tensor)});
}

c10::TypePtr withoutOptional(c10::TypePtr type) {
  while (const auto optional = type ? type->cast<c10::OptionalType>() : nullptr) {
    type = optional->getElementType();
  }
  return type;
}

c10::TypePtr elementType(const c10::TypePtr& type) {
  const auto list = type ? type->cast<c10::ListType>() : nullptr;
  return list ? list->getElementType() : nullptr;
}

bool isKind(const c10::TypePtr& type, c10::TypeKind kind) { return type && type->kind() == kind; }

ArgValue integerOf(std::int64_t value, const c10::TypePtr& type) {
  if (isKind(type, c10::TypeKind::ScalarTypeType)) {
    return dtypeOf(static_cast<c10::ScalarType>(value));
  }
  if (isKind(type, c10::TypeKind::LayoutType)) {
    return layoutOf(static_cast<c10::Layout>(value));
  }
  if (isKind(type, c10::TypeKind::MemoryFormatType)) {
    return memoryFormatOf(static_cast<c10::MemoryFormat>(value));
  }
  return SymIntValue{.value = SymInt(value), .name = {}};
}

ArgValue deviceOf(const c10::Device& device) {
  if (device.is_meta()) {
    return computed("the device of a tensor");
  }
  Device out{.type = c10::DeviceTypeName(device.type(), true), .index = std::nullopt};
  if (device.has_index()) {
    out.index = device.index();
  }
  return out;
}

template <typename Out, typename Convert>
std::vector<Out> convertAll(c10::ArrayRef<c10::IValue> items, Convert convert) {
  std::vector<Out> out;
  out.reserve(items.size());
  for (const c10::IValue& item : items) {
    out.push_back(convert(item));
  }
  return out;
}

ArgValue listOf(const c10::IValue& value, const c10::TypePtr& type, const std::string& name) {
  const std::vector<c10::IValue> items = value.toListRef().vec();
  const c10::TypePtr element = withoutOptional(elementType(type));
  const auto all = [&items](auto is) { return std::all_of(items.begin(), items.end(), is); };
  const bool tensors = isKind(element, c10::TypeKind::TensorType) ||
                       (!items.empty() && all([](const c10::IValue& item) {
                         return item.isTensor() || item.isNone();
                       }));
  if (tensors) {
    return TensorList{convertAll<TensorPtr>(items, [&](const c10::IValue& item) {
      return item.isTensor() ? tensorOf(item.toTensor(), name) : nullptr;
    })};
  }
  if (items.empty() && isKind(element, c10::TypeKind::FloatType)) {
    return std::vector<SymFloat>{};
  }
  if (all([](const c10::IValue& item) { return item.isInt(); })) {
    return convertAll<SymIntValue>(items, [](const c10::IValue& item) {
      return SymIntValue{.value = SymInt(item.toInt()), .name = {}};
    });
  }
  if (all([](const c10::IValue& item) { return item.isDouble(); })) {
    return convertAll<SymFloat>(items, [](const c10::IValue& item) {
      return SymFloat{.value = item.toDouble(), .expr = {}, .name = {}};
    });
  }
  if (all([](const c10::IValue& item) { return item.isBool(); })) {
    return convertAll<SymBool>(items, [](const c10::IValue& item) {
      return SymBool{.value = item.toBool(), .expr = {}, .name = {}};
    });
  }
  if (all([](const c10::IValue& item) { return item.isString(); })) {
    return convertAll<std::string>(items,
                                   [](const c10::IValue& item) { return item.toStringRef(); });
  }
  return computed(type ? type->str() : "a list");
}

/// Tensors of which the dtypes, and where they agree the sizes, are known.
TensorPtr agreedTensor(const TensorPtr& first, const TensorPtr& second) {
  if (!first || !second) {
    return first ? first : second;
  }
  TensorSpec spec = unknownSpec();
  if (first->spec.dtype == second->spec.dtype) {
    spec.dtype = first->spec.dtype;
  }
  if (first->spec.hasShape && second->spec.hasShape && first->spec.sizes == second->spec.sizes) {
    spec.hasShape = true;
    spec.sizes = first->spec.sizes;
    if (first->spec.strides == second->spec.strides) {
      spec.strides = first->spec.strides;
      spec.storageOffset = first->spec.storageOffset;
    }
  }
  return std::make_shared<const TensorValue>(
      TensorValue{.name = first->name, .spec = std::move(spec)});
}

}  // namespace

TensorSpec unknownSpec() {
  TensorSpec spec;
  spec.hasShape = false;
  return spec;
}

TensorSpec specOf(const at::Tensor& tensor) {
  TensorSpec spec;
  spec.dtype = dtypeOf(tensor.scalar_type());
  spec.layout = layoutOf(tensor.layout());
  for (const std::int64_t size : tensor.sizes()) {
    spec.sizes.emplace_back(size);
  }
  if (spec.layout == Layout::Strided) {
    for (const std::int64_t stride : tensor.strides()) {
      spec.strides.emplace_back(stride);
    }
    spec.storageOffset = SymInt(tensor.storage_offset());
  }
  return spec;
}

ArgValue knownValue(const c10::IValue& value, const c10::TypePtr& declared,
                    const std::string& name) {
  const c10::TypePtr type = withoutOptional(declared);
  if (value.isNone()) {
    return NoneValue{};
  }
  if (value.isTensor()) {
    const TensorPtr tensor = tensorOf(value.toTensor(), name);
    return tensor ? ArgValue(tensor) : ArgValue(NoneValue{});
  }
  if (value.isBool()) {
    return SymBool{.value = value.toBool(), .expr = {}, .name = {}};
  }
  if (value.isInt()) {
    return integerOf(value.toInt(), type);
  }
  if (value.isDouble()) {
    return SymFloat{.value = value.toDouble(), .expr = {}, .name = {}};
  }
  if (value.isComplexDouble()) {
    const auto z = value.toComplexDouble();
    return std::complex<double>(z.real(), z.imag());
  }
  if (value.isString()) {
    return value.toStringRef();
  }
  if (value.isDevice()) {
    return deviceOf(value.toDevice());
  }
  if (value.isList()) {
    return listOf(value, type, name);
  }
  if (value.isObject() || value.isCapsule() || value.isCustomClass()) {
    return CustomObject{.name = name, .className = value.type()->str()};
  }
  return computed(value.type()->str());
}

ArgValue unknownValue(const c10::TypePtr& declared, const std::string& name) {
  const c10::TypePtr type = withoutOptional(declared);
  if (isKind(type, c10::TypeKind::TensorType)) {
    return std::make_shared<const TensorValue>(TensorValue{.name = name, .spec = unknownSpec()});
  }
  return computed(type ? type->str() : "a value");
}

ArgValue agreed(const ArgValue& first, const ArgValue& second) {
  if (sameValue(first, second)) {
    return first;
  }
  const auto* a = std::get_if<TensorPtr>(&first);
  const auto* b = std::get_if<TensorPtr>(&second);
  if (a != nullptr && b != nullptr) {
    return agreedTensor(*a, *b);
  }
  return computed("differs from run to run");
}

}  // namespace neuroncheck::torchscript
