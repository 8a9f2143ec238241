// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arg_value.h"
#include "core/result.h"
#include "scanner/pt2/json.h"
#include "scanner/pt2/value_table.h"
#include "scanner/pt2/values.h"

namespace neuroncheck::scanner::pt2 {

/// What a name in an argument does: node inputs and graph outputs read, node outputs and graph
/// inputs define.
enum class Access : std::uint8_t { Read, Define };

/// Turns members of the schema's `Argument` union into values, against the table of one graph.
class ArgumentReader {
 public:
  /// Called for each `as_graph` with its name and graph; returns the path of the subgraph.
  using SubgraphVisitor = std::function<Result<std::string>(std::string_view name, Json graph)>;

  ArgumentReader(ValueTable& table, ValueReader& values, Notes& notes,
                 SubgraphVisitor visitSubgraph)
      : table_(table), values_(values), notes_(notes), visitSubgraph_(std::move(visitSubgraph)) {}

  /// A member this version does not know becomes an OpaqueValue, with a note.
  [[nodiscard]] Result<ArgValue> read(Json argument, Access access);
  /// `TensorArgument` ({"name": "x"}).
  [[nodiscard]] Result<ArgValue> tensor(Json argument, Access access);

  /// Table entries that defining reads have touched since the last forgetDefined().
  [[nodiscard]] const std::vector<ValueTable::Index>& defined() const { return defined_; }
  void forgetDefined() { defined_.clear(); }

 private:
  using Handler = Result<ArgValue> (ArgumentReader::*)(Json, Access);
  struct Member {
    std::string_view key;
    Handler handler;
  };
  /// Null for an unknown key.
  [[nodiscard]] static Handler handlerOf(std::string_view key);

  [[nodiscard]] Result<const ArgValue*> named(std::string_view name, Access access);
  [[nodiscard]] Result<TensorPtr> tensorPtr(Json argument, Access access);
  [[nodiscard]] Result<TensorList> tensorList(Json list, Access access);
  [[nodiscard]] Result<TensorPtr> optionalTensorPtr(Json argument, Access access);
  /// `SymIntArgument` and its float and bool twins: a name of the table, or a constant.
  template <typename T>
  [[nodiscard]] Result<T> symbolic(Json argument, Access access);

  [[nodiscard]] Result<ArgValue> none(Json value, Access access);
  [[nodiscard]] Result<ArgValue> tensors(Json value, Access access);
  [[nodiscard]] Result<ArgValue> optionalTensor(Json value, Access access);
  [[nodiscard]] Result<ArgValue> optionalTensors(Json value, Access access);
  [[nodiscard]] Result<ArgValue> nestedTensors(Json value, Access access);
  [[nodiscard]] Result<ArgValue> integer(Json value, Access access);
  [[nodiscard]] Result<ArgValue> integers(Json value, Access access);
  [[nodiscard]] Result<ArgValue> integerLists(Json value, Access access);
  [[nodiscard]] Result<ArgValue> real(Json value, Access access);
  [[nodiscard]] Result<ArgValue> reals(Json value, Access access);
  [[nodiscard]] Result<ArgValue> realLists(Json value, Access access);
  [[nodiscard]] Result<ArgValue> boolean(Json value, Access access);
  [[nodiscard]] Result<ArgValue> booleans(Json value, Access access);
  [[nodiscard]] Result<ArgValue> string(Json value, Access access);
  [[nodiscard]] Result<ArgValue> strings(Json value, Access access);
  template <typename T>
  [[nodiscard]] Result<ArgValue> symbol(Json value, Access access);
  template <typename T>
  [[nodiscard]] Result<ArgValue> symbols(Json value, Access access);
  [[nodiscard]] Result<ArgValue> scalarType(Json value, Access access);
  [[nodiscard]] Result<ArgValue> memoryFormat(Json value, Access access);
  [[nodiscard]] Result<ArgValue> layout(Json value, Access access);
  [[nodiscard]] Result<ArgValue> device(Json value, Access access);
  [[nodiscard]] Result<ArgValue> complexNumber(Json value, Access access);
  [[nodiscard]] Result<ArgValue> graph(Json value, Access access);
  [[nodiscard]] Result<ArgValue> customObject(Json value, Access access);
  [[nodiscard]] Result<ArgValue> operatorName(Json value, Access access);
  [[nodiscard]] Result<ArgValue> argumentsByName(Json value, Access access);

  ValueTable& table_;
  ValueReader& values_;
  Notes& notes_;
  SubgraphVisitor visitSubgraph_;
  std::vector<ValueTable::Index> defined_;
};

}  // namespace neuroncheck::scanner::pt2
