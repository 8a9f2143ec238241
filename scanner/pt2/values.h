// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/arg_value.h"
#include "core/inventory.h"
#include "core/result.h"
#include "scanner/pt2/json.h"

namespace neuroncheck::scanner::pt2 {

struct StringHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// Remarks of a reader, each once and not without end.
class Notes {
 public:
  void add(std::string text);
  /// Appends them to `out` and says how many were left out.
  void moveTo(std::vector<std::string>& out);

 private:
  static constexpr std::size_t kMax = 100;
  std::vector<std::string> texts_;
  std::set<std::string, std::less<>> seen_;
  std::size_t dropped_ = 0;
};

/// Reads tensor metadata and symbolic values of the export schema (torch/_export/serde/schema.py).
/// Expressions are parsed once per text; device types are collected.
class ValueReader {
 public:
  explicit ValueReader(Notes& notes) : notes_(notes) {}

  /// `TensorMeta`. Negative sizes, strides and offsets are Errors.
  [[nodiscard]] Result<TensorSpec> tensorMeta(Json meta);
  /// `SymInt`: a number, or an expression with its traced hint.
  [[nodiscard]] Result<SymInt> symInt(Json value);
  [[nodiscard]] Result<SymFloat> symFloat(Json value);
  [[nodiscard]] Result<SymBool> symBool(Json value);
  [[nodiscard]] Result<Device> device(Json value);
  [[nodiscard]] Result<DType> dtype(Json value);

  [[nodiscard]] const std::set<std::string, std::less<>>& deviceTypes() const {
    return deviceTypes_;
  }

 private:
  [[nodiscard]] Result<SymExprPtr> expression(std::string_view text);
  [[nodiscard]] Result<std::vector<SymInt>> symInts(Json value, std::string_view what);

  Notes& notes_;
  std::unordered_map<std::string, SymExprPtr, StringHash, std::equal_to<>> expressions_;
  std::set<std::string, std::less<>> deviceTypes_;
};

/// One named value of a graph.
struct GraphValue {
  ArgValue value;
  std::uint32_t reads = 0;
  bool defined = false;
};

/// The values of one graph by name. Names repeat in other graphs, so each graph has its own table.
/// Names are views into the document; entries keep their address.
class ValueTable {
 public:
  /// Loads one of the graph's maps: `kind` is "tensor_values", "sym_int_values", "sym_bool_values",
  /// "sym_float_values" or "custom_obj_values". A name that was loaded before is an Error.
  [[nodiscard]] Result<void> load(std::string_view kind, Json map, ValueReader& reader);

  /// The value for reading, counted; an Error when there is none or nothing has defined it yet.
  [[nodiscard]] Result<GraphValue*> use(std::string_view name);
  /// The value for defining; an Error when there is none or it was defined before.
  [[nodiscard]] Result<GraphValue*> define(std::string_view name);

 private:
  std::unordered_map<std::string_view, GraphValue> values_;
};

}  // namespace neuroncheck::scanner::pt2
