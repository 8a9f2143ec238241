// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/inventory.h"
#include "core/result.h"
#include "core/schema.h"
#include "scanner/pt2/arguments.h"
#include "scanner/pt2/frames.h"
#include "scanner/pt2/groups.h"
#include "scanner/pt2/json.h"
#include "scanner/pt2/value_table.h"
#include "scanner/pt2/values.h"

namespace neuroncheck::scanner::pt2 {

/// What a node's target text is, looked up once per text.
struct Target {
  enum class Kind : std::uint8_t { Operator, HigherOrder, Scalar };
  Kind kind = Kind::Scalar;
  OpName op;                     ///< of an Operator
  std::string name;              ///< of the others
  const OpInfo* info = nullptr;  ///< null when the catalogue lacks the operator
  GroupRule group;
};

/// What all graphs of one model share while they are read.
struct ModelContext {
  ModelContext(const SchemaSource& source, Model& into) : schemas(source), model(into) {}

  const SchemaSource& schemas;
  Model& model;
  Notes notes;
  ValueReader values{notes};
  std::unordered_map<std::string_view, Target> targets;

  /// Places of the node before: runs of nodes share them.
  std::string_view lastTrace;
  Frames lastFrames;
  std::string_view lastStack;
  ModulePlace lastModule;

  /// The target of that text; the reference stays valid.
  [[nodiscard]] const Target& target(std::string_view text);
};

/// Where a graph sits: its path, and whether it runs always.
struct GraphPlace {
  std::string path;
  bool conditional = false;
  bool inLoop = false;
};

/// Reads one graph, and through its higher-order nodes all graphs below it, into the model.
class GraphReader {
 public:
  GraphReader(ModelContext& context, GraphPlace place);

  [[nodiscard]] Result<void> read(Json graph);

  /// The graph's inputs and outputs as values, after read().
  [[nodiscard]] const std::vector<ArgValue>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ArgValue>& outputs() const { return outputs_; }

 private:
  /// The results of one use, a run of `results_`, for finding those nothing reads.
  struct Produced {
    std::size_t use = 0;
    std::size_t first = 0;
    std::size_t count = 0;
  };
  struct Node;

  [[nodiscard]] Result<void> readNode(Json value, std::size_t index);
  [[nodiscard]] Result<void> readNodeFields(const Node& node);
  /// Name of a node that has none (schema minors before 8.15), as torch makes it on loading.
  [[nodiscard]] std::string makeName(std::string_view target, const std::vector<ArgValue>& outputs);
  [[nodiscard]] Result<std::vector<Argument>> readArguments(Json inputs, std::size_t reserve = 0);
  [[nodiscard]] Result<void> readArgument(Json item, Argument& argument);
  [[nodiscard]] Result<std::vector<ArgValue>> readList(Json list, std::string_view what,
                                                       Access access);
  [[nodiscard]] Result<void> addUse(const Node& node, const Target& target);
  [[nodiscard]] Result<void> addPythonCall(const Node& node, const Target& target);
  [[nodiscard]] Result<void> addHigherOrder(const Node& node, const Target& target);
  void dropUnknown(OpUse& use, const OpInfo& info);
  void fillDefaults(OpUse& use, const OpInfo& info);
  [[nodiscard]] Result<std::string> visitSubgraph(std::string_view name, Json graph);
  void markUnused();

  ModelContext& context_;
  GraphPlace place_;
  GraphPlace inside_;  ///< of the subgraphs of the node being read
  ValueTable table_;
  ArgumentReader arguments_;
  std::vector<ArgValue> inputs_;
  std::vector<ArgValue> outputs_;
  std::vector<Produced> produced_;
  std::vector<ValueTable::Index> results_;
  std::unordered_map<std::string, int> madeNames_;
};

}  // namespace neuroncheck::scanner::pt2
