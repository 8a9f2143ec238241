// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/checkpoint_json.h"
#include "core/inventory_json_value.h"
#include "core/version.h"

namespace neuroncheck {
namespace {

using json_detail::GraphValueList;

Json placeOrNull(const SourcePlace& place) {
  return place.known() ? Json(place.str()) : Json(nullptr);
}
Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// The order in which readers rebuild arguments when nothing else is said: graph values,
/// attributes, defaults.
bool inReadingOrder(const std::vector<Argument>& args) {
  int last = 0;
  std::set<std::string_view> seen;
  for (const Argument& arg : args) {
    const bool graphValue = json_detail::containsGraphValue(arg.value);
    const int rank = graphValue ? 0 : (arg.isDefault ? 2 : 1);
    if (rank < last || arg.name.empty() || (graphValue && arg.isDefault) ||
        !seen.insert(arg.name).second) {
      return false;
    }
    last = rank;
  }
  return true;
}

struct ArgumentParts {
  GraphValueList inputs;
  Json attrs = Json::object();
  Json defaults = Json::object();
  Json full = Json::array();
  bool fullNeeded = false;
};

ArgumentParts splitArguments(const std::vector<Argument>& args) {
  ArgumentParts out;
  out.fullNeeded = !inReadingOrder(args);
  std::map<std::string_view, int> uses;
  for (const Argument& arg : args) {
    ++uses[arg.name];
  }
  for (const Argument& arg : args) {
    const bool graphValue = json_detail::containsGraphValue(arg.value);
    Json exact = json_detail::exactValue(arg.value, &out.inputs, arg.name);
    const bool plain = json_detail::plainIsExact(arg.name, arg.value) && uses[arg.name] == 1 &&
                       !arg.name.empty() && !(graphValue && arg.isDefault);
    if (!graphValue) {
      (arg.isDefault ? out.defaults : out.attrs)[arg.name] = json_detail::plainValue(arg.value);
    }
    if (plain) {
      out.full.push_back(arg.name);
      continue;
    }
    out.fullNeeded = true;
    Json entry = {{"arg", arg.name}, {"value", std::move(exact)}};
    if (arg.isDefault) {
      entry["default"] = true;
    }
    out.full.push_back(std::move(entry));
  }
  return out;
}

void writeResults(Json& node, const std::vector<ArgValue>& outputs) {
  if (outputs.empty()) {
    // An operator without a result returns None, and torch counts that None as its result.
    node["outputs"] = Json::array({nullptr});
    return;
  }
  GraphValueList flat;
  flat.keepNulls = true;
  Json full = Json::array();
  bool flatIsExact = !(outputs.size() == 1 && std::holds_alternative<NoneValue>(outputs.front()));
  for (const ArgValue& output : outputs) {
    const bool single =
        std::holds_alternative<NoneValue>(output) ||
        (json_detail::containsGraphValue(output) && json_detail::plainIsExact("", output));
    flatIsExact = flatIsExact && single;
    full.push_back(json_detail::exactValue(output, &flat));
  }
  node["outputs"] = std::move(flat.items);
  if (!flatIsExact) {
    node["outputs_full"] = std::move(full);
  }
}

/// Value of a graph input or output: the tensor or symbol, null for anything else, whose exact form
/// is then `constant`.
void writeGraphPortValue(Json& port, const ArgValue& value) {
  if (std::holds_alternative<NoneValue>(value)) {
    port["value"] = nullptr;
    return;
  }
  if (json_detail::containsGraphValue(value) && json_detail::plainIsExact("", value)) {
    GraphValueList item;
    std::ignore = json_detail::exactValue(value, &item);
    port["value"] = std::move(item.items.front());
  } else {
    port["value"] = nullptr;
    port["constant"] = json_detail::exactValue(value, nullptr);
  }
}

Json inputToJson(const GraphInput& input) {
  Json out = {{"name", input.name}, {"kind", input.kind}, {"target", textOrNull(input.target)}};
  if (input.persistent) {
    out["persistent"] = *input.persistent;
  }
  writeGraphPortValue(out, input.value);
  return out;
}

Json outputToJson(const GraphOutput& output) {
  Json out = {{"name", output.name}, {"kind", output.kind}, {"target", textOrNull(output.target)}};
  writeGraphPortValue(out, output.value);
  return out;
}

Json higherOrderToJson(const HigherOrderUse& use) {
  Json args = Json::array();
  for (const Argument& arg : use.args) {
    Json entry = {{"arg", arg.name}, {"value", json_detail::exactValue(arg.value, nullptr)}};
    if (arg.isDefault) {
      entry["default"] = true;
    }
    args.push_back(std::move(entry));
  }
  Json outputs = Json::array();
  for (const ArgValue& output : use.outputs) {
    outputs.push_back(json_detail::exactValue(output, nullptr));
  }
  return {{"op", use.name},
          {"name", use.node},
          {"graph", use.graph},
          {"args", std::move(args)},
          {"outputs", std::move(outputs)},
          {"source", placeOrNull(use.source)}};
}

/// Operators in order of first use, aten and others apart.
void writeOperators(Json& out, const Model& model) {
  struct Entry {
    OpGroup group;
    Json nodes = Json::array();
  };
  std::vector<const OpName*> order;
  std::map<OpName, Entry> entries;
  for (const OpUse& use : model.uses) {
    const auto [entry, isNew] = entries.try_emplace(use.op, Entry{use.group});
    if (isNew) {
      order.push_back(&entry->first);
    }
    Json node = nodeToJson(use);
    if (use.group != entry->second.group) {
      node["group"] = name(use.group);
    }
    entry->second.nodes.push_back(std::move(node));
  }
  Json aten = Json::array();
  Json custom = Json::array();
  for (const OpName* op : order) {
    Entry& entry = entries.at(*op);
    Json object = {
        {"target", op->str()}, {"group", name(entry.group)}, {"count", entry.nodes.size()}};
    object["nodes"] = std::move(entry.nodes);
    (op->ns == "aten" ? aten : custom).push_back(std::move(object));
  }
  out["ops"] = std::move(aten);
  out["custom_ops"] = std::move(custom);
}

void writeHigherOrder(Json& out, const Model& model) {
  std::map<std::string, std::int64_t> counts;
  Json nodes = Json::array();
  for (const HigherOrderUse& use : model.higherOrder) {
    ++counts[use.name];
    nodes.push_back(higherOrderToJson(use));
  }
  out["higher_order_ops"] = Json::object();
  for (const auto& [op, count] : counts) {
    out["higher_order_ops"][op] = count;
  }
  out["higher_order_nodes"] = std::move(nodes);
  out["scalar_ops"] = Json::object();
  for (const auto& [op, count] : model.scalarOps) {
    out["scalar_ops"][op] = count;
  }
}

/// Symbols of the graph's tensors: where each comes in, and the size it had when the model was
/// made.
class SymbolTable {
 public:
  explicit SymbolTable(const Model& model) {
    for (const GraphInput& input : model.inputs) {
      note(input.value, &input.name);
    }
    for (const OpUse& use : model.uses) {
      for (const ArgValue& output : use.outputs) {
        note(output, nullptr);
      }
    }
  }

