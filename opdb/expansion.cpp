// SPDX-License-Identifier: Apache-2.0
#include "opdb/expansion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace neuroncheck::opdb {
namespace {

using nlohmann::json;

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<std::vector<SymIntValue>> integers(const json& value) {
  std::vector<SymIntValue> out;
  for (const json& item : value) {
    if (!item.is_number_integer()) {
      return std::nullopt;
    }
    out.push_back({.value = SymInt(item.get<std::int64_t>()), .name = {}});
  }
  return out;
}

std::optional<std::vector<SymFloat>> floats(const json& value) {
  std::vector<SymFloat> out;
  for (const json& item : value) {
    if (!item.is_number()) {
      return std::nullopt;
    }
    out.push_back({.value = item.get<double>(), .expr = nullptr, .name = {}});
  }
  return out;
}

/// Numbers that JSON cannot write.
std::optional<ArgValue> notFinite(const std::string& word) {
  using Limits = std::numeric_limits<double>;
  const double value = word == "Infinity"    ? Limits::infinity()
                       : word == "-Infinity" ? -Limits::infinity()
                                             : Limits::quiet_NaN();
  if (std::isnan(value) && word != "NaN") {
    return std::nullopt;
  }
  return ArgValue(SymFloat{.value = value, .expr = nullptr, .name = {}});
}

/// A word means what the schema says the argument is: dtypes, layouts and memory formats are
/// written by name.
std::optional<ArgValue> wordValue(const std::string& word, SchemaType type) {
  switch (type) {
    case SchemaType::ScalarType:
      if (const auto dtype = parseDType(word)) {
        return ArgValue(*dtype);
      }
      return std::nullopt;
    case SchemaType::MemoryFormat:
      if (const auto format = parseMemoryFormat(word)) {
        return ArgValue(*format);
      }
      return std::nullopt;
    case SchemaType::Layout:
      if (const auto layout = parseLayout(word)) {
        return ArgValue(*layout);
      }
      return std::nullopt;
    case SchemaType::String:
      return ArgValue(word);
    case SchemaType::Float:
    case SchemaType::Scalar:
      return notFinite(word);
    default:
      return std::nullopt;
  }
}

std::optional<ArgValue> constantValue(const json& value, SchemaType type) {
  if (value.is_null()) {
    return ArgValue(NoneValue{});
  }
  if (value.is_boolean()) {
    return ArgValue(SymBool{.value = value.get<bool>(), .expr = nullptr, .name = {}});
  }
  if (value.is_number_integer()) {
    // Enumerations passed by number have no meaning that is stable between torch versions.
    if (type == SchemaType::ScalarType || type == SchemaType::Layout ||
        type == SchemaType::MemoryFormat) {
      return std::nullopt;
    }
    return ArgValue(SymIntValue{.value = SymInt(value.get<std::int64_t>()), .name = {}});
  }
  if (value.is_number()) {
    return ArgValue(SymFloat{.value = value.get<double>(), .expr = nullptr, .name = {}});
  }
  if (value.is_string()) {
    return wordValue(value.get<std::string>(), type);
  }
  if (value.is_array()) {
    if (auto list = integers(value)) {
      return ArgValue(*std::move(list));
    }
    if (auto list = floats(value)) {
      return ArgValue(*std::move(list));
    }
  }
  return std::nullopt;
}

std::optional<ArgumentFacts> constantFacts(const json& value, SchemaType type) {
  auto constant = constantValue(value, type);
  if (!constant) {
    return std::nullopt;
  }
  ArgumentFacts facts;
  facts.isNone = value.is_null();
  facts.value = std::move(constant);
  return facts;
}

/// "same:input" -> "input"; nothing for another text.
std::string sameAs(const json& value) {
  constexpr std::string_view kPrefix = "same:";
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : std::string();
}

DerivedTensor readDerived(const json& value) {
  DerivedTensor tensor;
  if (const auto dtype = value.find("dtype"); dtype != value.end() && dtype->is_string()) {
    tensor.dtypeFrom = sameAs(*dtype);
    tensor.dtype = parseDType(dtype->get<std::string>());
  }
  if (const auto rank = value.find("rank"); rank != value.end()) {
    tensor.rankFrom = sameAs(*rank);
    if (rank->is_number_integer()) {
      tensor.rank = rank->get<std::int64_t>();
    } else if (rank->is_string()) {
      tensor.rank = wholeNumber(rank->get<std::string>());
    }
  }
  if (const auto contiguous = value.find("contiguous"); contiguous != value.end()) {
    tensor.contiguousFrom = sameAs(*contiguous);
    if (contiguous->is_boolean()) {
      tensor.contiguous = contiguous->get<bool>();
    }
  }
  return tensor;
}

std::optional<ArgumentSource> readSource(const json& value, SchemaType type) {
  if (!value.is_object()) {
    return std::nullopt;
  }
  if (const auto parent = value.find("parent"); parent != value.end() && parent->is_string()) {
    PassedOn passed{.argument = parent->get<std::string>(), .index = std::nullopt};
    if (const auto index = value.find("index");
        index != value.end() && index->is_number_unsigned()) {
      passed.index = index->get<std::size_t>();
    }
    if (const auto before = value.find("before"); before != value.end()) {
      const auto numbers = before->is_array() ? integers(*before) : std::nullopt;
      if (!numbers) {
        return std::nullopt;
      }
      for (const SymIntValue& number : *numbers) {
        passed.before.push_back(number.value.value);
      }
    }
    return ArgumentSource(std::move(passed));
  }
  if (const auto constant = value.find("const"); constant != value.end()) {
    if (auto facts = constantFacts(*constant, type)) {
      return ArgumentSource(*std::move(facts));
    }
    return std::nullopt;
  }
  if (const auto derived = value.find("derived"); derived != value.end() && derived->is_object()) {
    return ArgumentSource(readDerived(*derived));
  }
  return std::nullopt;
}

std::optional<SchemaType> argumentType(const OpInfo* info, const std::string& argument) {
  const SchemaArgument* found = info == nullptr ? nullptr : info->schema.argument(argument);
  return found == nullptr ? std::nullopt : std::optional(found->type);
}

std::optional<Predicate> parsedFor(const std::string& text, const FunctionSchema& schema) {
  if (text.empty()) {
    return std::nullopt;
  }
  auto predicate = Predicate::parse(text, &schema);
  return predicate ? std::optional(*std::move(predicate)) : std::nullopt;
}

Expansion readExpansion(const Database& database, const OpInfo& parent, const ExpansionRow& row) {
  Expansion expansion{.child = {},
                      .times = row.times,
                      .always = row.always,
                      .plumbing = row.plumbing,
                      .condition = parsedFor(row.condition, parent.schema),
                      .onlyIf = parsedFor(row.onlyIf, parent.schema),
                      .arguments = {}};
  if (auto child = OpName::parse(row.child)) {
    expansion.child = *std::move(child);
  }
  const json mapping = json::parse(row.argsJson, nullptr, false);
  if (!mapping.is_object()) {
    return expansion;
  }
  const OpInfo* child = database.find(expansion.child);
  for (const auto& [argument, value] : mapping.items()) {
    auto source = readSource(value, argumentType(child, argument).value_or(SchemaType::Other));
    if (source) {
      expansion.arguments.emplace(argument, *std::move(source));
    }
  }
  return expansion;
}

/// The one value a property has for every tensor of an argument.
template <typename T>
std::optional<T> propertyOf(const PredicateContext& context, const std::string& argument,
                            std::optional<T> TensorFacts::* property) {
  const auto found = context.arguments.find(argument);
  if (argument.empty() || found == context.arguments.end() || found->second.tensors.empty()) {
    return std::nullopt;
  }
  const std::optional<T> first = found->second.tensors.front().*property;
  const auto equal = [&](const TensorFacts& tensor) { return tensor.*property == first; };
  return std::ranges::all_of(found->second.tensors, equal) ? first : std::nullopt;
}

ArgumentFacts derivedFacts(const DerivedTensor& derived, const PredicateContext& parent) {
  TensorFacts tensor;
  tensor.dtype =
      derived.dtype ? derived.dtype : propertyOf(parent, derived.dtypeFrom, &TensorFacts::dtype);
  tensor.rank =
      derived.rank ? derived.rank : propertyOf(parent, derived.rankFrom, &TensorFacts::rank);
  tensor.contiguous = derived.contiguous
                          ? derived.contiguous
                          : propertyOf(parent, derived.contiguousFrom, &TensorFacts::contiguous);
  ArgumentFacts facts;
  facts.isNone = false;
  facts.tensors.push_back(std::move(tensor));
  return facts;
}

/// A single number in the place of a list means as many equal ones as the operator wants, which the
/// facts do not say: then nothing is known.
std::optional<ArgumentFacts> extendedFacts(const PassedOn& passed, const ArgumentFacts& given) {
  const auto* list = given.value ? std::get_if<std::vector<SymIntValue>>(&*given.value) : nullptr;
  if (list == nullptr) {
    return std::nullopt;
  }
  std::vector<SymIntValue> numbers;
  numbers.reserve(passed.before.size() + list->size());
  for (const std::int64_t number : passed.before) {
    numbers.push_back({.value = SymInt(number), .name = {}});
  }
  numbers.insert(numbers.end(), list->begin(), list->end());
  ArgumentFacts facts;
  facts.isNone = false;
  facts.value = std::move(numbers);
  return facts;
}

std::optional<ArgumentFacts> passedFacts(const PassedOn& passed, const PredicateContext& parent) {
  const auto given = parent.arguments.find(passed.argument);
  if (given == parent.arguments.end()) {
    return std::nullopt;
  }
  if (!passed.before.empty()) {
    return extendedFacts(passed, given->second);
  }
  if (!passed.index) {
    return given->second;
  }
  if (*passed.index >= given->second.tensors.size()) {
    return std::nullopt;
  }
  ArgumentFacts item;
  item.isNone = false;
  item.tensors.push_back(given->second.tensors[*passed.index]);
  return item;
}

/// Convolution.cpp hands a real-valued input and weight on as they are (an unbatched input with one
/// more dimension, which keeps it contiguous). The recording also saw complex ones, whose parts are
/// new tensors, and so states less than that.
void fillConvolution(const OpName& parentOp, const PredicateContext& parent,
                     PredicateContext& child) {
  if (parentOp.ns != "aten" ||
      !(parentOp.base.starts_with("conv") || parentOp.base.starts_with("_conv"))) {
    return;
  }
  for (const char* argument : {"input", "weight"}) {
    const auto given = parent.arguments.find(argument);
    if (given == parent.arguments.end() || given->second.tensors.size() != 1) {
      continue;
    }
    const TensorFacts& from = given->second.tensors.front();
    if (!from.dtype || isComplex(*from.dtype)) {
      continue;
    }
    ArgumentFacts& to = child.arguments[argument];
    to.isNone = false;
    to.tensors.resize(1);
    TensorFacts& tensor = to.tensors.front();
    tensor.dtype = tensor.dtype ? tensor.dtype : from.dtype;
    tensor.contiguous = tensor.contiguous ? tensor.contiguous : from.contiguous;
  }
}

void appendTensor(std::string& key, const TensorFacts& tensor) {
  key += tensor.dtype ? name(*tensor.dtype) : "?";
  if (tensor.sizes) {
    key += '[';
    for (const SymInt& size : *tensor.sizes) {
      key += size.str();
      key += ',';
    }
    key += ']';
  } else {
    key += tensor.rank ? fmt::format("<{}>", *tensor.rank) : "<?>";
  }
  key += tensor.contiguous ? (*tensor.contiguous ? 'c' : 's') : '?';
}

}  // namespace

