// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/graph_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<8>::Names kGraph = {
    "inputs",          "outputs",           "nodes",           "tensor_values", "sym_int_values",
    "sym_bool_values", "custom_obj_values", "sym_float_values"};
enum GraphField : std::size_t {
  GraphInputs,
  GraphOutputs,
  GraphNodes,
  GraphTensorValues,
  GraphSymInts,
  GraphSymBools,
  GraphObjects,
  GraphSymFloats
};

constexpr Fields<5>::Names kNode = {"target", "inputs", "outputs", "metadata", "name"};
enum NodeField : std::size_t { NodeTarget, NodeInputs, NodeOutputs, NodeMetadata, NodeName };

constexpr Fields<2>::Names kArgument = {"name", "arg"};
constexpr Fields<2>::Names kMetadataFields = {"stack_trace", "nn_module_stack"};

constexpr std::size_t kMaxShown = 120;
constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
constexpr std::array<std::string_view, 5> kLoops = {"while_loop", "scan", "associative_scan",
                                                    "map_impl", "map"};

Target describe(std::string_view text, const SchemaSource& schemas) {
  Target target;
  if (text.starts_with(kHigherOrder)) {
    target.kind = Target::Kind::HigherOrder;
    target.name = text.substr(kHigherOrder.size());
    return target;
  }
  if (auto op = OpName::fromExportTarget(text)) {
    target.kind = Target::Kind::Operator;
    target.op = std::move(*op);
    target.info = schemas.find(target.op);
    target.group = groupRule(target.op, target.info);
    return target;
  }
  const std::size_t colon = text.find(':');
  if (text.starts_with('#') && colon != std::string_view::npos && colon > 1 &&
      colon + 1 < text.size()) {
    // An extension operator, registered by a backend's serialiser: "#<namespace>:<operator>".
    target.kind = Target::Kind::Operator;
    target.op = OpName{.ns = std::string(text.substr(1, colon - 1)),
                       .base = std::string(text.substr(colon + 1)),
                       .overload = {}};
    return target;
  }
  target.name = text;
  return target;
}

/// Python functions on sizes and other numbers that export leaves in graphs.
bool isScalarTarget(std::string_view name) {
  return name.starts_with("_operator.") || name.starts_with("operator.") ||
         name.starts_with("math.") || name.starts_with("builtins.") || name.starts_with("torch.");
}

}  // namespace

const Target& ModelContext::target(std::string_view text) {
  const auto found = targets.find(text);
  return found != targets.end() ? found->second
                                : targets.emplace(text, describe(text, schemas)).first->second;
}

/// The parts of a node that are needed whatever it calls.
struct GraphReader::Node {
  std::string_view target;
  std::string_view name;
  Json inputs;
  Json outputs;
  const Frames* frames = nullptr;
  const ModulePlace* module = nullptr;
};

GraphReader::GraphReader(ModelContext& context, GraphPlace place)
    : context_(context),
      place_(std::move(place)),
      inside_(place_),
      arguments_(table_, context.values, context.notes,
                 [this](std::string_view name, Json graph) { return visitSubgraph(name, graph); }) {
}

Result<void> GraphReader::read(Json graph) {
  NEURONCHECK_TRY(const auto fields, Fields<8>::read(graph, kGraph, "graph"));
  constexpr std::array<std::pair<std::size_t, ValueKind>, 5> kMaps = {
      {{GraphTensorValues, ValueKind::Tensor},
       {GraphSymInts, ValueKind::SymInt},
       {GraphSymBools, ValueKind::SymBool},
       {GraphSymFloats, ValueKind::SymFloat},
       {GraphObjects, ValueKind::Object}}};
  for (const auto& [field, kind] : kMaps) {
    if (fields.has(field)) {
      NEURONCHECK_TRY_VOID(table_.load(kind, fields[field], context_.values));
    }
  }
  NEURONCHECK_TRY(const Json inputs, fields.need(GraphInputs, kGraph, "graph"));
  NEURONCHECK_TRY(inputs_, readList(inputs, "graph input", Access::Define));
  NEURONCHECK_TRY(const Json nodesField, fields.need(GraphNodes, kGraph, "graph"));
  NEURONCHECK_TRY(const simdjson::dom::array nodes, asArray(nodesField, "nodes"));
  if (place_.path.empty()) {
    context_.model.uses.reserve(nodes.size() + nodes.size() / 4);  // subgraphs come on top
  }
  std::size_t index = 0;
  for (const Json node : nodes) {
    NEURONCHECK_TRY_VOID(readNode(node, index++));
  }
  NEURONCHECK_TRY(const Json outputs, fields.need(GraphOutputs, kGraph, "graph"));
  NEURONCHECK_TRY(outputs_, readList(outputs, "graph output", Access::Read));
  markUnused();
  return {};
}

