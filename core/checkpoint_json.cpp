// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint_json.h"

#include "core/inventory_json_value.h"

namespace neuroncheck {
namespace {

Json numbers(const std::vector<SymInt>& values) {
  Json out = Json::array();
  for (const SymInt& value : values) {
    out.push_back(value.value);
  }
  return out;
}

std::vector<SymInt> numbersOf(JsonScan& scan, JsonFields& fields, std::string_view key) {
  std::vector<SymInt> out;
  fields.eachElement(key, [&](const Json& item, const JsonPath& path) {
    const auto number = jsonInteger(item);
    if (!number) {
      scan.fail(path, "not an integer");
    }
    out.emplace_back(number.value_or(0));
  });
  return out;
}

Json tensorToJson(const CheckpointTensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  Json out = {{"dtype", name(spec.dtype)},
              {"shape", spec.hasShape ? numbers(spec.sizes) : Json(nullptr)},
              {"device", spec.device.str()}};
  if (spec.hasShape && spec.strides.size() == spec.sizes.size() && !tensor.storage.empty()) {
    out["stride"] = numbers(spec.strides);
    out["offset"] = spec.storageOffset.value;
  }
  if (spec.layout != Layout::Strided) {
    out["layout"] = name(spec.layout);
  }
  if (tensor.isParameter) {
    out["parameter"] = true;
  }
  if (!tensor.form.empty()) {
    out["form"] = tensor.form;
  }
  if (!tensor.storage.empty()) {
    out["storage"] = tensor.storage;
    out["storage_bytes"] = tensor.storageBytes;
  }
  if (!tensor.problem.empty()) {
    out["problem"] = tensor.problem;
  }
  return out;
}

template <typename T, typename Parse>
T wordOf(JsonScan& scan, JsonFields& fields, std::string_view key, T fallback, Parse parse) {
  const std::string text = fields.stringOr(key, "");
  const auto value = parse(text);
  if (!text.empty() && !value) {
    scan.fail(fields.at(key), "not a known word");
  }
  return value.value_or(fallback);
}

CheckpointTensor readTensor(JsonScan& scan, const std::string& tensorName, const Json& json,
                            const JsonPath& path) {
  JsonFields fields(scan, json, path);
  CheckpointTensor tensor;
  tensor.name = tensorName;
  tensor.spec.dtype = wordOf(scan, fields, "dtype", DType::Unknown, parseDType);
  tensor.spec.hasShape = fields.optional("shape") != nullptr;
  if (tensor.spec.hasShape) {
    tensor.spec.sizes = numbersOf(scan, fields, "shape");
  }
  tensor.spec.device = json_detail::parseDevice(fields.stringOr("device", ""));
  if (fields.has("stride")) {
    tensor.spec.strides = numbersOf(scan, fields, "stride");
    tensor.spec.storageOffset = SymInt(fields.integer("offset"));
  }
  tensor.spec.layout = wordOf(scan, fields, "layout", Layout::Strided, parseLayout);
  tensor.isParameter = fields.booleanOr("parameter", false);
  tensor.form = fields.stringOr("form", "");
  tensor.storage = fields.stringOr("storage", "");
  tensor.storageBytes = fields.integerOr("storage_bytes", -1);
  tensor.problem = fields.stringOr("problem", "");
  fields.finish();
  return tensor;
}

}  // namespace

void addToJson(const Checkpoint& checkpoint, Json& entry) {
  entry["top"] = checkpoint.top;
  entry["weights_only_loadable"] = checkpoint.weightsOnlyLoadable();
  entry["tensors"] = Json::object();
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    entry["tensors"][tensor.name] = tensorToJson(tensor);
  }
  entry["globals"] = Json::array();
  for (const PickleGlobal& global : checkpoint.globals) {
    entry["globals"].push_back({{"name", global.name}, {"risk", name(global.risk)}});
  }
  entry["modules"] = Json::object();
  for (const CheckpointModule& module : checkpoint.modules) {
    entry["modules"][module.path] = module.className;
  }
  entry["implied_ops_approximate"] = Json::object();
  for (const auto& [op, count] : checkpoint.impliedOps) {
    entry["implied_ops_approximate"][op] = count;
  }
  entry["metadata"] = Json::object();
  for (const auto& [key, value] : checkpoint.metadata) {
    entry["metadata"][key] = value;
  }
}

std::optional<Checkpoint> checkpointFromJson(JsonScan& scan, JsonFields& entry) {
  if (!entry.has("tensors")) {
    return std::nullopt;
  }
  Checkpoint checkpoint;
  checkpoint.top = entry.stringOr("top", "");
  entry.ignore("weights_only_loadable");
  entry.eachMember("tensors", [&](const std::string& key, const Json& json, const JsonPath& path) {
    checkpoint.tensors.push_back(readTensor(scan, key, json, path));
  });
  entry.eachElement("globals", [&](const Json& json, const JsonPath& path) {
    JsonFields fields(scan, json, path);
    PickleGlobal global;
    global.name = fields.string("name");
    global.risk = wordOf(scan, fields, "risk", GlobalRisk::Foreign, parseGlobalRisk);
    fields.finish();
    checkpoint.globals.push_back(std::move(global));
  });
  const auto texts = [&](std::string_view key, const auto& use) {
    entry.eachMember(key, [&](const std::string& member, const Json& json, const JsonPath& path) {
      if (!json.is_string()) {
        scan.fail(path, "not a text");
        return;
      }
      use(member, json.get<std::string>());
    });
  };
  texts("modules", [&](const std::string& path, std::string className) {
    checkpoint.modules.push_back({.path = path, .className = std::move(className)});
  });
  entry.eachMember("implied_ops_approximate",
                   [&](const std::string& op, const Json& json, const JsonPath& path) {
                     const auto count = jsonInteger(json);
                     if (!count) {
                       scan.fail(path, "not an integer");
                     }
                     checkpoint.impliedOps[op] = count.value_or(0);
                   });
  texts("metadata", [&](const std::string& key, std::string value) {
    checkpoint.metadata[key] = std::move(value);
  });
  return checkpoint;
}

}  // namespace neuroncheck
