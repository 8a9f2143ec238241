// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/result.h"

namespace neuroncheck {

/// Where a JSON value stands in its document: a chain of keys and indices that lives on the
/// reader's stack and becomes text only when an error needs it.
class JsonPath {
 public:
  JsonPath() = default;
  JsonPath(const JsonPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  JsonPath(const JsonPath& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// "models.enc.ops[3].nodes[0].name"; empty for the document itself.
  [[nodiscard]] std::string text() const;

 private:
  const JsonPath* parent_ = nullptr;
  std::string_view key_;
  std::optional<std::size_t> index_;
};

/// Collects the first error of a reading. After it every accessor returns a default, so that a
/// reader checks once, at its end, instead of after each field; nothing read after an error is ever
/// used.
class JsonScan {
 public:
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  /// Keeps the first error only; its code is Input.
  void fail(const JsonPath& path, std::string_view reason);
  [[nodiscard]] Error error() const { return error_.value_or(Error{}); }

 private:
  std::optional<Error> error_;
};

/// The fields of one JSON object. Each accessor marks its key as known; `finish()` makes any other
/// key an error. "An absent key" and "null" are the same for the optional accessors.
class JsonFields {
 public:
  using Json = nlohmann::ordered_json;

  /// `object` and `path` must outlive the reader.
  JsonFields(JsonScan& scan, const Json& object, const JsonPath& path);

  [[nodiscard]] std::string string(std::string_view key);
  [[nodiscard]] std::string stringOr(std::string_view key, std::string_view fallback);
  [[nodiscard]] std::int64_t integer(std::string_view key);
  [[nodiscard]] std::int64_t integerOr(std::string_view key, std::int64_t fallback);
  [[nodiscard]] std::uint64_t unsignedInteger(std::string_view key);
  [[nodiscard]] bool boolean(std::string_view key);
  [[nodiscard]] bool booleanOr(std::string_view key, bool fallback);
  [[nodiscard]] std::vector<std::string> strings(std::string_view key);

  /// Null and an error when absent.
  [[nodiscard]] const Json* required(std::string_view key);
  /// Null when absent or JSON null.
  [[nodiscard]] const Json* optional(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const;
  /// Calls `visit` for each element of the array at `key`; a missing key is an error, another type
  /// too.
  void eachElement(std::string_view key,
                   const std::function<void(const Json&, const JsonPath&)>& visit);
  /// Calls `visit` for each member of the object at `key`.
  void eachMember(
      std::string_view key,
      const std::function<void(const std::string&, const Json&, const JsonPath&)>& visit);
  /// Marks a key that is derived from others and therefore not read.
  void ignore(std::string_view key);
  /// Fails on the first key that no accessor asked for.
  void finish();

  [[nodiscard]] JsonPath at(std::string_view key) const { return {path_, key}; }
  void fail(std::string_view key, std::string_view reason) { scan_.fail(at(key), reason); }

 private:
  const Json* find(std::string_view key);

  JsonScan& scan_;
  const Json& object_;
  const JsonPath& path_;
  std::vector<std::string_view> known_;
};

/// The value as an integer of 64 bits, or nullopt (floats and larger numbers are not integers).
[[nodiscard]] std::optional<std::int64_t> jsonInteger(const nlohmann::ordered_json& value);
/// A number, or one of "Infinity", "-Infinity", "NaN" and Python's "inf", "-inf", "nan".
[[nodiscard]] std::optional<double> jsonDouble(const nlohmann::ordered_json& value);

}  // namespace neuroncheck