Result<std::vector<ArgValue>> GraphReader::readList(Json list, std::string_view what,
                                                    Access access) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(list, what));
  std::vector<ArgValue> values;
  values.reserve(array.size());
  for (const Json item : array) {
    auto value = arguments_.read(item, access);
    if (!value) {
      return tl::unexpected(
          std::move(value).error().within(fmt::format("{} {}", what, values.size())));
    }
    values.push_back(std::move(*value));
  }
  return values;
}

Result<void> GraphReader::readNode(Json value, std::size_t index) {
  ++context_.model.nodeCount;
  Node node;
  const auto body = [&]() -> Result<void> {
    NEURONCHECK_TRY(const auto fields, Fields<5>::read(value, kNode, "node"));
    if (fields.has(NodeName)) {
      NEURONCHECK_TRY(node.name, asString(fields[NodeName], "name"));
    }
    NEURONCHECK_TRY(const Json target, fields.need(NodeTarget, kNode, "node"));
    NEURONCHECK_TRY(node.target, asString(target, "target"));
    NEURONCHECK_TRY(node.inputs, fields.need(NodeInputs, kNode, "node"));
    NEURONCHECK_TRY(node.outputs, fields.need(NodeOutputs, kNode, "node"));
    if (fields.has(NodeMetadata)) {
      NEURONCHECK_TRY(const auto metadata,
                      Fields<2>::read(fields[NodeMetadata], kMetadataFields, "metadata"));
      if (metadata.has(0)) {
        NEURONCHECK_TRY(const std::string_view text, asString(metadata[0], "stack_trace"));
        if (text != context_.lastTrace) {
          context_.lastFrames = parseStackTrace(text);
          context_.lastTrace = text;
        }
        node.frames = &context_.lastFrames;
      }
      if (metadata.has(1)) {
        NEURONCHECK_TRY(const std::string_view text, asString(metadata[1], "nn_module_stack"));
        if (text != context_.lastStack) {
          context_.lastModule = parseModuleStack(text);
          context_.lastStack = text;
        }
        node.module = &context_.lastModule;
      }
    }
    return readNodeFields(node);
  };
  auto done = body();
  if (!done) {
    return tl::unexpected(std::move(done).error().within(
        fmt::format("node {} '{}' ({}) of graph '{}'", index, node.name.substr(0, 120),
                    node.target.substr(0, 120), place_.path.empty() ? "/" : place_.path)));
  }
  return {};
}

Result<void> GraphReader::readNodeFields(const Node& node) {
  inside_ = place_;
  const Target& target = context_.target(node.target);
  switch (target.kind) {
    case Target::Kind::Operator:
      return addUse(node, target);
    case Target::Kind::HigherOrder:
      return addHigherOrder(node, target);
    case Target::Kind::Scalar:
      break;
  }
  return addPythonCall(node, target);
}

/// A Python function in the graph. On sizes and other numbers it is a scalar operator; one that
/// takes or gives tensors computes something that no catalogue knows, and is a use of its own.
Result<void> GraphReader::addPythonCall(const Node& node, const Target& target) {
  NEURONCHECK_TRY_VOID(addUse(node, target));
  OpUse& use = context_.model.uses.back();
  bool tensors = false;
  const auto look = [&tensors](const ArgValue& value) {
    forEachTensor(value, [&tensors](const TensorValue&) { tensors = true; });
  };
  for (const Argument& argument : use.args) {
    look(argument.value);
  }
  for (const ArgValue& output : use.outputs) {
    look(output);
  }
  if (tensors) {
    use.op = OpName{
        .ns = "python", .base = target.name.empty() ? "(no name)" : target.name, .overload = {}};
    return {};
  }
  context_.model.uses.pop_back();
  ++context_.model.scalarOps[target.name];
  if (!isScalarTarget(target.name)) {
    context_.notes.add(fmt::format("target '{}' is of no known form; counted as a scalar operator",
                                   std::string_view(target.name).substr(0, 120)));
  }
  return {};
}

