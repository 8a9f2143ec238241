// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/inventory_json_value.h"

namespace neuroncheck::json_detail {
namespace {

/// The expression of a canonical text. Equal texts share one expression: a model repeats its few
/// sizes thousands of times.
SymExprPtr expression(ReadContext& context, const std::string& text, const JsonPath& path) {
  if (const auto known = context.expressions.find(text); known != context.expressions.end()) {
    return known->second;
  }
  auto parsed = SymExpr::parseInfix(text);
  if (!parsed) {
    context.scan.fail(path, fmt::format("not an expression: {}", parsed.error().message));
    return nullptr;
  }
  return context.expressions.emplace(text, *parsed).first->second;
}

SymInt symbolicInt(const ReadContext& context, const SymExprPtr& expr) {
  if (!expr) {
    return {};
  }
  if (expr->kind() == SymExpr::Kind::Integer) {
    return {expr->integer()};
  }
  const auto hint = expr->evaluate([&](std::string_view symbol) -> std::optional<std::int64_t> {
    const auto found = context.hints.find(symbol);
    return found == context.hints.end() ? std::nullopt : std::optional(found->second);
  });
  return SymInt(expr, hint);
}

SymInt readDimension(ReadContext& context, const Json& json, const JsonPath& path) {
  if (json.is_string()) {
    return symbolicInt(context, expression(context, json.get_ref<const std::string&>(), path));
  }
  const auto number = jsonInteger(json);
  if (!number) {
    context.scan.fail(path, "expected an integer or an expression");
  }
  return {number.value_or(0)};
}

std::vector<SymInt> readDimensions(ReadContext& context, JsonFields& fields, std::string_view key) {
  std::vector<SymInt> out;
  fields.eachElement(key, [&](const Json& element, const JsonPath& path) {
    out.push_back(readDimension(context, element, path));
  });
  return out;
}

/// Text of an enumeration, by its parser.
template <typename Parse>
auto readName(JsonFields& fields, std::string_view key, std::string_view what, const Parse& parse) {
  const std::string text = fields.string(key);
  auto value = parse(text);
  if (!value) {
    fields.fail(key, fmt::format("unknown {} \"{}\"", what, text));
  }
  return value.value_or(typename decltype(value)::value_type{});
}

std::optional<DType> dtypeOrUnknown(std::string_view text) {
  return text == name(DType::Unknown) ? std::optional(DType::Unknown) : parseDType(text);
}
std::optional<Layout> layoutOrUnknown(std::string_view text) {
  return text == name(Layout::Unknown) ? std::optional(Layout::Unknown) : parseLayout(text);
}
std::optional<MemoryFormat> formatOrUnknown(std::string_view text) {
  return text == name(MemoryFormat::Unknown) ? std::optional(MemoryFormat::Unknown)
                                             : parseMemoryFormat(text);
}

double readDouble(ReadContext& context, const Json& json, const JsonPath& path) {
  const auto number = jsonDouble(json);
  if (!number) {
    context.scan.fail(path, "expected a number");
  }
  return number.value_or(0);
}

std::int64_t readInteger(ReadContext& context, const Json& json, const JsonPath& path) {
  const auto number = jsonInteger(json);
  if (!number) {
    context.scan.fail(path, "expected an integer of 64 bits");
  }
  return number.value_or(0);
}

bool readBool(ReadContext& context, const Json& json, const JsonPath& path) {
  if (!json.is_boolean()) {
    context.scan.fail(path, "expected true or false");
    return false;
  }
  return json.get<bool>();
}

ArgValue readSymbol(ReadContext& context, JsonFields& fields, std::string valueName) {
  const std::string kind = fields.string("sym");
  const JsonPath exprPath = fields.at("expr");
  const JsonPath valuePath = fields.at("value");
  SymExprPtr expr;
  if (const Json* text = fields.optional("expr")) {
    if (text->is_string()) {
      expr = expression(context, text->get_ref<const std::string&>(), exprPath);
    } else {
      context.scan.fail(exprPath, "expected an expression");
    }
  }
  const Json* value = expr || context.scan.failed() ? nullptr : fields.required("value");
  if (kind == "SymInt") {
    return SymIntValue{value != nullptr ? SymInt(readInteger(context, *value, valuePath))
                                        : symbolicInt(context, expr),
                       std::move(valueName)};
  }
  if (kind == "SymFloat") {
    return SymFloat{value != nullptr ? readDouble(context, *value, valuePath) : 0, expr,
                    std::move(valueName)};
  }
  if (kind == "SymBool") {
    return SymBool{value != nullptr && readBool(context, *value, valuePath), expr,
                   std::move(valueName)};
  }
  fields.fail("sym", "expected SymInt, SymFloat or SymBool");
  return NoneValue{};
}

/// Reads the parts of exact values.
class ExactReader {
 public:
  ExactReader(ReadContext& context, const std::vector<ArgValue>& items)
      : context_(context), items_(items) {}

