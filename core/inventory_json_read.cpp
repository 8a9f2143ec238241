// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "core/checkpoint_json.h"
#include "core/inventory_json_value.h"

namespace neuroncheck {
namespace {

using json_detail::ReadContext;

/// "models/net.py:12"; null is an unknown place.
SourcePlace readPlace(JsonFields& fields, std::string_view key) {
  const Json* value = fields.optional(key);
  if (value == nullptr) {
    return {};
  }
  const std::string text = fields.string(key);
  const auto colon = text.rfind(':');
  SourcePlace place;
  const char* end = text.data() + text.size();
  if (colon == std::string::npos || colon == 0) {
    fields.fail(key, "expected file:line");
    return {};
  }
  const auto parsed = std::from_chars(text.data() + colon + 1, end, place.line);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    fields.fail(key, "expected file:line");
    return {};
  }
  place.file = text.substr(0, colon);
  return place;
}

/// The parts a node's arguments are rebuilt from.
struct ArgumentSources {
  std::vector<ArgValue> items;        ///< values of `inputs`
  std::vector<std::string> itemArgs;  ///< the argument each belongs to
  const Json* attrs = nullptr;
  const Json* defaults = nullptr;
};

Argument plainArgument(ReadContext& context, const ArgumentSources& sources,
                       const std::string& argument, const JsonPath& node) {
  const auto item = std::ranges::find(sources.itemArgs, argument);
  if (item != sources.itemArgs.end()) {
    return {argument, sources.items[static_cast<std::size_t>(item - sources.itemArgs.begin())],
            false};
  }
  for (const Json* object : {sources.attrs, sources.defaults}) {
    if (const auto found = object->find(argument); found != object->end()) {
      const JsonPath parent(node, object == sources.attrs ? "attrs" : "defaults");
      const JsonPath path(parent, std::string_view(argument));
      return {argument, json_detail::readPlain(context, *found, path, argument),
              object == sources.defaults};
    }
  }
  context.scan.fail(node,
                    fmt::format("args_full names \"{}\", which is in no other list", argument));
  return {};
}

std::vector<Argument> argumentsInReadingOrder(ReadContext& context, const ArgumentSources& sources,
                                              const JsonPath& node) {
  std::vector<Argument> out;
  for (std::size_t index = 0; index < sources.items.size(); ++index) {
    if (index > 0 && sources.itemArgs[index] == sources.itemArgs[index - 1]) {
      context.scan.fail(node, "several graph values in one argument need args_full");
      return out;
    }
    out.push_back({sources.itemArgs[index], sources.items[index], false});
  }
  for (const Json* object : {sources.attrs, sources.defaults}) {
    const JsonPath parent(node, object == sources.attrs ? "attrs" : "defaults");
    for (const auto& member : object->items()) {
      const JsonPath path(parent, std::string_view(member.key()));
      out.push_back({member.key(),
                     json_detail::readPlain(context, member.value(), path, member.key()),
                     object == sources.defaults});
    }
  }
  return out;
}

Argument readFullArgument(ReadContext& context, const Json& json, const JsonPath& path,
                          const std::vector<ArgValue>& items) {
  JsonFields fields(context.scan, json, path);
  Argument out;
  out.name = fields.string("arg");
  if (const Json* value = fields.required("value")) {
    out.value = json_detail::readExact(context, *value, fields.at("value"), items);
  }
  out.isDefault = fields.booleanOr("default", false);
  fields.finish();
  return out;
}

const Json* readObject(JsonFields& fields, std::string_view key) {
  static const Json kEmpty = Json::object();
  const Json* value = fields.required(key);
  if (value != nullptr && !value->is_object()) {
    fields.fail(key, "expected an object");
    value = nullptr;
  }
  return value == nullptr ? &kEmpty : value;
}

std::vector<Argument> readArguments(ReadContext& context, JsonFields& fields,
                                    const JsonPath& node) {
  ArgumentSources sources;
  fields.eachElement("inputs", [&](const Json& entry, const JsonPath& path) {
    sources.items.push_back(
        json_detail::readGraphValue(context, entry, path, &sources.itemArgs.emplace_back()));
  });
  sources.attrs = readObject(fields, "attrs");
  sources.defaults = readObject(fields, "defaults");
  if (context.scan.failed()) {
    return {};
  }
  if (!fields.has("args_full")) {
    return argumentsInReadingOrder(context, sources, node);
  }
  std::vector<Argument> out;
  fields.eachElement("args_full", [&](const Json& entry, const JsonPath& path) {
    out.push_back(entry.is_string()
                      ? plainArgument(context, sources, entry.get<std::string>(), node)
                      : readFullArgument(context, entry, path, sources.items));
  });
  return out;
}

std::vector<ArgValue> readResults(ReadContext& context, JsonFields& fields) {
  std::vector<ArgValue> flat;
  fields.eachElement("outputs", [&](const Json& entry, const JsonPath& path) {
    flat.push_back(entry.is_null() ? ArgValue(NoneValue{})
                                   : json_detail::readGraphValue(context, entry, path));
  });
  if (fields.has("outputs_full")) {
    std::vector<ArgValue> out;
    fields.eachElement("outputs_full", [&](const Json& entry, const JsonPath& path) {
      out.push_back(json_detail::readExact(context, entry, path, flat));
    });
    return out;
  }
  if (flat.size() == 1 && std::holds_alternative<NoneValue>(flat.front())) {
    return {};
  }
  return flat;
}

template <typename T, typename Parse>
T readWord(JsonFields& fields, std::string_view key, const Parse& parse) {
  const std::string text = fields.string(key);
  const std::optional<T> value = parse(text);
  if (!value) {
    fields.fail(key, fmt::format("unknown word \"{}\"", text));
  }
  return value.value_or(T{});
}

OpUse readNode(ReadContext& context, const Json& json, const JsonPath& path, const OpName& op,
               OpGroup group) {
  JsonFields fields(context.scan, json, path);
  OpUse use;
  use.op = op;
  use.node = fields.string("name");
  const std::uint64_t id = fields.unsignedInteger("id");
  if (id > std::numeric_limits<std::uint32_t>::max()) {
    fields.fail("id", "too large");
  }
  use.id = static_cast<std::uint32_t>(id);
  use.args = readArguments(context, fields, path);
  use.outputs = readResults(context, fields);
  use.source = readPlace(fields, "source");
  use.lastFrame = readPlace(fields, "last_frame");
  use.module = fields.string("module");
  use.moduleType = fields.string("module_type");
  use.graph = fields.string("graph");
  use.conditional = fields.boolean("conditional");
  use.inLoop = fields.boolean("in_loop");
  use.unused = fields.boolean("unused");
  use.inCatalogue = fields.boolean("in_catalogue");
  use.group = fields.has("group") ? readWord<OpGroup>(fields, "group", parseOpGroup) : group;
  fields.finish();
  return use;
}

void readOperators(ReadContext& context, JsonFields& fields, std::string_view key, Model& model) {
  fields.eachElement(key, [&](const Json& entry, const JsonPath& path) {
    JsonFields op(context.scan, entry, path);
    const std::string target = op.string("target");
    const auto parsed = OpName::parse(target);
    if (!parsed) {
      op.fail("target", fmt::format("\"{}\" is no operator name", target));
      return;
    }
    const auto group = readWord<OpGroup>(op, "group", parseOpGroup);
    const std::uint64_t count = op.unsignedInteger("count");
    const std::size_t before = model.uses.size();
    op.eachElement("nodes", [&](const Json& node, const JsonPath& nodePath) {
      model.uses.push_back(readNode(context, node, nodePath, *parsed, group));
    });
    if (model.uses.size() - before != count) {
      op.fail("count", "differs from the number of nodes");
    }
    op.finish();
  });
}

HigherOrderUse readHigherOrder(ReadContext& context, const Json& json, const JsonPath& path) {
  JsonFields fields(context.scan, json, path);
  HigherOrderUse use;
  use.name = fields.string("op");
  use.node = fields.string("name");
  use.graph = fields.string("graph");
  fields.eachElement("args", [&](const Json& entry, const JsonPath& entryPath) {
    use.args.push_back(readFullArgument(context, entry, entryPath, {}));
  });
  fields.eachElement("outputs", [&](const Json& entry, const JsonPath& entryPath) {
    use.outputs.push_back(json_detail::readExact(context, entry, entryPath, {}));
  });
  use.source = readPlace(fields, "source");
  fields.finish();
  return use;
}

/// `value` and `constant` of a graph input or output.
ArgValue readPortValue(ReadContext& context, JsonFields& fields) {
  const Json* constant = fields.optional("constant");
  const Json* value = fields.optional("value");
  if (constant != nullptr) {
    return json_detail::readExact(context, *constant, fields.at("constant"), {});
  }
  return value == nullptr ? ArgValue(NoneValue{})
                          : json_detail::readGraphValue(context, *value, fields.at("value"));
}

void readPorts(ReadContext& context, JsonFields& fields, Model& model) {
  fields.eachElement("inputs", [&](const Json& entry, const JsonPath& path) {
    JsonFields port(context.scan, entry, path);
    GraphInput input{
        port.string("name"), port.string("kind"), port.stringOr("target", ""), {}, NoneValue{}};
    if (port.has("persistent")) {
      input.persistent = port.boolean("persistent");
    }
    input.value = readPortValue(context, port);
    port.finish();
    model.inputs.push_back(std::move(input));
  });
  fields.eachElement("outputs", [&](const Json& entry, const JsonPath& path) {
    JsonFields port(context.scan, entry, path);
    GraphOutput output{port.string("name"), port.string("kind"), port.stringOr("target", ""),
                       NoneValue{}};
    output.value = readPortValue(context, port);
    port.finish();
    model.outputs.push_back(std::move(output));
  });
}

std::optional<std::int64_t> readBound(JsonFields& fields, std::string_view key) {
  return fields.optional(key) == nullptr ? std::nullopt : std::optional(fields.integer(key));
}

/// Hints stand here once; sizes are evaluated from them.
void readSymbols(ReadContext& context, JsonFields& fields, Model& model) {
  context.hints.clear();
  fields.eachElement("dynamic_dims", [&](const Json& entry, const JsonPath& path) {
    JsonFields dim(context.scan, entry, path);
    const std::string symbol = dim.string("symbol");
    (void)readBound(dim, "min");
    (void)readBound(dim, "max");
    if (const auto hint = readBound(dim, "hint")) {
      context.hints[symbol] = *hint;
    }
    (void)dim.strings("appears_in");
    dim.finish();
  });
  fields.eachMember("range_constraints",
                    [&](const std::string& symbol, const Json& entry, const JsonPath& path) {
                      JsonFields range(context.scan, entry, path);
                      model.ranges[symbol] = {readBound(range, "min"), readBound(range, "max")};
                      range.finish();
                    });
}

void readStored(ReadContext& context, JsonFields& fields, Model& model) {
  fields.eachElement("stored", [&](const Json& entry, const JsonPath& path) {
    JsonFields tensor(context.scan, entry, path);
    StoredTensor stored;
    stored.name = tensor.string("name");
    const std::string kind = tensor.string("kind");
    if (kind != "parameter" && kind != "buffer" && kind != "constant") {
      tensor.fail("kind", "expected parameter, buffer or constant");
    }
    stored.isParameter = kind == "parameter";
    stored.spec = json_detail::readSpec(context, tensor, "stride");
    stored.record = tensor.string("record");
    stored.recordBytes = tensor.integer("record_bytes");
    tensor.finish();
    model.stored.push_back(std::move(stored));
  });
}

void readProducer(ReadContext& context, JsonFields& fields, Model& model) {
  const Json* json = fields.required("producer");
  if (json == nullptr) {
    return;
  }
  const JsonPath path = fields.at("producer");
  JsonFields producer(context.scan, *json, path);
  model.torchVersion = producer.string("torch_version");
  if (const Json* version = producer.required("schema_version")) {
    const JsonPath versionPath = producer.at("schema_version");
    JsonFields parts(context.scan, *version, versionPath);
    model.schemaMajor = parts.integer("major");
    model.schemaMinor = parts.integer("minor");
    parts.finish();
  }
  model.verifiers = producer.strings("verifiers");
  producer.eachMember("opset_version",
                      [&](const std::string& ns, const Json& value, const JsonPath& entry) {
                        const auto number = jsonInteger(value);
                        if (!number) {
                          context.scan.fail(entry, "expected an integer of 64 bits");
                        }
                        model.opsetVersion[ns] = number.value_or(0);
                      });
  model.madeOn = producer.strings("made_on");
  producer.finish();
}

void readCounts(ReadContext& context, JsonFields& fields, std::string_view key,
                std::map<std::string, std::int64_t>& counts) {
  fields.eachMember(key, [&](const std::string& name, const Json& value, const JsonPath& path) {
    const auto number = jsonInteger(value);
    if (!number) {
      context.scan.fail(path, "expected an integer of 64 bits");
    }
    counts[name] = number.value_or(0);
  });
}

/// Ids must be the indices of the uses: the place of a use in its model is what claims and cases
/// refer to.
void orderUses(ReadContext& context, Model& model, const JsonPath& path) {
  std::ranges::sort(model.uses, [](const OpUse& a, const OpUse& b) { return a.id < b.id; });
  for (std::size_t index = 0; index < model.uses.size(); ++index) {
    if (model.uses[index].id != index) {
      context.scan.fail(path, fmt::format("node ids do not count from 0: {} at place {}",
                                          model.uses[index].id, index));
      return;
    }
  }
}

DeviceLiteral readDeviceLiteral(ReadContext& context, const Json& json, const JsonPath& path) {
  JsonFields fields(context.scan, json, path);
  DeviceLiteral out;
  out.op = readWord<OpName>(fields, "target", OpName::parse);
  out.device = json_detail::parseDevice(fields.string("device"));
  out.node = fields.string("node");
  out.graph = fields.string("graph");
  out.module = fields.string("module");
  out.source = readPlace(fields, "source");
  fields.finish();
  return out;
}

Model readModel(ReadContext& context, const std::string& modelName, const Json& json,
                const JsonPath& path) {
  JsonFields fields(context.scan, json, path);
  Model model;
  model.name = modelName;
  readSymbols(context, fields, model);
  readOperators(context, fields, "ops", model);
  readOperators(context, fields, "custom_ops", model);
  orderUses(context, model, path);
  std::map<std::string, std::int64_t> higherOrderCounts;
  readCounts(context, fields, "higher_order_ops", higherOrderCounts);
  fields.eachElement("higher_order_nodes", [&](const Json& entry, const JsonPath& entryPath) {
    model.higherOrder.push_back(readHigherOrder(context, entry, entryPath));
  });
  readCounts(context, fields, "scalar_ops", model.scalarOps);
  model.subgraphs = fields.strings("subgraphs");
  readPorts(context, fields, model);
  model.guards = fields.strings("guards");
  for (const std::string_view derived : {"parameters", "buffers", "constants"}) {
    fields.ignore(derived);
  }
  readStored(context, fields, model);
  readProducer(context, fields, model);
  model.dialect = fields.string("dialect");
  if (fields.has("shapes")) {
    model.shapes = readWord<ShapeOrigin>(fields, "shapes", parseShapeOrigin);
    model.approximate = fields.boolean("approximate");
    model.operatorFree = fields.has("operator_free") && fields.boolean("operator_free");
    readCounts(context, fields, "interpreter_ops", model.interpreterOps);
    readCounts(context, fields, "prim", model.primOps);
    if (fields.has("device_literals")) {
      fields.eachElement("device_literals", [&](const Json& entry, const JsonPath& entryPath) {
        model.deviceLiterals.push_back(readDeviceLiteral(context, entry, entryPath));
      });
    }
  }
  model.nodeCount = fields.unsignedInteger("nodes");
  model.jsonBytes = fields.unsignedInteger("json_bytes");
  model.notes = fields.strings("notes");
  fields.finish();
  return model;
}

}  // namespace