std::string GraphReader::makeName(std::string_view target, const std::vector<ArgValue>& outputs) {
  if (outputs.size() == 1) {
    if (const auto* tensor = std::get_if<TensorPtr>(&outputs.front());
        tensor != nullptr && *tensor != nullptr) {
      return (*tensor)->name;
    }
    if (const auto* number = std::get_if<SymIntValue>(&outputs.front());
        number != nullptr && !number->name.empty()) {
      return number->name;
    }
  }
  // torch.fx names a node after its function, "chunk.default", and numbers the ones after the
  // first.
  std::string base(target);
  const std::size_t last = base.rfind('.');
  const std::size_t before =
      last == std::string::npos || last == 0 ? std::string::npos : base.rfind('.', last - 1);
  base.erase(0, before == std::string::npos ? 0 : before + 1);
  std::ranges::replace_if(base, [](char c) { return c == '.' || c == ':' || c == '#'; }, '_');
  const int number = madeNames_[base]++;
  return number == 0 ? base : fmt::format("{}_{}", base, number);
}

Result<std::vector<Argument>> GraphReader::readArguments(Json inputs, std::size_t reserve) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(inputs, "inputs"));
  std::vector<Argument> arguments;
  arguments.reserve(std::max(array.size(), reserve));
  for (const Json item : array) {
    Argument& argument = arguments.emplace_back();
    if (auto done = readArgument(item, argument); !done) {
      return tl::unexpected(std::move(done).error().within(
          fmt::format("input {} '{}'", arguments.size() - 1, argument.name.substr(0, kMaxShown))));
    }
  }
  return arguments;
}

Result<void> GraphReader::readArgument(Json item, Argument& argument) {
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(item, kArgument, "input"));
  if (fields.has(0)) {
    NEURONCHECK_TRY(argument.name, asString(fields[0], "name"));
  }
  NEURONCHECK_TRY(const Json value, fields.need(1, kArgument, "input"));
  NEURONCHECK_TRY(argument.value, arguments_.read(value, Access::Read));
  return {};
}

Result<void> GraphReader::addUse(const Node& node, const Target& target) {
  // Before the arguments: the nodes of subgraphs replace the places that `node` points to, and come
  // before this use.
  ModulePlace module = node.module == nullptr ? ModulePlace{} : *node.module;
  Frames frames = node.frames == nullptr ? Frames{} : *node.frames;
  const std::size_t expected = target.info == nullptr ? 0 : target.info->schema.arguments.size();
  NEURONCHECK_TRY(std::vector<Argument> args, readArguments(node.inputs, expected));
  arguments_.forgetDefined();
  NEURONCHECK_TRY(std::vector<ArgValue> outputs, readList(node.outputs, "output", Access::Define));
  auto& uses = context_.model.uses;
  const std::size_t index = uses.size();
  OpUse& use = uses.emplace_back();
  use.id = static_cast<std::uint32_t>(index);
  use.op = target.op;
  use.args = std::move(args);
  use.outputs = std::move(outputs);
  use.node = node.name.empty() ? makeName(node.target, use.outputs) : std::string(node.name);
  use.module = std::move(module.path);
  use.moduleType = std::move(module.type);
  use.source = std::move(frames.user);
  use.lastFrame = std::move(frames.last);
  use.graph = place_.path;
  use.conditional = place_.conditional;
  use.inLoop = place_.inLoop;
  use.inCatalogue = target.info != nullptr;
  if (target.info != nullptr) {
    dropUnknown(use, *target.info);
    fillDefaults(use, *target.info);
  }
  use.group = applyRule(target.group, use);
  // What an unknown operator writes to is not known either, so its result being unread proves
  // nothing.
  const std::vector<ValueTable::Index>& results = arguments_.defined();
  if (!results.empty() && target.info != nullptr && !target.info->mutates &&
      !target.info->schema.mutates()) {
    produced_.push_back({.use = index, .first = results_.size(), .count = results.size()});
    results_.insert(results_.end(), results.begin(), results.end());
  }
  return {};
}

