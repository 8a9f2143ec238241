// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/value_table.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include <xxhash.h>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<2>::Names kCustomObject = {"name", "class_fqn"};
constexpr std::size_t kMaxShown = 120;
constexpr std::size_t kSaturatedCount = 0xFFFFFF;

std::uint32_t hashOf(std::string_view name) {
  return static_cast<std::uint32_t>(XXH3_64bits(name.data(), name.size()));
}

Result<ArgValue> readValue(ValueKind kind, std::string_view name, Json json, ValueReader& reader) {
  switch (kind) {
    case ValueKind::Tensor: {
      auto tensor = std::make_shared<TensorValue>();
      NEURONCHECK_TRY_VOID(reader.tensorMeta(json, tensor->spec));
      tensor->name = name;
      return ArgValue(std::in_place_type<TensorPtr>, std::move(tensor));
    }
    case ValueKind::SymInt: {
      SymIntValue value;
      NEURONCHECK_TRY_VOID(reader.symInt(json, value.value));
      value.name = name;
      return ArgValue(std::move(value));
    }
    case ValueKind::SymBool: {
      NEURONCHECK_TRY(SymBool value, reader.symBool(json));
      value.name = name;
      return ArgValue(std::move(value));
    }
    case ValueKind::SymFloat: {
      NEURONCHECK_TRY(SymFloat value, reader.symFloat(json));
      value.name = name;
      return ArgValue(std::move(value));
    }
    case ValueKind::Object:
      break;
  }
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(json, kCustomObject, "custom object"));
  NEURONCHECK_TRY(const Json fqn, fields.need(1, kCustomObject, "custom object"));
  NEURONCHECK_TRY(const std::string_view className, asString(fqn, "class_fqn"));
  return ArgValue(CustomObject{.name = std::string(name), .className = std::string(className)});
}

}  // namespace

std::string_view fieldName(ValueKind kind) {
  switch (kind) {
    case ValueKind::Tensor:
      return "tensor_values";
    case ValueKind::SymInt:
      return "sym_int_values";
    case ValueKind::SymBool:
      return "sym_bool_values";
    case ValueKind::SymFloat:
      return "sym_float_values";
    case ValueKind::Object:
      break;
  }
  return "custom_obj_values";
}

void ValueTable::reserve(std::size_t count) {
  values_.reserve(count);
  const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(2 * count, 8));
  if (wanted <= slots_.size()) {
    return;
  }
  slots_.assign(wanted, Slot{});
  for (std::size_t i = 0; i < values_.size(); ++i) {
    slotOf(values_[i].name) = Slot{.hash = hashOf(values_[i].name), .index = static_cast<Index>(i)};
  }
}

ValueTable::Slot& ValueTable::slotOf(std::string_view name) {
  const std::uint32_t hash = hashOf(name);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].index != kFree &&
         (slots_[at].hash != hash || !sameText(values_[slots_[at].index].name, name))) {
    at = (at + 1) & mask;
  }
  return slots_[at];
}

Result<void> ValueTable::insert(std::string_view name, ArgValue value, ValueKind kind) {
  Slot& slot = slotOf(name);
  if (slot.index != kFree) {
    return inputError(
        fmt::format("value '{}' of {} is there twice", name.substr(0, kMaxShown), fieldName(kind)));
  }
  slot = Slot{.hash = hashOf(name), .index = static_cast<Index>(values_.size())};
  values_.push_back({.value = std::move(value), .name = name});
  return {};
}

Result<void> ValueTable::load(ValueKind kind, Json map, ValueReader& reader) {
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(map, fieldName(kind)));
  std::size_t count = object.size();
  if (count >= kSaturatedCount) {  // simdjson counts no further
    count = 0;
    for ([[maybe_unused]] const simdjson::dom::key_value_pair pair : object) {
      ++count;
    }
  }
  reserve(values_.size() + count);
  for (const simdjson::dom::key_value_pair pair : object) {
    auto value = readValue(kind, pair.key, pair.value, reader);
    if (!value) {
      return tl::unexpected(std::move(value).error().within(
          fmt::format("value '{}' of {}", pair.key.substr(0, kMaxShown), fieldName(kind))));
    }
    NEURONCHECK_TRY_VOID(insert(pair.key, std::move(*value), kind));
  }
  return {};
}

Result<ValueTable::Index> ValueTable::use(std::string_view name) {
  const Index index = slots_.empty() ? kFree : slotOf(name).index;
  if (index == kFree) {
    return inputError(fmt::format("there is no value named '{}'", name.substr(0, kMaxShown)));
  }
  GraphValue& value = values_[index];
  if (!value.defined) {
    return inputError(
        fmt::format("value '{}' is read before anything defines it", name.substr(0, kMaxShown)));
  }
  ++value.reads;
  return index;
}

Result<ValueTable::Index> ValueTable::define(std::string_view name) {
  const Index index = slots_.empty() ? kFree : slotOf(name).index;
  if (index == kFree) {
    return inputError(fmt::format("there is no value named '{}'", name.substr(0, kMaxShown)));
  }
  GraphValue& value = values_[index];
  if (value.defined) {
    return inputError(fmt::format("value '{}' is defined twice", name.substr(0, kMaxShown)));
  }
  value.defined = true;
  return index;
}

}  // namespace neuroncheck::scanner::pt2
