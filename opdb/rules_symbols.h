// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/inventory.h"

namespace neuroncheck::opdb {

/// Symbols of tensors and arguments, as small numbers. The symbols of one tensor are found once,
/// however many uses share it, and at most kMaxSymbols of one value are kept, so that the work
/// stays linear in the file.
class SymbolTable {
 public:
  static constexpr std::size_t kMaxSymbols = 32;
  using Ids = std::vector<std::uint32_t>;

  [[nodiscard]] const Ids& of(const TensorValue& tensor);
  /// Symbols of all tensors and scalars of `value`, added to `out`.
  void collect(const ArgValue& value, std::set<std::uint32_t>& out);
  [[nodiscard]] const std::string& name(std::uint32_t id) const { return names_[id]; }
  [[nodiscard]] bool unbacked(std::uint32_t id) const { return unbacked_[id]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  void add(const SymInt& value, std::set<std::uint32_t>& out);
  std::uint32_t idOf(const std::string& symbol);

  std::vector<std::string> names_;
  std::vector<bool> unbacked_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<const TensorValue*, Ids> tensors_;
  std::unordered_map<const SymExpr*, Ids> expressions_;
};

}  // namespace neuroncheck::opdb
