// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/inventory.h"

/// Equality of every field of an inventory, names included; a NaN equals itself and 0.0 differs
/// from -0.0.
namespace neuroncheck::testing {

template <typename T>
bool same(const T& a, const T& b) {
  return a == b;
}
inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : (a == b && std::signbit(a) == std::signbit(b));
}
inline bool same(const SymExprPtr& a, const SymExprPtr& b) {
  return (a == nullptr) == (b == nullptr) && (a == nullptr || a->str() == b->str());
}
bool same(const ArgValue& a, const ArgValue& b);
inline bool same(const TensorPtr& a, const TensorPtr& b) {
  return (a == nullptr) == (b == nullptr) &&
         (a == nullptr || (a->name == b->name && a->spec == b->spec));
}
inline bool same(const NoneValue&, const NoneValue&) { return true; }
inline bool same(const SymIntValue& a, const SymIntValue& b) {
  return a.name == b.name && a.value == b.value;
}
inline bool same(const SymFloat& a, const SymFloat& b) {
  return a.name == b.name && same(a.expr, b.expr) && same(a.value, b.value);
}
inline bool same(const SymBool& a, const SymBool& b) {
  return a.name == b.name && same(a.expr, b.expr) && a.value == b.value;
}
inline bool same(const std::complex<double>& a, const std::complex<double>& b) {
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}
inline bool same(const GraphRef& a, const GraphRef& b) { return a.path == b.path; }
inline bool same(const CustomObject& a, const CustomObject& b) {
  return a.name == b.name && a.className == b.className;
}
inline bool same(const OperatorRef& a, const OperatorRef& b) { return a.target == b.target; }
inline bool same(const OpaqueValue& a, const OpaqueValue& b) {
  return a.kind == b.kind && a.json == b.json;
}
inline bool same(const Argument& a, const Argument& b) {
  return a.name == b.name && a.isDefault == b.isDefault && same(a.value, b.value);
}
inline bool same(const GraphInput& a, const GraphInput& b) {
  return a.name == b.name && a.kind == b.kind && a.target == b.target &&
         a.persistent == b.persistent && same(a.value, b.value);
}
inline bool same(const GraphOutput& a, const GraphOutput& b) {
  return a.name == b.name && a.kind == b.kind && a.target == b.target && same(a.value, b.value);
}
inline bool same(const StoredTensor& a, const StoredTensor& b) {
  return a.name == b.name && a.spec == b.spec && a.record == b.record &&
         a.recordBytes == b.recordBytes && a.isParameter == b.isParameter;
}
inline bool same(const FileNote& a, const FileNote& b) {
  return a.rule == b.rule && a.record == b.record && a.message == b.message;
}
bool same(const OpUse& a, const OpUse& b);
bool same(const HigherOrderUse& a, const HigherOrderUse& b);
bool same(const Model& a, const Model& b);
inline bool same(const TensorList& a, const TensorList& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t index = 0; index < a.size(); ++index) {
    if (!same(a[index], b[index])) {
      return false;
    }
  }
  return true;
}
inline bool same(const TensorList& a, const TensorList& b) { return same(a.items, b.items); }

inline bool same(const ArgValue& a, const ArgValue& b) {
  return a.index() == b.index() &&
         std::visit(
             [&](const auto& value) {
               return same(value, std::get<std::decay_t<decltype(value)>>(b));
             },
             a);
}
inline bool same(const OpUse& a, const OpUse& b) {
  return a.id == b.id && a.op == b.op && a.node == b.node && a.group == b.group &&
         same(a.args, b.args) && same(a.outputs, b.outputs) && a.module == b.module &&
         a.moduleType == b.moduleType && a.source == b.source && a.lastFrame == b.lastFrame &&
         a.graph == b.graph && a.conditional == b.conditional && a.inLoop == b.inLoop &&
         a.unused == b.unused && a.inCatalogue == b.inCatalogue;
}
inline bool same(const HigherOrderUse& a, const HigherOrderUse& b) {
  return a.name == b.name && a.node == b.node && a.graph == b.graph && same(a.args, b.args) &&
         same(a.outputs, b.outputs) && a.source == b.source;
}
inline bool same(const Model& a, const Model& b) {
  return a.name == b.name && a.torchVersion == b.torchVersion && a.schemaMajor == b.schemaMajor &&
         a.schemaMinor == b.schemaMinor && a.opsetVersion == b.opsetVersion &&
         a.verifiers == b.verifiers && a.dialect == b.dialect && a.madeOn == b.madeOn &&
         a.nodeCount == b.nodeCount && a.jsonBytes == b.jsonBytes && same(a.uses, b.uses) &&
         same(a.higherOrder, b.higherOrder) && a.scalarOps == b.scalarOps &&
         a.subgraphs == b.subgraphs && same(a.inputs, b.inputs) && same(a.outputs, b.outputs) &&
         a.ranges == b.ranges && a.guards == b.guards && same(a.stored, b.stored) &&
         a.notes == b.notes;
}
inline bool same(const Inventory& a, const Inventory& b) {
  return a.path == b.path && a.kind == b.kind && a.size == b.size && a.sha256 == b.sha256 &&
         a.producer == b.producer && a.layout == b.layout && same(a.models, b.models) &&
         a.compiledModels == b.compiledModels && same(a.notes, b.notes);
}

}  // namespace neuroncheck::testing