  ArgValue value(const Json& json, const JsonPath& path) {
    if (json.is_null()) {
      return NoneValue{};
    }
    if (!json.is_object() || json.size() != 1) {
      context_.scan.fail(path, "expected null or an object with one key");
      return NoneValue{};
    }
    const auto member = json.begin();
    const std::string& tag = member.key();
    return tagged(tag, member.value(), JsonPath(path, std::string_view(tag)));
  }

 private:
  ArgValue tagged(const std::string& tag, const Json& json, const JsonPath& path) {
    if (tag == "tensor") {
      return tensor(json, path);
    }
    if (tag == "tensors") {
      return tensorList(json, path);
    }
    if (tag == "tensor_lists") {
      return list<TensorList>(
          json, path, [this](const Json& e, const JsonPath& p) { return tensorList(e, p); });
    }
    if (tag == "int") {
      return symInt(json, path);
    }
    if (tag == "ints") {
      return list<SymIntValue>(json, path,
                               [this](const Json& e, const JsonPath& p) { return symInt(e, p); });
    }
    if (tag == "float") {
      return symFloat(json, path);
    }
    if (tag == "floats") {
      return list<SymFloat>(json, path,
                            [this](const Json& e, const JsonPath& p) { return symFloat(e, p); });
    }
    if (tag == "bool") {
      return symBool(json, path);
    }
    if (tag == "bools") {
      return list<SymBool>(json, path,
                           [this](const Json& e, const JsonPath& p) { return symBool(e, p); });
    }
    return constant(tag, json, path);
  }

  ArgValue constant(const std::string& tag, const Json& json, const JsonPath& path) {
    if (tag == "string") {
      return text(json, path);
    }
    if (tag == "strings") {
      return list<std::string>(json, path,
                               [this](const Json& e, const JsonPath& p) { return text(e, p); });
    }
    if (tag == "graph") {
      return GraphRef{text(json, path)};
    }
    if (tag == "operator") {
      return OperatorRef{text(json, path)};
    }
    if (tag == "device") {
      return parseDevice(text(json, path));
    }
    if (tag == "dtype") {
      return enumeration(json, path, dtypeOrUnknown);
    }
    if (tag == "memory_format") {
      return enumeration(json, path, formatOrUnknown);
    }
    if (tag == "layout") {
      return enumeration(json, path, layoutOrUnknown);
    }
    return compound(tag, json, path);
  }

  ArgValue compound(const std::string& tag, const Json& json, const JsonPath& path) {
    const auto number = [this](const Json& e, const JsonPath& p) {
      return readDouble(context_, e, p);
    };
    const auto integer = [this](const Json& e, const JsonPath& p) {
      return readInteger(context_, e, p);
    };
    if (tag == "complex") {
      const auto parts = list<double>(json, path, number);
      if (parts.size() != 2) {
        context_.scan.fail(path, "expected two numbers");
        return NoneValue{};
      }
      return std::complex<double>(parts[0], parts[1]);
    }
    if (tag == "int_lists") {
      using Row = std::vector<std::int64_t>;
      return list<Row>(json, path, [&](const Json& e, const JsonPath& p) {
        return list<std::int64_t>(e, p, integer);
      });
    }
    if (tag == "float_lists") {
      using Row = std::vector<double>;
      return list<Row>(
          json, path, [&](const Json& e, const JsonPath& p) { return list<double>(e, p, number); });
    }
    if (tag == "custom_object") {
      return leaf<CustomObject>(json, path);
    }
    if (tag == "opaque") {
      JsonFields fields(context_.scan, json, path);
      OpaqueValue out{fields.string("kind"), fields.string("json")};
      fields.finish();
      return out;
    }
    context_.scan.fail(path, "unknown kind of value");
    return NoneValue{};
  }

