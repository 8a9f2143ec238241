// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/arguments.h"

#include <algorithm>
#include <array>

namespace neuroncheck::scanner::pt2 {
namespace {

constexpr Fields<1>::Names kNamed = {"name"};
constexpr Fields<2>::Names kComplex = {"real", "imag"};
constexpr Fields<2>::Names kGraph = {"name", "graph"};

/// The elements of an array, each through `read`.
template <typename T, typename Read>
Result<std::vector<T>> listOf(ValueReader& values, Json value, std::string_view what, Read read) {
  NEURONCHECK_TRY(const simdjson::dom::array array, asArray(value, what));
  NEURONCHECK_TRY_VOID(values.countElements(array.size(), what));
  std::vector<T> items;
  items.reserve(array.size());
  for (const Json item : array) {
    NEURONCHECK_TRY(T one, read(item));
    items.push_back(std::move(one));
  }
  return items;
}

Result<std::string_view> nameOf(Json argument, std::string_view what) {
  NEURONCHECK_TRY(const auto fields, Fields<1>::read(argument, kNamed, what));
  NEURONCHECK_TRY(const Json name, fields.need(0, kNamed, what));
  return asString(name, "name");
}

Result<SymIntValue> plainInt(Json item) {
  NEURONCHECK_TRY(const std::int64_t number, asInt(item, "an element of as_ints"));
  return SymIntValue{.value = SymInt(number), .name = {}};
}
Result<SymFloat> plainFloat(Json item) {
  NEURONCHECK_TRY(const double number, asDouble(item, "an element of as_floats"));
  return SymFloat{.value = number, .expr = {}, .name = {}};
}
Result<SymBool> plainBool(Json item) {
  NEURONCHECK_TRY(const bool flag, asBool(item, "an element of as_bools"));
  return SymBool{.value = flag, .expr = {}, .name = {}};
}

/// How the constant member of a symbolic argument is called and read.
template <typename T>
struct Symbolic;
template <>
struct Symbolic<SymIntValue> {
  static constexpr std::string_view kMember = "as_int";
  static constexpr auto kRead = plainInt;
};
template <>
struct Symbolic<SymFloat> {
  static constexpr std::string_view kMember = "as_float";
  static constexpr auto kRead = plainFloat;
};
template <>
struct Symbolic<SymBool> {
  static constexpr std::string_view kMember = "as_bool";
  static constexpr auto kRead = plainBool;
};

template <typename T>
Result<ArgValue> wrapped(Result<T> value) {
  if (!value) {
    return tl::unexpected(std::move(value).error());
  }
  return ArgValue(std::move(*value));
}

}  // namespace

ArgumentReader::Handler ArgumentReader::handlerOf(std::string_view key) {
  using Self = ArgumentReader;
  // Frequent ones first: a scan over few short texts is faster than hashing the key.
  static constexpr std::array<Member, 31> kMembers = {{
      {.key = "as_tensor", .handler = &Self::tensor},
      {.key = "as_int", .handler = &Self::integer},
      {.key = "as_ints", .handler = &Self::integers},
      {.key = "as_tensors", .handler = &Self::tensors},
      {.key = "as_bool", .handler = &Self::boolean},
      {.key = "as_float", .handler = &Self::real},
      {.key = "as_sym_ints", .handler = &Self::symbols<SymIntValue>},
      {.key = "as_sym_int", .handler = &Self::symbol<SymIntValue>},
      {.key = "as_none", .handler = &Self::none},
      {.key = "as_floats", .handler = &Self::reals},
      {.key = "as_string", .handler = &Self::string},
      {.key = "as_strings", .handler = &Self::strings},
      {.key = "as_scalar_type", .handler = &Self::scalarType},
      {.key = "as_memory_format", .handler = &Self::memoryFormat},
      {.key = "as_layout", .handler = &Self::layout},
      {.key = "as_device", .handler = &Self::device},
      {.key = "as_bools", .handler = &Self::booleans},
      {.key = "as_sym_bool", .handler = &Self::symbol<SymBool>},
      {.key = "as_sym_bools", .handler = &Self::symbols<SymBool>},
      {.key = "as_graph", .handler = &Self::graph},
      {.key = "as_optional_tensors", .handler = &Self::optionalTensors},
      {.key = "as_custom_obj", .handler = &Self::customObject},
      {.key = "as_operator", .handler = &Self::operatorName},
      {.key = "as_sym_float", .handler = &Self::symbol<SymFloat>},
      {.key = "as_sym_floats", .handler = &Self::symbols<SymFloat>},
      {.key = "as_optional_tensor", .handler = &Self::optionalTensor},
      {.key = "as_complex", .handler = &Self::complexNumber},
      {.key = "as_nested_tensors", .handler = &Self::nestedTensors},
      {.key = "as_int_lists", .handler = &Self::integerLists},
      {.key = "as_string_to_argument", .handler = &Self::argumentsByName},
      {.key = "as_float_lists", .handler = &Self::realLists},
  }};
  const auto found = std::ranges::find_if(
      kMembers, [&](const Member& member) { return sameText(member.key, key); });
  return found == kMembers.end() ? nullptr : found->handler;
}

Result<ArgValue> ArgumentReader::read(Json argument, Access access) {
  NEURONCHECK_TRY(const UnionMember member, asUnion(argument, "argument"));
  const Handler handler = handlerOf(member.key);
  if (handler == nullptr) {
    notes_.add(
        fmt::format("argument kind '{}' is not known and kept as text", member.key.substr(0, 80)));
    return ArgValue(OpaqueValue{.kind = std::string(member.key), .json = jsonText(member.value)});
  }
  auto value = (this->*handler)(member.value, access);
  if (!value) {
    return tl::unexpected(std::move(value).error().within(std::string(member.key)));
  }
  return value;
}

Result<const ArgValue*> ArgumentReader::named(std::string_view name, Access access) {
  if (access == Access::Read) {
    NEURONCHECK_TRY(const ValueTable::Index found, table_.use(name));
    return &table_[found].value;
  }
  NEURONCHECK_TRY(const ValueTable::Index found, table_.define(name));
  defined_.push_back(found);
  return &table_[found].value;
}

Result<TensorPtr> ArgumentReader::tensorPtr(Json argument, Access access) {
  NEURONCHECK_TRY(const std::string_view name, nameOf(argument, "a tensor argument"));
  NEURONCHECK_TRY(const ArgValue* value, named(name, access));
  const auto* pointer = std::get_if<TensorPtr>(value);
  if (pointer == nullptr) {
    return inputError(fmt::format("value '{}' is not a tensor", name.substr(0, 120)));
  }
  return *pointer;
}

Result<TensorList> ArgumentReader::tensorList(Json list, Access access) {
  NEURONCHECK_TRY(auto items, listOf<TensorPtr>(values_, list, "a tensor list", [&](Json item) {
                    return tensorPtr(item, access);
                  }));
  return TensorList{.items = std::move(items)};
}

Result<TensorPtr> ArgumentReader::optionalTensorPtr(Json argument, Access access) {
  NEURONCHECK_TRY(const UnionMember member, asUnion(argument, "an optional tensor"));
  if (member.key == "as_none") {
    return TensorPtr();
  }
  if (member.key != "as_tensor") {
    return inputError(
        fmt::format("an optional tensor has the unknown member '{}'", member.key.substr(0, 80)));
  }
  return tensorPtr(member.value, access);
}

template <typename T>
Result<T> ArgumentReader::symbolic(Json argument, Access access) {
  NEURONCHECK_TRY(const UnionMember member, asUnion(argument, "a symbolic argument"));
  if (member.key == Symbolic<T>::kMember) {
    return Symbolic<T>::kRead(member.value);
  }
  if (member.key != "as_name") {
    return inputError(
        fmt::format("a symbolic argument has the unknown member '{}'", member.key.substr(0, 80)));
  }
  NEURONCHECK_TRY(const std::string_view name, asString(member.value, "as_name"));
  NEURONCHECK_TRY(const ArgValue* value, named(name, access));
  const auto* symbol = std::get_if<T>(value);
  if (symbol == nullptr) {
    return inputError(fmt::format("value '{}' is of another kind", name.substr(0, 120)));
  }
  return *symbol;
}

Result<ArgValue> ArgumentReader::none(Json /*value*/, Access /*access*/) {
  return ArgValue(NoneValue{});
}

Result<ArgValue> ArgumentReader::tensor(Json argument, Access access) {
  return wrapped(tensorPtr(argument, access));
}

Result<ArgValue> ArgumentReader::tensors(Json value, Access access) {
  return wrapped(tensorList(value, access));
}

Result<ArgValue> ArgumentReader::optionalTensor(Json value, Access access) {
  NEURONCHECK_TRY(TensorPtr pointer, optionalTensorPtr(value, access));
  return pointer == nullptr ? ArgValue(NoneValue{}) : ArgValue(std::move(pointer));
}

Result<ArgValue> ArgumentReader::optionalTensors(Json value, Access access) {
  NEURONCHECK_TRY(auto items,
                  listOf<TensorPtr>(values_, value, "an optional tensor list",
                                    [&](Json item) { return optionalTensorPtr(item, access); }));
  return ArgValue(TensorList{.items = std::move(items)});
}

Result<ArgValue> ArgumentReader::nestedTensors(Json value, Access access) {
  return wrapped(listOf<TensorList>(values_, value, "nested tensors",
                                    [&](Json item) { return tensorList(item, access); }));
}

Result<ArgValue> ArgumentReader::integer(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const std::int64_t number, asInt(value, "the value"));
  return ArgValue(SymIntValue{.value = SymInt(number), .name = {}});
}

