// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/tensor_spec.h"

namespace neuroncheck {

/// A named tensor of a graph. Shared by every use of the value.
struct TensorValue {
  std::string name;
  TensorSpec spec;
};
using TensorPtr = std::shared_ptr<const TensorValue>;

struct NoneValue {
  bool operator==(const NoneValue&) const = default;
};
/// A list of tensors; an element may be null (an optional tensor that is None).
struct TensorList {
  std::vector<TensorPtr> items;
};
/// A symbolic float or bool: a constant, or an expression; `name` is the graph value it came from.
struct SymFloat {
  double value = 0;
  SymExprPtr expr;
  std::string name;
};
struct SymBool {
  bool value = false;
  SymExprPtr expr;
  std::string name;
};
/// A symbolic int argument, with the graph value it came from (empty for a constant).
struct SymIntValue {
  SymInt value;
  std::string name;
};
/// A subgraph argument of a higher-order operator: the path of the subgraph within the model.
struct GraphRef {
  std::string path;
};
/// A custom class instance (torchbind); only its class name is in the file.
struct CustomObject {
  std::string name;
  std::string className;
};
/// An operator passed as an argument ("corpuslib::accumulate_"), as auto_functionalized does.
struct OperatorRef {
  std::string target;
};
/// An argument kind this version does not know; kept as its JSON text so that nothing is lost.
struct OpaqueValue {
  std::string kind;
  std::string json;
};

/// Any argument or result of an operator use.
using ArgValue =
    std::variant<NoneValue, TensorPtr, TensorList, SymIntValue, std::vector<SymIntValue>, SymFloat,
                 std::vector<SymFloat>, SymBool, std::vector<SymBool>, std::string,
                 std::vector<std::string>, DType, MemoryFormat, Layout, Device,
                 std::complex<double>, GraphRef, CustomObject, OperatorRef, std::vector<TensorList>,
                 std::vector<std::vector<std::int64_t>>, std::vector<std::vector<double>>,
                 OpaqueValue>;

/// Short human text of a value: "f32[4, 8]", "[1, s77]", "None", "'tanh'", "float32".
[[nodiscard]] std::string text(const ArgValue& value);
/// Equality of everything a case depends on: tensors by spec (not by name), symbolic values by
/// canonical text.
[[nodiscard]] bool sameValue(const ArgValue& a, const ArgValue& b);
/// Calls `visit` for each tensor in the value (list elements that are None are skipped).
void forEachTensor(const ArgValue& value, const std::function<void(const TensorValue&)>& visit);

}  // namespace neuroncheck
