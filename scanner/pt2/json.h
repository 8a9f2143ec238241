// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/result.h"

namespace neuroncheck::scanner::pt2 {

/// A value of a parsed document; valid while its parser lives.
using Json = simdjson::dom::element;

/// Typed access; `what` names the field in the Error ("'inputs' is a string, an array was
/// expected").
[[nodiscard]] Result<std::string_view> asString(Json value, std::string_view what);
[[nodiscard]] Result<std::int64_t> asInt(Json value, std::string_view what);
[[nodiscard]] Result<bool> asBool(Json value, std::string_view what);
/// A number, or one of the strings "Infinity", "-Infinity", "NaN".
[[nodiscard]] Result<double> asDouble(Json value, std::string_view what);
[[nodiscard]] Result<simdjson::dom::array> asArray(Json value, std::string_view what);
[[nodiscard]] Result<simdjson::dom::object> asObject(Json value, std::string_view what);

/// Equality of short texts without a call: field names are compared hundreds of thousands of times
/// per file.
[[nodiscard]] inline bool sameText(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  const auto same = [&]<typename Word>(Word /*type*/, std::size_t at) {
    Word x = 0;
    Word y = 0;
    std::memcpy(&x, a.data() + at, sizeof(Word));
    std::memcpy(&y, b.data() + at, sizeof(Word));
    return x == y;
  };
  const std::size_t size = a.size();
  if (size > 16) {
    return std::memcmp(a.data(), b.data(), size) == 0;
  }
  if (size >= 8) {
    return same(std::uint64_t{}, 0) && same(std::uint64_t{}, size - 8);
  }
  if (size >= 4) {
    return same(std::uint32_t{}, 0) && same(std::uint32_t{}, size - 4);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

/// The one member of a union object ({"as_tensor": {...}}).
struct UnionMember {
  std::string_view key;
  Json value;
};
[[nodiscard]] Result<UnionMember> asUnion(Json value, std::string_view what);

/// The known fields of an object, found in one pass. Unknown fields are ignored (a newer minor
/// schema adds some), null counts as absent, a field that occurs twice is an Error.
template <std::size_t N>
class Fields {
 public:
  using Names = std::array<std::string_view, N>;

  [[nodiscard]] static Result<Fields> read(Json value, const Names& names, std::string_view what) {
    NEURONCHECK_TRY(const simdjson::dom::object object, asObject(value, what));
    Fields fields;
    std::size_t next = 0;  // files keep the order of the schema, so the next name is the likely one
    for (const simdjson::dom::key_value_pair pair : object) {
      std::size_t index = next;
      if (index >= N || !sameText(names[index], pair.key)) {
        index = 0;
        while (index < N && !sameText(names[index], pair.key)) {
          ++index;
        }
      }
      if (index == N) {
        continue;
      }
      if (fields.seen_[index]) {
        return inputError(fmt::format("field '{}' of {} occurs twice", names[index], what));
      }
      fields.seen_.set(index);
      fields.present_[index] = !pair.value.is_null();
      fields.values_[index] = pair.value;
      next = index + 1;
    }
    return fields;
  }

  [[nodiscard]] bool has(std::size_t index) const { return present_[index]; }
  [[nodiscard]] Json operator[](std::size_t index) const { return values_[index]; }
  /// The field, or an Error that it is missing.
  [[nodiscard]] Result<Json> need(std::size_t index, const Names& names,
                                  std::string_view what) const {
    if (!present_[index]) {
      return inputError(fmt::format("{} has no '{}'", what, names[index]));
    }
    return values_[index];
  }

 private:
  std::array<Json, N> values_ = {};
  std::bitset<N> seen_;
  std::bitset<N> present_;
};

/// Text of a value for messages and OpaqueValue.
[[nodiscard]] std::string jsonText(Json value);

}  // namespace neuroncheck::scanner::pt2
