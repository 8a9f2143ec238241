// SPDX-License-Identifier: Apache-2.0
#include "scanner/pt2/json.h"

#include <limits>
#include <sstream>

namespace neuroncheck::scanner::pt2 {
namespace {

std::string_view typeName(Json value) {
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::INT64:
    case simdjson::dom::element_type::UINT64:
      return "an integer";
    case simdjson::dom::element_type::DOUBLE:
      return "a float";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "a bool";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

tl::unexpected<Error> wrongType(Json value, std::string_view what, std::string_view expected) {
  return inputError(fmt::format("{} is {}, {} was expected", what, typeName(value), expected));
}

}  // namespace

Result<std::string_view> asString(Json value, std::string_view what) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) {
    return wrongType(value, what, "a string");
  }
  return text;
}

Result<std::int64_t> asInt(Json value, std::string_view what) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    return wrongType(value, what, "a 64-bit integer");
  }
  return number;
}

Result<bool> asBool(Json value, std::string_view what) {
  bool flag = false;
  if (value.get(flag) != simdjson::SUCCESS) {
    return wrongType(value, what, "a bool");
  }
  return flag;
}

Result<double> asDouble(Json value, std::string_view what) {
  double number = 0;
  if (value.get(number) == simdjson::SUCCESS) {
    return number;
  }
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    if (text == "Infinity") {
      return std::numeric_limits<double>::infinity();
    }
    if (text == "-Infinity") {
      return -std::numeric_limits<double>::infinity();
    }
    if (text == "NaN") {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  return wrongType(value, what, "a number");
}

Result<simdjson::dom::array> asArray(Json value, std::string_view what) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) {
    return wrongType(value, what, "an array");
  }
  return array;
}

Result<simdjson::dom::object> asObject(Json value, std::string_view what) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) {
    return wrongType(value, what, "an object");
  }
  return object;
}

Result<UnionMember> asUnion(Json value, std::string_view what) {
  NEURONCHECK_TRY(const simdjson::dom::object object, asObject(value, what));
  if (object.size() != 1) {
    return inputError(
        fmt::format("{} has {} members, a union has exactly one", what, object.size()));
  }
  const auto pair = *object.begin();
  return UnionMember{.key = pair.key, .value = pair.value};
}

std::string jsonText(Json value) {
  std::ostringstream out;
  out << simdjson::minify(value);
  return std::move(out).str();
}

}  // namespace neuroncheck::scanner::pt2
