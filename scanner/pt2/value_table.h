// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/arg_value.h"
#include "core/result.h"
#include "scanner/pt2/json.h"
#include "scanner/pt2/values.h"

namespace neuroncheck::scanner::pt2 {

/// One named value of a graph.
struct GraphValue {
  ArgValue value;
  std::string_view name;
  std::uint32_t reads = 0;
  bool defined = false;
};

/// The maps of a graph that name its values.
enum class ValueKind : std::uint8_t { Tensor, SymInt, SymBool, SymFloat, Object };
[[nodiscard]] std::string_view fieldName(ValueKind kind);

/// The values of one graph by name. Names repeat in other graphs, so each graph has its own table.
/// Names are views into the document. A flat table: a node-based map was the largest single cost of
/// reading.
class ValueTable {
 public:
  using Index = std::uint32_t;

  /// Loads one of the graph's maps. A name that was loaded before is an Error. Indices stay valid.
  [[nodiscard]] Result<void> load(ValueKind kind, Json map, ValueReader& reader);

  /// The value for reading, counted; an Error when there is none or nothing has defined it yet.
  [[nodiscard]] Result<Index> use(std::string_view name);
  /// The value for defining; an Error when there is none or it was defined before.
  [[nodiscard]] Result<Index> define(std::string_view name);

  [[nodiscard]] const GraphValue& operator[](Index index) const { return values_[index]; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Index index = kFree;
  };
  static constexpr Index kFree = 0xFFFFFFFF;

  /// The slot of the name, or the free one where it belongs.
  [[nodiscard]] Slot& slotOf(std::string_view name);
  [[nodiscard]] Result<void> insert(std::string_view name, ArgValue value, ValueKind kind);
  void reserve(std::size_t count);

  std::vector<GraphValue> values_;
  std::vector<Slot> slots_;  ///< a power of two, at most half full
};

}  // namespace neuroncheck::scanner::pt2
