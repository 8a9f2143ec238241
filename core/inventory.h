// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/arg_value.h"
#include "core/checkpoint.h"
#include "core/op_name.h"

namespace neuroncheck {

/// What a file is, decided by content. The words are the `kind` of our JSON.
enum class FileKind : std::uint8_t {
  ExportedProgram,
  TorchScript,
  TorchSave,
  PickledModule,
  Safetensors,
  TorchPackage,
  AotInductorPackage,
  MobileFlatbuffer,
  ExecuTorch,
  Onnx,
  Pickle,
  HfFolder,
  Text,
  Empty,
  Unknown,
  Damaged,
};
[[nodiscard]] std::string_view name(FileKind kind);
[[nodiscard]] std::optional<FileKind> parseFileKind(std::string_view text);

/// What sort of thing a use is. Only compute, factory, copy, collective and random always are work
/// of the device; view_or_copy may be. Stated, never counted silently.
enum class OpGroup : std::uint8_t {
  Compute,
  View,
  ViewOrCopy,
  Factory,
  Copy,
  Guard,
  Symbolic,
  Constant,
  Collective,
  Random,
  NoDeviceWork,
};
[[nodiscard]] std::string_view name(OpGroup group);
[[nodiscard]] std::optional<OpGroup> parseOpGroup(std::string_view text);
/// The five groups that always are; false for view_or_copy, which the database decides use by use.
[[nodiscard]] bool isDeviceWork(OpGroup group);

/// A place in the user's source; line 0 means unknown.
struct SourcePlace {
  std::string file;
  std::int64_t line = 0;
  bool operator==(const SourcePlace&) const = default;
  [[nodiscard]] bool known() const { return !file.empty(); }
  [[nodiscard]] std::string str() const {
    return known() ? file + ":" + std::to_string(line) : std::string();
  }
};

struct Argument {
  std::string
      name;  ///< schema argument name; empty for a positional argument of a higher-order operator
  ArgValue value;
  bool isDefault = false;  ///< not in the file, filled from the schema
};

/// One node of a graph that calls an operator of the dispatcher.
struct OpUse {
  std::uint32_t id = 0;  ///< index within the model, in execution order over all graphs
  OpName op;
  std::string node;  ///< node name in its graph
  OpGroup group = OpGroup::Compute;
  std::vector<Argument> args;  ///< those given first, in file order, then the defaults
  std::vector<ArgValue> outputs;
  std::string module;        ///< module path ("encoder.layers.0"), empty for the root
  std::string moduleType;    ///< class of that module
  SourcePlace source;        ///< last frame outside torch
  SourcePlace lastFrame;     ///< last frame of all
  std::string graph;         ///< subgraph path ("/true_graph_0"), empty for the top graph
  bool conditional = false;  ///< within a branch of cond
  bool inLoop = false;       ///< within a body of while_loop, scan or map
  bool unused = false;       ///< no result is read by anything
  bool inCatalogue = false;  ///< the schema source knew the operator

