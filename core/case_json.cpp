// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/case_parser.h"
#include "core/inventory_json.h"
#include "core/json_reader.h"

namespace neuroncheck {
namespace {

/// Levels of a case document: case, steps, step, args, argument, value, lists, tensor, sizes.
constexpr int kMaxJsonDepth = 2 * case_detail::kMaxListDepth + 12;

Json tensorToJson(const CaseTensor& tensor) {
  Json out = {{"dtype", name(tensor.dtype)}, {"shape", tensor.sizes}};
  if (tensor.strides) {
    out["strides"] = *tensor.strides;
  }
  if (tensor.offset != 0) {
    out["offset"] = tensor.offset;
  }
  if (tensor.alias) {
    out["alias"] = *tensor.alias;
  }
  if (tensor.literal) {
    out["literal"] = Json::array();
    for (const double value : *tensor.literal) {
      out["literal"].push_back(finiteOrString(value));
    }
  }
  if (tensor.grad) {
    out["grad"] = true;
  }
  return out;
}

Json tagged(const char* tag, Json value) {
  Json out = Json::object();
  out[tag] = std::move(value);
  return out;
}

struct ValueWriter {
  Json operator()(const CaseNone&) const { return nullptr; }
  Json operator()(const CaseTensor& value) const { return tagged("tensor", tensorToJson(value)); }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return tagged("float", finiteOrString(value)); }
  Json operator()(bool value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(DType value) const { return tagged("dtype", name(value)); }
  Json operator()(MemoryFormat value) const { return tagged("memory_format", name(value)); }
  Json operator()(Layout value) const { return tagged("layout", name(value)); }
  Json operator()(const Device& value) const {
    Json device = {{"type", value.type}};
    if (value.index) {
      device["index"] = *value.index;
    }
    return tagged("device", std::move(device));
  }
  Json operator()(const std::complex<double>& value) const {
    return tagged("complex",
                  Json::array({finiteOrString(value.real()), finiteOrString(value.imag())}));
  }
  Json operator()(const CaseResult& value) const {
    return tagged("result", Json::array({value.step, value.output}));
  }
  Json operator()(const CaseList& list) const {
    Json out = Json::array();
    for (const CaseValue& item : list.items) {
      out.push_back(std::visit(*this, item.value));
    }
    return out;
  }
};

/// nlohmann converts and destroys recursively in places; deep input is refused before either.
bool tooDeep(const nlohmann::json& json) {
  std::vector<std::pair<const nlohmann::json*, int>> open{{&json, 1}};
  while (!open.empty()) {
    const auto [value, depth] = open.back();
    open.pop_back();
    if (depth > kMaxJsonDepth) {
      return true;
    }
    for (const auto& child : *value) {
      if (child.is_structured()) {
        open.emplace_back(&child, depth + 1);
      }
    }
  }
  return false;
}

class CaseReader {
 public:
  Result<CaseSpec> read(const Json& json) {
    const JsonPath root;
    JsonFields fields(scan_, json, root);
    CaseSpec out;
    fields.eachElement("steps", [&](const Json& element, const JsonPath& path) {
      out.steps.push_back(step(element, path));
    });
    out.backward = fields.booleanOr("grad", false);
    if (fields.has("error")) {
      out.expectedError = fields.string("error");
    }
    fields.finish();
    if (scan_.failed()) {
      return tl::unexpected(scan_.error());
    }
    return case_detail::canonical(std::move(out));
  }

 private:
  CaseStep step(const Json& json, const JsonPath& path) {
    JsonFields fields(scan_, json, path);
    CaseStep out;
    const std::string op = fields.string("op");
    if (const auto parsed = OpName::parse(op)) {
      out.op = *parsed;
    } else {
      fields.fail("op", fmt::format("\"{}\" is no operator name", op));
    }
    fields.eachElement("args", [&](const Json& element, const JsonPath& elementPath) {
      JsonFields argument(scan_, element, elementPath);
      CaseArgument next;
      next.name = argument.stringOr("name", "");
      if (const Json* given = argument.required("value")) {
        next.value = value(*given, argument.at("value"), 0);
      }
      argument.finish();
      out.args.push_back(std::move(next));
    });
    fields.finish();
    return out;
  }

  CaseValue value(const Json& json, const JsonPath& path, int depth) {
    if (json.is_null()) {
      return {CaseNone{}};
    }
    if (json.is_boolean()) {
      return {json.get<bool>()};
    }
    if (json.is_string()) {
      return {json.get<std::string>()};
    }
    if (json.is_number()) {
      const auto number = jsonInteger(json);
      if (!number) {
        scan_.fail(path, "a number that is no integer of 64 bits is written {\"float\": ...}");
      }
      return {number.value_or(0)};
    }
    if (json.is_array()) {
      return list(json, path, depth);
    }
    if (json.size() != 1) {
      scan_.fail(path, "expected a value or an object with one key");
      return {};
    }
    const auto member = json.begin();
    const std::string& tag = member.key();
    return taggedValue(tag, member.value(), JsonPath(path, std::string_view(tag)));
  }

