// SPDX-License-Identifier: Apache-2.0
#include "opdb/layouts.h"

#include <memory>
#include <utility>

#include "opdb/operands.h"

namespace neuroncheck::opdb {
namespace {

/// Always gives a contiguous result, unless it is asked for another format.
bool makesContiguous(const OpUse& use) {
  const Argument* format = use.arg("memory_format");
  if (use.op.base != "contiguous" && use.op.base != "clone") {
    return false;
  }
  const auto* wanted = format == nullptr ? nullptr : std::get_if<MemoryFormat>(&format->value);
  return wanted != nullptr && *wanted == MemoryFormat::Contiguous;
}

/// The result lies in the memory of an argument, or is laid out like it.
bool followsArgument(const OpUse& use, const OpInfo* info) {
  return use.group == OpGroup::View || use.group == OpGroup::ViewOrCopy ||
         (info != nullptr && (info->mutates || info->schema.mutates()));
}

TensorPtr withoutStrides(const TensorPtr& tensor,
                         const std::unordered_set<const TensorValue*>& foreign) {
  if (tensor == nullptr || !foreign.contains(tensor.get())) {
    return tensor;
  }
  TensorValue value = *tensor;
  value.spec.strides.clear();
  return std::make_shared<const TensorValue>(std::move(value));
}

}  // namespace

Layouts::Layouts(const Model& model, const Database& database) {
  for (const OpUse& use : model.uses) {
    add(use, database.find(use.op));
  }
}

bool Layouts::hasForeign(const OpUse& use) const {
  bool found = false;
  for (const Argument& argument : use.args) {
    forEachTensor(argument.value,
                  [&](const TensorValue& tensor) { found = found || foreign_.contains(&tensor); });
  }
  return found;
}

void Layouts::add(const OpUse& use, const OpInfo* info) {
  if (makesContiguous(use)) {
    return;
  }
  const bool follows = followsArgument(use, info);
  if (follows && (foreign_.empty() || !hasForeign(use))) {
    return;
  }
  for (const ArgValue& output : use.outputs) {
    forEachTensor(output, [&](const TensorValue& tensor) {
      if (follows || tensor.spec.isContiguous() == false) {
        foreign_.insert(&tensor);
      }
    });
  }
}

std::optional<OpUse> Layouts::withoutForeign(const OpUse& use) const {
  if (foreign_.empty() || !hasForeign(use)) {
    return std::nullopt;
  }
  OpUse adjusted = use;
  replaceOperands(adjusted,
                  [this](const TensorPtr& tensor) { return withoutStrides(tensor, foreign_); });
  return adjusted;
}

}  // namespace neuroncheck::opdb
