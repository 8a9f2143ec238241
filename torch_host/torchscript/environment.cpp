// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/environment.h"

#include <ATen/core/ivalue.h>

#include <algorithm>

namespace neuroncheck::torchscript {
namespace {

const void* identity(const c10::IValue& object) {
  return object.isObject() ? object.toObject().get() : nullptr;
}

}  // namespace

std::optional<c10::IValue> Environment::find(const torch::jit::Value* value) const {
  const auto found = known_.find(value);
  if (found == known_.end() || !trusts(found->second)) {
    return std::nullopt;
  }
  return found->second;
}

void Environment::set(const torch::jit::Value* value, c10::IValue known) {
  known_.insert_or_assign(value, std::move(known));
}

void Environment::forget(const torch::jit::Value* value) {
  known_.erase(value);
  names_.erase(value);
}

std::string Environment::nameOf(const torch::jit::Value* value) const {
  const auto found = names_.find(value);
  return found == names_.end() ? std::string() : found->second;
}

void Environment::setName(const torch::jit::Value* value, std::string name) {
  names_.insert_or_assign(value, std::move(name));
}

void Environment::distrust(const c10::IValue& container) {
  if (container.isList() || container.isGenericDict() || container.isTensor()) {
    distrusted_.push_back(container);
  }
}

void Environment::distrustTensors() {
  std::erase_if(known_, [](const auto& entry) {
    const c10::IValue& value = entry.second;
    return value.isTensor() || value.isList() || value.isTuple() || value.isGenericDict();
  });
}

void Environment::distrustAttribute(const c10::IValue& object, const std::string& attribute) {
  distrustedAttributes_.emplace(identity(object), attribute);
}

bool Environment::trusts(const c10::IValue& value) const {
  if (!value.isList() && !value.isGenericDict() && !value.isTensor()) {
    return true;
  }
  return std::ranges::none_of(distrusted_,
                              [&](const c10::IValue& other) { return other.is(value); });
}

bool Environment::trustsAttribute(const c10::IValue& object, const std::string& attribute) const {
  return !distrustedAttributes_.contains({identity(object), attribute});
}

}  // namespace neuroncheck::torchscript
