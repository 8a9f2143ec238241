// SPDX-License-Identifier: Apache-2.0
#include "opdb/predicate.h"

#include <utility>

namespace neuroncheck::opdb {
namespace {

TensorFacts factsOf(const TensorSpec& spec) {
  TensorFacts facts;
  if (spec.dtype != DType::Unknown) {
    facts.dtype = spec.dtype;
  }
  if (spec.hasShape) {
    facts.rank = spec.rank();
    facts.sizes = spec.sizes;
    facts.contiguous = spec.isContiguous();
  }
  return facts;
}

ArgumentFacts factsOf(const ArgValue& value) {
  ArgumentFacts facts;
  if (std::holds_alternative<NoneValue>(value)) {
    facts.isNone = true;
    return facts;
  }
  facts.isNone = false;
  if (const auto* tensor = std::get_if<TensorPtr>(&value)) {
    facts.isNone = *tensor == nullptr;
    if (*tensor != nullptr) {
      facts.tensors.push_back(factsOf((*tensor)->spec));
    }
    return facts;
  }
  if (const auto* list = std::get_if<TensorList>(&value)) {
    facts.length = static_cast<std::int64_t>(list->items.size());
    for (const TensorPtr& item : list->items) {
      if (item != nullptr) {
        facts.tensors.push_back(factsOf(item->spec));
      }
    }
    if (facts.tensors.empty()) {
      facts.value = TensorList{};
    }
    return facts;
  }
  facts.value = value;
  return facts;
}

}  // namespace

PredicateContext factsOf(const OpUse& use, std::string_view chip) {
  PredicateContext context;
  context.chip = chip;
  for (const Argument& argument : use.args) {
    if (!argument.name.empty()) {
      context.arguments.insert_or_assign(argument.name, factsOf(argument.value));
    }
  }
  std::vector<TensorFacts> results;
  for (const ArgValue& output : use.outputs) {
    forEachTensor(output,
                  [&](const TensorValue& tensor) { results.push_back(factsOf(tensor.spec)); });
  }
  context.results = std::move(results);
  return context;
}

}  // namespace neuroncheck::opdb
