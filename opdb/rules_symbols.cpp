// SPDX-License-Identifier: Apache-2.0
#include "opdb/rules_symbols.h"

namespace neuroncheck::opdb {

std::uint32_t SymbolTable::idOf(const std::string& symbol) {
  const auto [found, isNew] = ids_.try_emplace(symbol, static_cast<std::uint32_t>(names_.size()));
  if (isNew) {
    names_.push_back(symbol);
    unbacked_.push_back(SymExpr::makeSymbol(symbol)->isUnbacked());
  }
  return found->second;
}

void SymbolTable::add(const SymInt& value, std::set<std::uint32_t>& out) {
  if (!value.isSymbolic()) {
    return;
  }
  const auto [found, isNew] = expressions_.try_emplace(value.expr.get());
  if (isNew) {
    for (const std::string& symbol : value.expr->symbols()) {
      if (found->second.size() < kMaxSymbols) {
        found->second.push_back(idOf(symbol));
      }
    }
  }
  for (const std::uint32_t id : found->second) {
    if (out.size() < kMaxSymbols) {
      out.insert(id);
    }
  }
}

const SymbolTable::Ids& SymbolTable::of(const TensorValue& tensor) {
  const auto [found, isNew] = tensors_.try_emplace(&tensor);
  if (isNew) {
    std::set<std::uint32_t> ids;
    for (const SymInt& size : tensor.spec.sizes) {
      add(size, ids);
    }
    found->second.assign(ids.begin(), ids.end());
  }
  return found->second;
}

void SymbolTable::collect(const ArgValue& value, std::set<std::uint32_t>& out) {
  forEachTensor(value, [&](const TensorValue& tensor) {
    for (const std::uint32_t id : of(tensor)) {
      if (out.size() < kMaxSymbols) {
        out.insert(id);
      }
    }
  });
  if (const auto* one = std::get_if<SymIntValue>(&value)) {
    add(one->value, out);
  } else if (const auto* list = std::get_if<std::vector<SymIntValue>>(&value)) {
    for (const SymIntValue& each : *list) {
      add(each.value, out);
    }
  }
}

}  // namespace neuroncheck::opdb
