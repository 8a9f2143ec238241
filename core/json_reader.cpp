// SPDX-License-Identifier: Apache-2.0
#include "core/json_reader.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include <fmt/format.h>

namespace neuroncheck {

std::string JsonPath::text() const {
  std::vector<const JsonPath*> chain;
  for (const JsonPath* step = this; step->parent_ != nullptr; step = step->parent_) {
    chain.push_back(step);
  }
  std::string out;
  for (const JsonPath* step : std::views::reverse(chain)) {
    if (step->index_) {
      out += fmt::format("[{}]", *step->index_);
    } else {
      out += out.empty() ? "" : ".";
      out += step->key_;
    }
  }
  return out;
}

void JsonScan::fail(const JsonPath& path, std::string_view reason) {
  if (error_) {
    return;
  }
  const std::string where = path.text();
  error_ = Error{
      ErrorCode::Input, fmt::format("{}: {}", where.empty() ? "document" : where, reason), {}};
}

JsonFields::JsonFields(JsonScan& scan, const Json& object, const JsonPath& path)
    : scan_(scan), object_(object), path_(path) {
  if (!object_.is_object()) {
    scan_.fail(path_, fmt::format("expected an object, found {}", object_.type_name()));
  }
}

bool JsonFields::has(std::string_view key) const {
  return object_.is_object() && object_.find(key) != object_.end();
}

const JsonFields::Json* JsonFields::find(std::string_view key) {
  known_.push_back(key);
  if (scan_.failed() || !object_.is_object()) {
    return nullptr;
  }
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

const JsonFields::Json* JsonFields::required(std::string_view key) {
  const Json* value = find(key);
  if (value == nullptr) {
    fail(key, "missing");
  }
  return value;
}

const JsonFields::Json* JsonFields::optional(std::string_view key) {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string JsonFields::string(std::string_view key) {
  const Json* value = required(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    fail(key, "expected a string");
    return {};
  }
  return value->get<std::string>();
}

std::string JsonFields::stringOr(std::string_view key, std::string_view fallback) {
  return optional(key) == nullptr ? std::string(fallback) : string(key);
}

std::int64_t JsonFields::integer(std::string_view key) {
  const Json* value = required(key);
  if (value == nullptr) {
    return 0;
  }
  const auto number = jsonInteger(*value);
  if (!number) {
    fail(key, "expected an integer of 64 bits");
  }
  return number.value_or(0);
}

std::int64_t JsonFields::integerOr(std::string_view key, std::int64_t fallback) {
  return optional(key) == nullptr ? fallback : integer(key);
}

std::uint64_t JsonFields::unsignedInteger(std::string_view key) {
  const Json* value = required(key);
  if (value == nullptr) {
    return 0;
  }
  if (value->is_number_unsigned()) {
    return value->get<std::uint64_t>();
  }
  const auto number = jsonInteger(*value);
  if (!number || *number < 0) {
    fail(key, "expected an integer that is not negative");
    return 0;
  }
  return static_cast<std::uint64_t>(*number);
}

bool JsonFields::boolean(std::string_view key) {
  const Json* value = required(key);
  if (value == nullptr) {
    return false;
  }
  if (!value->is_boolean()) {
    fail(key, "expected true or false");
    return false;
  }
  return value->get<bool>();
}

bool JsonFields::booleanOr(std::string_view key, bool fallback) {
  return optional(key) == nullptr ? fallback : boolean(key);
}

std::vector<std::string> JsonFields::strings(std::string_view key) {
  std::vector<std::string> out;
  eachElement(key, [&](const Json& element, const JsonPath& path) {
    if (element.is_string()) {
      out.push_back(element.get<std::string>());
    } else {
      scan_.fail(path, "expected a string");
    }
  });
  return out;
}

void JsonFields::eachElement(std::string_view key,
                             const std::function<void(const Json&, const JsonPath&)>& visit) {
  const Json* value = required(key);
  if (value == nullptr) {
    return;
  }
  if (!value->is_array()) {
    fail(key, "expected an array");
    return;
  }
  const JsonPath array = at(key);
  for (std::size_t index = 0; index < value->size() && !scan_.failed(); ++index) {
    visit((*value)[index], JsonPath(array, index));
  }
}

void JsonFields::eachMember(
    std::string_view key,
    const std::function<void(const std::string&, const Json&, const JsonPath&)>& visit) {
  const Json* value = required(key);
  if (value == nullptr) {
    return;
  }
  if (!value->is_object()) {
    fail(key, "expected an object");
    return;
  }
  const JsonPath object = at(key);
  for (const auto& member : value->items()) {
    if (scan_.failed()) {
      return;
    }
    visit(member.key(), member.value(), JsonPath(object, std::string_view(member.key())));
  }
}

void JsonFields::ignore(std::string_view key) { known_.push_back(key); }

void JsonFields::finish() {
  if (scan_.failed()) {
    return;
  }
  for (const auto& member : object_.items()) {
    if (std::ranges::find(known_, member.key()) == known_.end()) {
      fail(member.key(), "unknown field");
      return;
    }
  }
}

std::optional<std::int64_t> jsonInteger(const nlohmann::ordered_json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number <= kMax ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::optional<double> jsonDouble(const nlohmann::ordered_json& value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  if (!value.is_string()) {
    return std::nullopt;
  }
  const auto& text = value.get_ref<const std::string&>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "Infinity" || text == "inf") {
    return kInfinity;
  }
  if (text == "-Infinity" || text == "-inf") {
    return -kInfinity;
  }
  if (text == "NaN" || text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::nullopt;
}

}  // namespace neuroncheck