  [[nodiscard]] Json toJson(const SymRanges& ranges) const {
    Json out = Json::array();
    for (const std::string& symbol : order_) {
      const Seen& seen = seen_.at(symbol);
      const auto range = ranges.find(symbol);
      const SymRange known = range == ranges.end() ? SymRange{} : range->second;
      out.push_back({{"symbol", symbol},
                     {"min", known.min ? Json(*known.min) : Json(nullptr)},
                     {"max", known.max ? Json(*known.max) : Json(nullptr)},
                     {"hint", seen.hint ? Json(*seen.hint) : Json(nullptr)},
                     {"appears_in", seen.inputs}});
    }
    return out;
  }

 private:
  struct Seen {
    std::optional<std::int64_t> hint;
    std::vector<std::string> inputs;
  };

  void note(const ArgValue& value, const std::string* input) {
    forEachTensor(value, [&](const TensorValue& tensor) {
      for (const SymInt& size : tensor.spec.sizes) {
        note(size, input);
      }
      for (const SymInt& stride : tensor.spec.strides) {
        note(stride, input);
      }
    });
    if (const auto* symbol = std::get_if<SymIntValue>(&value)) {
      note(symbol->value, input);
    }
  }

  void note(const SymInt& size, const std::string* input) {
    if (!size.isSymbolic()) {
      return;
    }
    for (const std::string& symbol : size.expr->symbols()) {
      const auto [entry, isNew] = seen_.try_emplace(symbol);
      if (isNew) {
        order_.push_back(symbol);
      }
      Seen& seen = entry->second;
      if (size.hasHint && size.expr->kind() == SymExpr::Kind::Symbol && !seen.hint) {
        seen.hint = size.value;
      }
      if (input != nullptr && std::ranges::find(seen.inputs, *input) == seen.inputs.end()) {
        seen.inputs.push_back(*input);
      }
    }
  }