std::vector<Expansion> readExpansions(const Database& database, const OpInfo& parent) {
  std::vector<Expansion> expansions;
  for (const ExpansionRow& row : database.expansions(parent.schema.name)) {
    if (!row.child.empty()) {
      expansions.push_back(readExpansion(database, parent, row));
    }
  }
  return expansions;
}

PredicateContext childContext(const OpName& parentOp, const Expansion& expansion,
                              const PredicateContext& parent) {
  PredicateContext context;
  context.chip = parent.chip;
  for (const auto& [argument, source] : expansion.arguments) {
    if (const auto* facts = std::get_if<ArgumentFacts>(&source)) {
      context.arguments.emplace(argument, *facts);
    } else if (const auto* derived = std::get_if<DerivedTensor>(&source)) {
      context.arguments.emplace(argument, derivedFacts(*derived, parent));
    } else if (auto passed = passedFacts(std::get<PassedOn>(source), parent)) {
      context.arguments.emplace(argument, *std::move(passed));
    }
  }
  if (expansion.child.str() == "aten::convolution") {
    fillConvolution(parentOp, parent, context);
  }
  return context;
}

std::string contextKey(const PredicateContext& context) {
  std::string key = context.chip;
  for (const auto& [argument, facts] : context.arguments) {
    key += fmt::format(";{}=", argument);
    key += facts.isNone ? (*facts.isNone ? 'N' : 'V') : '?';
    key += facts.length ? fmt::format("#{}", *facts.length) : "";
    for (const TensorFacts& tensor : facts.tensors) {
      appendTensor(key, tensor);
    }
    if (facts.value) {
      key += fmt::format("{}:{}", facts.value->index(), text(*facts.value));
    }
  }
  if (context.results) {
    key += ";->";
    for (const TensorFacts& tensor : *context.results) {
      appendTensor(key, tensor);
    }
  }
  return key;
}

std::string multiplyTimes(const std::string& outer, const std::string& inner) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto number = [](const std::string& text) {
    const auto value = wholeNumber(text);
    return value && *value >= 0 && *value < kMost ? value : std::nullopt;
  };
  if (outer == "1") {
    return inner;
  }
  if (inner == "1") {
    return outer;
  }
  const auto a = number(outer);
  const auto b = number(inner);
  return a && b ? std::to_string(*a * *b) : "n";
}

}  // namespace neuroncheck::opdb
