// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/op_name.h"
#include "core/schema.h"
#include "opdb/database.h"
#include "opdb/predicate.h"

namespace neuroncheck::opdb {

/// An argument of the parent passed on, one item of a list of the parent's, or the parent's list of
/// whole numbers behind some constant ones.
struct PassedOn {
  std::string argument;
  std::optional<std::size_t> index;
  std::vector<std::int64_t> before = {};
};
/// A tensor made inside the composite. Each property is stated, or equal to that of an argument of
/// the parent (named in
/// `...From`), or not known.
struct DerivedTensor {
  std::optional<DType> dtype;
  std::string dtypeFrom;
  std::optional<std::int64_t> rank;
  std::string rankFrom;
  std::optional<bool> contiguous;
  std::string contiguousFrom;
};
/// Where one argument of a child comes from; the last alternative is a constant.
using ArgumentSource = std::variant<PassedOn, DerivedTensor, ArgumentFacts>;

/// One child of a composite, ready to be judged: names, condition and argument mapping read once.
struct Expansion {
  OpName child;
  std::string times = "1";
  bool always = true;
  bool plumbing = false;
  std::optional<Predicate> condition;
  std::optional<Predicate> onlyIf =
      std::nullopt;  ///< where it does not hold the child is not called
  std::map<std::string, ArgumentSource, std::less<>>
      arguments;  ///< those with no known source are left out
};

/// Reads the rows of `parent`. A condition, only_if or mapping that cannot be read is treated as
/// not known: a child that may be called, without facts. A row without a child says that nothing is
/// called, and gives no expansion.
///
/// The mapping is JSON, child argument -> {"parent": name} | {"parent": name, "index": n} |
/// {"parent": name, "before": [whole numbers]} | {"const": value} |
/// {"derived": {"dtype": d, "rank": r, "contiguous": c}}, where a derived property is a value or
/// "same:<argument>" (datasets/catalogue).
[[nodiscard]] std::vector<Expansion> readExpansions(const Database& database, const OpInfo& parent);

/// Facts of the child's arguments, given those of the parent.
[[nodiscard]] PredicateContext childContext(const OpName& parentOp, const Expansion& expansion,
                                            const PredicateContext& parent);

/// A text equal exactly for contexts that every rule answers alike; the key of answers kept between
/// uses.
[[nodiscard]] std::string contextKey(const PredicateContext& context);

/// "1" x "3" is "3"; anything not a plain number makes "n".
[[nodiscard]] std::string multiplyTimes(const std::string& outer, const std::string& inner);

}  // namespace neuroncheck::opdb