/// torch asks for arguments by the names of the schema, so one of another name has no effect.
void GraphReader::dropUnknown(OpUse& use, const OpInfo& info) {
  const std::vector<SchemaArgument>& schema = info.schema.arguments;
  std::size_t position = 0;
  std::erase_if(use.args, [&](const Argument& argument) {
    const std::size_t at = position++;
    if (argument.name.empty() || (at < schema.size() && schema[at].name == argument.name) ||
        info.schema.argument(argument.name) != nullptr) {
      return false;
    }
    context_.notes.add(
        fmt::format("argument '{}' of {} (node '{}') is not in its schema; left out, as torch does",
                    argument.name.substr(0, 80), use.op.str(), use.node.substr(0, 80)));
    return true;
  });
}

void GraphReader::fillDefaults(OpUse& use, const OpInfo& info) {
  const std::size_t given = use.args.size();
  const std::vector<SchemaArgument>& schema = info.schema.arguments;
  if (given >= schema.size()) {
    return;
  }
  use.args.reserve(schema.size());
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const std::string& name = schema[i].name;
    // Arguments are mostly given in schema order, so the one at the same position is the likely
    // one.
    if ((i < given && use.args[i].name == name) ||
        std::any_of(use.args.begin(), use.args.begin() + static_cast<std::ptrdiff_t>(given),
                    [&](const Argument& argument) { return argument.name == name; })) {
      continue;
    }
    if (schema[i].defaultValue) {
      use.args.push_back({.name = name, .value = *schema[i].defaultValue, .isDefault = true});
    } else {
      context_.notes.add(fmt::format(
          "{} is called without its argument '{}', which has no default in the catalogue's schema",
          use.op.str(), name));
    }
  }
}

Result<void> GraphReader::addHigherOrder(const Node& node, const Target& target) {
  inside_.conditional = place_.conditional || target.name == "cond";
  inside_.inLoop = place_.inLoop || std::ranges::find(kLoops, target.name) != kLoops.end();
  HigherOrderUse use;
  use.name = target.name;
  use.node = node.name;
  use.graph = place_.path;
  // Before the arguments: the nodes of subgraphs replace the places that `node` points to.
  if (node.frames != nullptr) {
    use.source = node.frames->user;
  }
  NEURONCHECK_TRY(use.args, readArguments(node.inputs));
  NEURONCHECK_TRY(use.outputs, readList(node.outputs, "output", Access::Define));
  if (use.node.empty()) {
    use.node = makeName(target.name, use.outputs);
  }
  for (const Argument& argument : use.args) {
    if (const auto* hidden = std::get_if<OperatorRef>(&argument.value)) {
      const auto op = OpName::fromExportTarget(hidden->target);
      context_.notes.add(
          fmt::format("operator {} is called inside {} (node '{}') and is no node of its own",
                      op ? op->str() : hidden->target, use.name, use.node));
    }
  }
  context_.model.higherOrder.push_back(std::move(use));
  return {};
}

Result<std::string> GraphReader::visitSubgraph(std::string_view name, Json graph) {
  GraphPlace below = inside_;
  below.path = place_.path + "/" + std::string(name);
  context_.model.subgraphs.push_back(below.path);
  GraphReader reader(context_, below);
  if (auto done = reader.read(graph); !done) {
    return tl::unexpected(
        std::move(done).error().within(fmt::format("subgraph '{}'", below.path.substr(0, 200))));
  }
  return below.path;
}

void GraphReader::markUnused() {
  for (const Produced& item : produced_) {
    const auto first = results_.begin() + static_cast<std::ptrdiff_t>(item.first);
    context_.model.uses[item.use].unused =
        std::all_of(first, first + static_cast<std::ptrdiff_t>(item.count),
                    [&](ValueTable::Index index) { return table_[index].reads == 0; });
  }
}

}  // namespace neuroncheck::scanner::pt2