  template <typename T, typename Read>
  std::vector<T> list(const Json& json, const JsonPath& path, const Read& read) {
    std::vector<T> out;
    if (!json.is_array()) {
      context_.scan.fail(path, "expected an array");
      return out;
    }
    for (std::size_t index = 0; index < json.size() && !context_.scan.failed(); ++index) {
      out.push_back(read(json[index], JsonPath(path, index)));
    }
    return out;
  }

  /// A graph value in place, or the one a {"ref": index} names.
  template <typename T>
  T leaf(const Json& json, const JsonPath& path) {
    ArgValue found = NoneValue{};
    if (json.is_object() && json.size() == 1 && json.contains("ref")) {
      const auto index = jsonInteger(json["ref"]);
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= items_.size()) {
        context_.scan.fail(path, "ref is outside the list it speaks of");
        return T{};
      }
      found = items_[static_cast<std::size_t>(*index)];
    } else {
      found = readGraphValue(context_, json, path);
    }
    if (const T* value = std::get_if<T>(&found)) {
      return *value;
    }
    context_.scan.fail(path, "a value of another kind than its tag says");
    return T{};
  }

  TensorPtr tensor(const Json& json, const JsonPath& path) {
    return json.is_null() ? nullptr : leaf<TensorPtr>(json, path);
  }
  TensorList tensorList(const Json& json, const JsonPath& path) {
    return {list<TensorPtr>(json, path,
                            [this](const Json& e, const JsonPath& p) { return tensor(e, p); })};
  }
  SymIntValue symInt(const Json& json, const JsonPath& path) {
    return json.is_object() ? leaf<SymIntValue>(json, path)
                            : SymIntValue{readInteger(context_, json, path), {}};
  }
  SymFloat symFloat(const Json& json, const JsonPath& path) {
    return json.is_object() ? leaf<SymFloat>(json, path)
                            : SymFloat{readDouble(context_, json, path), nullptr, {}};
  }
  SymBool symBool(const Json& json, const JsonPath& path) {
    return json.is_object() ? leaf<SymBool>(json, path)
                            : SymBool{readBool(context_, json, path), nullptr, {}};
  }

  std::string text(const Json& json, const JsonPath& path) {
    if (!json.is_string()) {
      context_.scan.fail(path, "expected a string");
      return {};
    }
    return json.get<std::string>();
  }

  template <typename T>
  ArgValue enumeration(const Json& json, const JsonPath& path,
                       std::optional<T> (*parse)(std::string_view)) {
    const auto value = parse(text(json, path));
    if (!value) {
      context_.scan.fail(path, "unknown word");
      return NoneValue{};
    }
    return *value;
  }

  ReadContext& context_;
  const std::vector<ArgValue>& items_;
};

ArgValue plainString(ReadContext& context, const std::string& text, const JsonPath& path,
                     std::string_view argument) {
  if (argument == "device") {
    return parseDevice(text);
  }
  if (text == "inf" || text == "-inf" || text == "nan") {
    return SymFloat{jsonDouble(Json(text)).value_or(0), nullptr, {}};
  }
  constexpr std::string_view kPrefix = "torch.";
  if (!text.starts_with(kPrefix)) {
    return text;
  }
  const std::string_view word = std::string_view(text).substr(kPrefix.size());
  if (const auto dtype = parseDType(word); dtype && *dtype != DType::Unknown) {
    return *dtype;
  }
  if (const auto format = parseMemoryFormat(word); format && *format != MemoryFormat::Unknown) {
    return *format;
  }
  if (const auto layout = parseLayout(word); layout && *layout != Layout::Unknown) {
    return *layout;
  }
  context.scan.fail(path, "not a dtype, memory format or layout");
  return NoneValue{};
}

template <typename T, typename Read>
std::vector<T> plainList(const Json& json, const JsonPath& path, const Read& read) {
  std::vector<T> out;
  out.reserve(json.size());
  for (std::size_t index = 0; index < json.size(); ++index) {
    out.push_back(read(json[index], JsonPath(path, index)));
  }
  return out;
}

}  // namespace