  CaseValue list(const Json& json, const JsonPath& path, int depth) {
    CaseList out;
    if (depth >= case_detail::kMaxListDepth) {
      scan_.fail(path, "lists nested too deeply");
      return {};
    }
    for (std::size_t index = 0; index < json.size() && !scan_.failed(); ++index) {
      out.items.push_back(value(json[index], JsonPath(path, index), depth + 1));
    }
    return {std::move(out)};
  }

  CaseValue taggedValue(const std::string& tag, const Json& json, const JsonPath& path) {
    if (tag == "tensor") {
      return {tensor(json, path)};
    }
    if (tag == "float") {
      return {real(json, path)};
    }
    if (tag == "dtype") {
      return word(json, path, parseDType);
    }
    if (tag == "memory_format") {
      return word(json, path, parseMemoryFormat);
    }
    if (tag == "layout") {
      return word(json, path, parseLayout);
    }
    if (tag == "device") {
      JsonFields fields(scan_, json, path);
      Device device{fields.string("type"), std::nullopt};
      if (fields.optional("index") != nullptr) {
        device.index = fields.integer("index");
      }
      fields.finish();
      return {std::move(device)};
    }
    if ((tag == "complex" || tag == "result") && json.is_array() && json.size() == 2) {
      const JsonPath first(path, std::size_t{0});
      const JsonPath second(path, std::size_t{1});
      if (tag == "complex") {
        return {std::complex<double>(real(json[0], first), real(json[1], second))};
      }
      return {CaseResult{integer(json[0], first), integer(json[1], second)}};
    }
    scan_.fail(path, "unknown kind of value");
    return {};
  }

  CaseTensor tensor(const Json& json, const JsonPath& path) {
    JsonFields fields(scan_, json, path);
    CaseTensor out;
    const std::string dtype = fields.string("dtype");
    const auto parsed = parseDType(dtype);
    if (!parsed) {
      fields.fail("dtype", fmt::format("unknown dtype \"{}\"", dtype));
    }
    out.dtype = parsed.value_or(DType::Float32);
    out.sizes = integers(fields, "shape");
    if (fields.optional("strides") != nullptr) {
      out.strides = integers(fields, "strides");
    }
    out.offset = fields.integerOr("offset", 0);
    if (fields.optional("alias") != nullptr) {
      out.alias = fields.string("alias");
    }
    if (fields.optional("literal") != nullptr) {
      out.literal.emplace();
      fields.eachElement("literal", [&](const Json& element, const JsonPath& elementPath) {
        out.literal->push_back(real(element, elementPath));
      });
    }
    out.grad = fields.booleanOr("grad", false);
    fields.finish();
    return out;
  }

  std::vector<std::int64_t> integers(JsonFields& fields, std::string_view key) {
    std::vector<std::int64_t> out;
    fields.eachElement(key, [&](const Json& element, const JsonPath& path) {
      out.push_back(integer(element, path));
    });
    return out;
  }

  std::int64_t integer(const Json& json, const JsonPath& path) {
    const auto number = jsonInteger(json);
    if (!number) {
      scan_.fail(path, "expected an integer of 64 bits");
    }
    return number.value_or(0);
  }

  double real(const Json& json, const JsonPath& path) {
    const auto number = jsonDouble(json);
    if (!number) {
      scan_.fail(path, "expected a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
    }
    return number.value_or(0);
  }

  template <typename T>
  CaseValue word(const Json& json, const JsonPath& path,
                 std::optional<T> (*parse)(std::string_view)) {
    const auto value = json.is_string() ? parse(json.get_ref<const std::string&>()) : std::nullopt;
    if (!value) {
      scan_.fail(path, "unknown word");
      return {};
    }
    return {*value};
  }

  JsonScan scan_;
};

}  // namespace

nlohmann::json CaseSpec::toJson() const {
  Json out = Json::object();
  out["steps"] = Json::array();
  for (const CaseStep& step : steps) {
    Json args = Json::array();
    for (const CaseArgument& argument : step.args) {
      Json entry = Json::object();
      if (!argument.name.empty()) {
        entry["name"] = argument.name;
      }
      entry["value"] = std::visit(ValueWriter{}, argument.value.value);
      args.push_back(std::move(entry));
    }
    out["steps"].push_back({{"op", step.op.str()}, {"args", std::move(args)}});
  }
  if (backward) {
    out["grad"] = true;
  }
  if (expectedError) {
    out["error"] = *expectedError;
  }
  return out;
}

Result<CaseSpec> CaseSpec::fromJson(const nlohmann::json& json) {
  if (tooDeep(json)) {
    return inputError(fmt::format("a case nested deeper than {} levels", kMaxJsonDepth));
  }
  return CaseReader().read(Json(json));
}

}  // namespace neuroncheck