Result<ArgValue> ArgumentReader::integers(Json value, Access /*access*/) {
  return wrapped(listOf<SymIntValue>(values_, value, "the value", plainInt));
}

Result<ArgValue> ArgumentReader::integerLists(Json value, Access /*access*/) {
  const auto inner = [this](Json list) {
    return listOf<std::int64_t>(values_, list, "an element",
                                [](Json item) { return asInt(item, "an element"); });
  };
  return wrapped(listOf<std::vector<std::int64_t>>(values_, value, "the value", inner));
}

Result<ArgValue> ArgumentReader::real(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const double number, asDouble(value, "the value"));
  return ArgValue(SymFloat{.value = number, .expr = {}, .name = {}});
}

Result<ArgValue> ArgumentReader::reals(Json value, Access /*access*/) {
  return wrapped(listOf<SymFloat>(values_, value, "the value", plainFloat));
}

Result<ArgValue> ArgumentReader::realLists(Json value, Access /*access*/) {
  const auto inner = [this](Json list) {
    return listOf<double>(values_, list, "an element",
                          [](Json item) { return asDouble(item, "an element"); });
  };
  return wrapped(listOf<std::vector<double>>(values_, value, "the value", inner));
}

Result<ArgValue> ArgumentReader::boolean(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const bool flag, asBool(value, "the value"));
  return ArgValue(SymBool{.value = flag, .expr = {}, .name = {}});
}

