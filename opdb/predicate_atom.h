// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/arg_value.h"
#include "opdb/predicate_node.h"

namespace neuroncheck::opdb {

/// What a subexpression evaluates to: one item per tensor or list element, each known or not. `any`
/// quantifies over the items with "some" instead of "each"; `open` says that there may be items
/// that nobody knows of.
struct Quantity {
  std::vector<std::optional<Atom>> items;
  bool any = false;
  bool open = false;
  std::string by;  ///< the argument that would decide what is not known

  static Quantity of(Atom atom) { return {.items = {std::move(atom)}, .by = {}}; }
  static Quantity unknown(std::string by) { return {.items = {std::nullopt}, .by = std::move(by)}; }
};

/// Numbers and bools compare as numbers, chips by generation. Values of different kinds are unequal
/// and have no order.
[[nodiscard]] bool compare(const Atom& a, const Atom& b, Comparison comparison);
/// Remainder with the sign of the divisor, as Python's; nullopt for a division by zero or a value
/// that is no number.
[[nodiscard]] std::optional<Atom> remainder(const Atom& a, const Atom& b);
/// The items of an argument's value; one unknown item for kinds without a comparable value.
[[nodiscard]] Quantity quantityOf(const ArgValue& value, const std::string& argument);
/// The number of elements of a list; nullopt for a value that is none, and for a list of tensors,
/// whose facts are kept apart from its value.
[[nodiscard]] std::optional<std::int64_t> lengthOf(const ArgValue& value);
/// Some number of the value is an expression of symbols.
[[nodiscard]] bool isSymbolic(const ArgValue& value);

}  // namespace neuroncheck::opdb
