// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/schema.h"
#include "opdb/predicate_node.h"

namespace neuroncheck::opdb {

/// A word that is a literal: true, false, None, a dtype, a chip, a memory format or a layout.
struct LiteralWord {
  Atom atom;
  PredicateType type = PredicateType::Any;
};
[[nodiscard]] std::optional<LiteralWord> literalWord(std::string_view word);

/// The dtypes of `floats` (all floating-point types, as torch counts them) and `ints` (integers
/// without bool).
[[nodiscard]] std::optional<std::vector<DType>> namedDTypeSet(std::string_view word);

/// That the argument exists in the schema and the property can be asked of it; the type of its
/// value.
[[nodiscard]] Result<PredicateType> checkArgument(const FunctionSchema& schema,
                                                  Predicate::Node::Kind kind,
                                                  std::string_view argument, std::size_t column);

/// The Error for a name that is no argument of the schema.
[[nodiscard]] tl::unexpected<Error> noArgument(const FunctionSchema& schema,
                                               std::string_view argument, std::size_t column);

/// The static checks of the operators. Fail with Usage, naming the column.
[[nodiscard]] Result<void> checkCondition(const Predicate::Node& node);
[[nodiscard]] Result<void> checkNumber(const Predicate::Node& node);
[[nodiscard]] Result<void> checkComparison(const Predicate::Node& left,
                                           const Predicate::Node& right, Comparison comparison);

}  // namespace neuroncheck::opdb