Result<ArgValue> ArgumentReader::booleans(Json value, Access /*access*/) {
  return wrapped(listOf<SymBool>(values_, value, "the value", plainBool));
}

Result<ArgValue> ArgumentReader::string(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const std::string_view text, asString(value, "the value"));
  return ArgValue(std::string(text));
}

Result<ArgValue> ArgumentReader::strings(Json value, Access /*access*/) {
  return wrapped(
      listOf<std::string>(values_, value, "the value", [](Json item) -> Result<std::string> {
        NEURONCHECK_TRY(const std::string_view text, asString(item, "an element"));
        return std::string(text);
      }));
}

template <typename T>
Result<ArgValue> ArgumentReader::symbol(Json value, Access access) {
  return wrapped(symbolic<T>(value, access));
}

template <typename T>
Result<ArgValue> ArgumentReader::symbols(Json value, Access access) {
  return wrapped(
      listOf<T>(values_, value, "the value", [&](Json item) { return symbolic<T>(item, access); }));
}

Result<ArgValue> ArgumentReader::scalarType(Json value, Access /*access*/) {
  return wrapped(values_.dtype(value));
}

Result<ArgValue> ArgumentReader::memoryFormat(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const std::int64_t code, asInt(value, "the value"));
  return ArgValue(memoryFormatFromExportCode(code));
}

Result<ArgValue> ArgumentReader::layout(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const std::int64_t code, asInt(value, "the value"));
  return ArgValue(layoutFromExportCode(code));
}

Result<ArgValue> ArgumentReader::device(Json value, Access /*access*/) {
  return wrapped(values_.device(value));
}

Result<ArgValue> ArgumentReader::complexNumber(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(value, kComplex, "the value"));
  NEURONCHECK_TRY(const Json realField, fields.need(0, kComplex, "the value"));
  NEURONCHECK_TRY(const Json imaginaryField, fields.need(1, kComplex, "the value"));
  NEURONCHECK_TRY(const double realPart, asDouble(realField, "real"));
  NEURONCHECK_TRY(const double imaginaryPart, asDouble(imaginaryField, "imag"));
  return ArgValue(std::complex<double>(realPart, imaginaryPart));
}

Result<ArgValue> ArgumentReader::graph(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const auto fields, Fields<2>::read(value, kGraph, "the value"));
  NEURONCHECK_TRY(const Json nameField, fields.need(0, kGraph, "the value"));
  NEURONCHECK_TRY(const Json graphField, fields.need(1, kGraph, "the value"));
  NEURONCHECK_TRY(const std::string_view name, asString(nameField, "name"));
  NEURONCHECK_TRY(std::string path, visitSubgraph_(name, graphField));
  return ArgValue(GraphRef{.path = std::move(path)});
}

Result<ArgValue> ArgumentReader::customObject(Json value, Access access) {
  NEURONCHECK_TRY(const std::string_view name, nameOf(value, "a custom object"));
  NEURONCHECK_TRY(const ArgValue* found, named(name, access));
  if (!std::holds_alternative<CustomObject>(*found)) {
    return inputError(fmt::format("value '{}' is not a custom object", name.substr(0, 120)));
  }
  return *found;
}

Result<ArgValue> ArgumentReader::operatorName(Json value, Access /*access*/) {
  NEURONCHECK_TRY(const std::string_view target, asString(value, "the value"));
  return ArgValue(OperatorRef{.target = std::string(target)});
}

/// Keyword dictionaries of some higher-order operators: kept as text, but what they read is counted
/// as read.
Result<ArgValue> ArgumentReader::argumentsByName(Json value, Access access) {
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(value, "the value"));
  for (const simdjson::dom::key_value_pair pair : object) {
    NEURONCHECK_TRY([[maybe_unused]] const ArgValue item, read(pair.value, access));
  }
  return ArgValue(OpaqueValue{.kind = "as_string_to_argument", .json = jsonText(value)});
}

}  // namespace neuroncheck::scanner::pt2