  [[nodiscard]] const Argument* arg(std::string_view argumentName) const;
};

/// A use of a higher-order operator (cond, while_loop, wrap_with_autocast, auto_functionalized_v2,
/// ...).
struct HigherOrderUse {
  std::string name;
  std::string node;
  std::string graph;
  std::vector<Argument> args;
  std::vector<ArgValue> outputs;
  SourcePlace source;
};

/// A device that a builtin of TorchScript's interpreter names: `x.to("cpu")` in a script is
/// `aten::to.prim_Device`, which is no operator of the dispatcher and yet moves tensors.
struct DeviceLiteral {
  OpName op;
  Device device;
  std::string node;
  std::string graph;
  std::string module;
  SourcePlace source;
};

struct GraphInput {
  std::string name;
  std::string kind;    ///< USER_INPUT, PARAMETER, BUFFER, CONSTANT_TENSOR, CUSTOM_OBJ, TOKEN,
                       ///< CONSTANT_INPUT as in torch
  std::string target;  ///< parameter or buffer name; empty for user inputs
  std::optional<bool> persistent;
  ArgValue value;
};
struct GraphOutput {
  std::string name;
  std::string
      kind;  ///< USER_OUTPUT, LOSS_OUTPUT, BUFFER_MUTATION, USER_INPUT_MUTATION, ... as in torch
  std::string target;
  ArgValue value;
};

/// A parameter, buffer or lifted constant, by its name. Sizes come from the metadata, never from
/// the payload.
struct StoredTensor {
  std::string name;
  TensorSpec spec;
  std::string record;             ///< payload record; several names may share one
  std::int64_t recordBytes = -1;  ///< size of that record; -1 when absent, 0 for a weightless file
  bool isParameter = false;
};

/// Where the shapes and dtypes of a model's tensors come from.
enum class ShapeOrigin : std::uint8_t {
  Recorded,    ///< the file has them
  Unknown,     ///< only those of parameters are known (TorchScript)
  Propagated,  ///< followed from the shapes of inputs that the user gave
};
[[nodiscard]] std::string_view name(ShapeOrigin origin);
[[nodiscard]] std::optional<ShapeOrigin> parseShapeOrigin(std::string_view text);

/// How a note begins that says an operator raises for the shapes the user gave.
inline constexpr std::string_view kRaisesNote = "with these input shapes it raises: ";

/// One exported model of a file, or one method of a TorchScript module.
struct Model {
  std::string name;
  std::string torchVersion;
  std::int64_t schemaMajor = 0;
  std::int64_t schemaMinor = 0;
  std::map<std::string, std::int64_t> opsetVersion;
  std::vector<std::string> verifiers;
  /// "training" (composites and in-place nodes may be present), "aten" (after run_decompositions),
  /// or the verifier's word.
  std::string dialect;
  /// Device types of the tensors in the file, sorted: the device the model was made on.
  std::vector<std::string> madeOn;
  std::uint64_t nodeCount = 0;  ///< all nodes of all graphs
  std::uint64_t jsonBytes = 0;
  std::vector<OpUse> uses;
  std::vector<HigherOrderUse> higherOrder;
  std::map<std::string, std::int64_t>
      scalarOps;  ///< Python scalar operators on symbolic values ("_operator.mul")
  std::vector<std::string> subgraphs;  ///< paths, in walk order
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  SymRanges ranges;
  std::vector<std::string> guards;
  std::vector<StoredTensor> stored;
  ShapeOrigin shapes = ShapeOrigin::Recorded;
  /// TorchScript only: builtins of its interpreter ("aten::len.t") and prim nodes, with their
  /// number. Neither is work of the device.
  std::map<std::string, std::int64_t> interpreterOps;
  std::map<std::string, std::int64_t> primOps;
  /// TorchScript only: devices that those builtins name, in execution order.
  std::vector<DeviceLiteral> deviceLiterals;
  /// The operators are names in readable source: without overloads, operands and order of calls.
  bool approximate = false;
  /// TorchScript only: a method, never `forward`, that the reader saw to the end and that has no
  /// operator, nor a builtin that takes or makes a tensor. There is nothing in it to judge.
  bool operatorFree = false;
  std::vector<std::string>
      notes;  ///< what the reader wants said ("weights are absent: shapes from metadata")
};

/// Something about the file itself that a report must say (NC1xx): duplicate records, CRC errors, a
/// compiled part beside a graph.
struct FileNote {
  std::string rule;  ///< "NC101"
  std::string record;
  std::string message;
};

/// What was read of one input file.
struct Inventory {
  std::string path;
  FileKind kind = FileKind::Unknown;
  std::uint64_t size = 0;
  std::string sha256;    ///< empty unless asked for
  std::string producer;  ///< e.g. "torch 2.13.0+cpu, export schema 8.20"
  std::string layout;    ///< archive layout "A", "B" or "C" for exported programs
  std::vector<Model> models;
  std::vector<std::string> compiledModels;  ///< AOTInductor packages inside
  std::optional<Checkpoint> checkpoint;     ///< of files that hold tensors and no program
  std::vector<FileNote> notes;
};

}  // namespace neuroncheck