Device parseDevice(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < text.size()) {
    std::int64_t index = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, index);
    if (parsed.ec == std::errc() && parsed.ptr == end) {
      return {std::string(text.substr(0, colon)), index};
    }
  }
  return {std::string(text), std::nullopt};
}

TensorSpec readSpec(ReadContext& context, JsonFields& fields, std::string_view strideKey) {
  TensorSpec spec;
  spec.dtype = readName(fields, "dtype", "dtype", dtypeOrUnknown);
  spec.hasShape = fields.optional("shape") != nullptr;
  if (spec.hasShape) {
    spec.sizes = readDimensions(context, fields, "shape");
  }
  if (fields.optional(strideKey) != nullptr) {
    spec.strides = readDimensions(context, fields, strideKey);
    if (!spec.hasShape || spec.strides.size() != spec.sizes.size()) {
      fields.fail(strideKey, "as many strides as sizes are needed");
    }
  }
  spec.device = parseDevice(fields.string("device"));
  spec.layout = readName(fields, "layout", "layout", layoutOrUnknown);
  if (const Json* offset = fields.optional("offset")) {
    spec.storageOffset = readDimension(context, *offset, fields.at("offset"));
  }
  spec.requiresGrad = fields.booleanOr("requires_grad", false);
  return spec;
}

ArgValue readGraphValue(ReadContext& context, const Json& json, const JsonPath& path,
                        std::string* argument) {
  JsonFields fields(context.scan, json, path);
  if (argument != nullptr) {
    *argument = fields.stringOr("arg", "");
  }
  std::string valueName = fields.stringOr("name", "");
  ArgValue value = NoneValue{};
  if (fields.has("sym")) {
    value = readSymbol(context, fields, std::move(valueName));
  } else if (fields.has("class")) {
    value = CustomObject{std::move(valueName), fields.string("class")};
  } else {
    value = std::make_shared<const TensorValue>(
        TensorValue{std::move(valueName), readSpec(context, fields)});
  }
  fields.finish();
  return value;
}

ArgValue readExact(ReadContext& context, const Json& json, const JsonPath& path,
                   const std::vector<ArgValue>& items) {
  return ExactReader(context, items).value(json, path);
}

ArgValue readPlain(ReadContext& context, const Json& json, const JsonPath& path,
                   std::string_view argument) {
  if (json.is_null()) {
    return NoneValue{};
  }
  if (json.is_boolean()) {
    return SymBool{json.get<bool>(), nullptr, {}};
  }
  if (json.is_number_float()) {
    return SymFloat{json.get<double>(), nullptr, {}};
  }
  if (json.is_number()) {
    return SymIntValue{readInteger(context, json, path), {}};
  }
  if (json.is_string()) {
    return plainString(context, json.get_ref<const std::string&>(), path, argument);
  }
  if (!json.is_array()) {
    context.scan.fail(path, "expected a plain value or a list");
    return NoneValue{};
  }
  const auto all = [&](auto test) { return std::all_of(json.begin(), json.end(), test); };
  if (all([](const Json& e) { return e.is_number_integer(); })) {
    return plainList<SymIntValue>(json, path, [&](const Json& e, const JsonPath& p) {
      return SymIntValue{readInteger(context, e, p), {}};
    });
  }
  if (all([](const Json& e) { return e.is_number_float(); })) {
    return plainList<SymFloat>(json, path, [&](const Json& e, const JsonPath&) {
      return SymFloat{e.get<double>(), nullptr, {}};
    });
  }
  if (all([](const Json& e) { return e.is_boolean(); })) {
    return plainList<SymBool>(json, path, [&](const Json& e, const JsonPath&) {
      return SymBool{e.get<bool>(), nullptr, {}};
    });
  }
  context.scan.fail(path, "a list of mixed kinds stands in args_full, not here");
  return NoneValue{};
}

}  // namespace neuroncheck::json_detail