Result<Inventory> inventoryFromJson(const Json& json) {
  ReadContext context;
  const JsonPath root;
  JsonFields fields(context.scan, json, root);
  Inventory out;
  out.path = fields.string("path");
  out.kind = readWord<FileKind>(fields, "kind", parseFileKind);
  out.size = fields.unsignedInteger("size");
  out.sha256 = fields.stringOr("sha256", "");
  out.layout = fields.stringOr("layout", "");
  out.producer = fields.stringOr("producer", "");
  fields.eachElement("notes", [&](const Json& entry, const JsonPath& path) {
    JsonFields note(context.scan, entry, path);
    out.notes.push_back({note.string("rule"), note.string("record"), note.string("message")});
    note.finish();
  });
  out.compiledModels = fields.strings("compiled_models");
  fields.eachMember(out.kind == FileKind::TorchScript ? "methods" : "models",
                    [&](const std::string& modelName, const Json& entry, const JsonPath& path) {
                      out.models.push_back(readModel(context, modelName, entry, path));
                    });
  out.checkpoint = checkpointFromJson(context.scan, fields);
  // The command line adds the reason when an input could not be read; the record keeps it
  // elsewhere.
  fields.ignore("error");
  fields.finish();
  if (context.scan.failed()) {
    return tl::unexpected(context.scan.error());
  }
  return out;
}

}  // namespace neuroncheck
