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
  [[nodiscard]] Result<void> tensorMeta(Json meta, TensorSpec& spec);
  /// `SymInt`: a number, or an expression with its traced hint.
  [[nodiscard]] Result<void> symInt(Json value, SymInt& result);
  [[nodiscard]] Result<SymFloat> symFloat(Json value);
  [[nodiscard]] Result<SymBool> symBool(Json value);
  [[nodiscard]] Result<Device> device(Json value);
  [[nodiscard]] Result<DType> dtype(Json value);

  /// Counts the elements of one list of an argument. They take far more memory than text, so a
  /// list of more than kMostInList is an Error, and so is the list with which all lists of the
  /// model hold more than kMostInModel.
  [[nodiscard]] Result<void> countElements(std::size_t count, std::string_view what);
  static constexpr std::size_t kMostInList = 65'536;
  static constexpr std::size_t kMostInModel = 4'000'000;

  [[nodiscard]] const std::set<std::string, std::less<>>& deviceTypes() const {
    return deviceTypes_;
  }

 private:
  [[nodiscard]] Result<SymExprPtr> expression(std::string_view text);
  [[nodiscard]] Result<void> symInts(Json value, std::string_view what,
                                     std::vector<SymInt>& result);

  Notes& notes_;
  std::size_t elements_ = 0;
  std::unordered_map<std::string, SymExprPtr, StringHash, std::equal_to<>> expressions_;
  std::set<std::string, std::less<>> deviceTypes_;
  std::string lastDeviceType_;  ///< of the tensor before: nearly all have the same
};

}  // namespace neuroncheck::scanner::pt2