  std::vector<std::string> order_;
  std::map<std::string, Seen> seen_;
};

/// Count, elements and bytes of the inputs of one kind, each name counted; a size that is not known
/// counts as zero.
Json storedTotals(const Model& model, std::string_view kind, bool withElements) {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t elements = 0;
  std::set<std::string_view> names;  // torch 2.6 gives a tied parameter two inputs of one name
  for (const GraphInput& input : model.inputs) {
    if (input.kind != kind || !names.insert(input.target).second) {
      continue;
    }
    ++count;
    forEachTensor(input.value, [&](const TensorValue& tensor) {
      bytes += tensor.spec.byteCount().value_or(0);
      elements += tensor.spec.elementCount().value_or(0);
    });
  }
  Json out = {{"count", count}, {"bytes", bytes}};
  if (withElements) {
    out["elements"] = elements;
  }
  return out;
}

std::vector<std::string> constantNames(const Model& model) {
  std::vector<std::string> out;
  for (const GraphInput& input : model.inputs) {
    if (input.kind == "CONSTANT_TENSOR" || input.kind == "CUSTOM_OBJ" ||
        (input.kind == "BUFFER" && input.persistent == false)) {
      out.push_back(input.target);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void writeStored(Json& out, const Model& model) {
  out["parameters"] = storedTotals(model, "PARAMETER", true);
  out["buffers"] = storedTotals(model, "BUFFER", false);
  out["constants"] = constantNames(model);
  std::set<std::string_view> buffers;
  for (const GraphInput& input : model.inputs) {
    if (input.kind == "BUFFER") {
      buffers.insert(input.target);
    }
  }
  Json stored = Json::array();
  for (const StoredTensor& tensor : model.stored) {
    const char* kind =
        tensor.isParameter ? "parameter" : (buffers.contains(tensor.name) ? "buffer" : "constant");
    Json entry = {{"name", tensor.name}, {"kind", kind}};
    json_detail::writeSpec(entry, tensor.spec, "stride");
    entry["record"] = tensor.record;
    entry["record_bytes"] = tensor.recordBytes;
    stored.push_back(std::move(entry));
  }
  out["stored"] = std::move(stored);
}

Json producerToJson(const Model& model) {
  Json opsets = Json::object();
  for (const auto& [ns, version] : model.opsetVersion) {
    opsets[ns] = version;
  }
  return {{"torch_version", model.torchVersion},
          {"schema_version", {{"major", model.schemaMajor}, {"minor", model.schemaMinor}}},
          {"verifiers", model.verifiers},
          {"opset_version", std::move(opsets)},
          {"made_on", model.madeOn}};
}

/// What only methods of TorchScript modules have.
void writeScriptParts(Json& out, const Model& model) {
  out["shapes"] = name(model.shapes);
  out["approximate"] = model.approximate;
  if (model.operatorFree) {
    out["operator_free"] = true;
  }
  for (const auto& [key, counts] :
       {std::pair{"interpreter_ops", &model.interpreterOps}, {"prim", &model.primOps}}) {
    out[key] = Json::object();
    for (const auto& [op, count] : *counts) {
      out[key][op] = count;
    }
  }
  for (const DeviceLiteral& literal : model.deviceLiterals) {
    out["device_literals"].push_back({{"target", literal.op.str()},
                                      {"device", literal.device.str()},
                                      {"node", literal.node},
                                      {"graph", literal.graph},
                                      {"module", literal.module},
                                      {"source", placeOrNull(literal.source)}});
  }
}

Json modelToJson(const Model& model) {
  Json out = Json::object();
  writeOperators(out, model);
  writeHigherOrder(out, model);
  out["subgraphs"] = model.subgraphs;
  out["inputs"] = Json::array();
  for (const GraphInput& input : model.inputs) {
    out["inputs"].push_back(inputToJson(input));
  }
  out["outputs"] = Json::array();
  for (const GraphOutput& output : model.outputs) {
    out["outputs"].push_back(outputToJson(output));
  }
  out["dynamic_dims"] = SymbolTable(model).toJson(model.ranges);
  Json ranges = Json::object();
  for (const auto& [symbol, range] : model.ranges) {
    ranges[symbol] = {{"min", range.min ? Json(*range.min) : Json(nullptr)},
                      {"max", range.max ? Json(*range.max) : Json(nullptr)}};
  }
  out["range_constraints"] = std::move(ranges);
  out["guards"] = model.guards;
  writeStored(out, model);
  out["producer"] = producerToJson(model);
  out["dialect"] = model.dialect;
  if (model.shapes != ShapeOrigin::Recorded) {
    writeScriptParts(out, model);
  }
  out["nodes"] = model.nodeCount;
  out["json_bytes"] = model.jsonBytes;
  out["notes"] = model.notes;
  return out;
}

}  // namespace

Json nodeToJson(const OpUse& use) {
  ArgumentParts parts = splitArguments(use.args);
  Json out = Json::object();
  out["name"] = use.node;
  out["id"] = use.id;
  out["inputs"] = std::move(parts.inputs.items);
  out["attrs"] = std::move(parts.attrs);
  out["defaults"] = std::move(parts.defaults);
  if (parts.fullNeeded) {
    out["args_full"] = std::move(parts.full);
  }
  writeResults(out, use.outputs);
  out["source"] = placeOrNull(use.source);
  out["last_frame"] = placeOrNull(use.lastFrame);
  out["module"] = use.module;
  out["module_type"] = use.moduleType;
  out["graph"] = use.graph;
  out["conditional"] = use.conditional;
  out["in_loop"] = use.inLoop;
  out["unused"] = use.unused;
  out["in_catalogue"] = use.inCatalogue;
  return out;
}

Json toJson(const Inventory& inventory) {
  Json out = {{"path", inventory.path}, {"kind", name(inventory.kind)}, {"size", inventory.size}};
  if (!inventory.sha256.empty()) {
    out["sha256"] = inventory.sha256;
  }
  out["layout"] = textOrNull(inventory.layout);
  out["producer"] = textOrNull(inventory.producer);
  out["notes"] = Json::array();
  for (const FileNote& note : inventory.notes) {
    out["notes"].push_back(
        {{"rule", note.rule}, {"record", note.record}, {"message", note.message}});
  }
  out["compiled_models"] = inventory.compiledModels;
  const char* programs = inventory.kind == FileKind::TorchScript ? "methods" : "models";
  out[programs] = Json::object();
  for (const Model& model : inventory.models) {
    out[programs][model.name] = modelToJson(model);
  }
  if (inventory.checkpoint) {
    addToJson(*inventory.checkpoint, out);
  }
  return out;
}

Json inventoryDocument(const std::vector<Inventory>& inventories) {
  Json out = {{"schema", kInventorySchema}, {"tool", toolName()}, {"inputs", Json::array()}};
  for (const Inventory& inventory : inventories) {
    out["inputs"].push_back(toJson(inventory));
  }
  return out;
}

std::string dumpJson(const Json& json, int indent) {
  // Names of a hostile file may be no UTF-8; a report replaces such bytes rather than failing.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace neuroncheck
