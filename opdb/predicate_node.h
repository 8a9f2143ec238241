// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "opdb/predicate.h"

namespace neuroncheck::opdb {

/// Place of a chip in the order trn1 < trn2 < trn3.
struct ChipOrder {
  std::int64_t generation = 0;
  bool operator==(const ChipOrder&) const = default;
};
/// "trn2" -> 2; nullopt for any other word.
[[nodiscard]] std::optional<ChipOrder> parseChip(std::string_view word);

/// One value of a predicate: what a literal, an argument or a property of a tensor evaluates to.
using Atom = std::variant<NoneValue, bool, std::int64_t, double, std::string, DType, MemoryFormat,
                          Layout, ChipOrder>;

/// Static type of a subexpression, as far as the text and the schema tell. Any: an argument without
/// a schema.
enum class PredicateType : std::uint8_t {
  Any,
  None,
  Boolean,
  Number,
  Scalar,  ///< torch's Scalar: a number or a bool
  Text,
  DType,
  MemoryFormat,
  Layout,
  Chip,
  Word,    ///< a bare word that is neither a literal nor an argument: a text, where one is compared
           ///< with a text
  Opaque,  ///< an argument of a kind that only is_none can ask about
};
[[nodiscard]] std::string_view name(PredicateType type);

enum class Comparison : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// A node of the syntax tree. `children` are operands in order; a property of an argument has its
/// name in `argument`.
struct Predicate::Node {
  enum class Kind : std::uint8_t {
    Or,
    And,
    Not,
    Compare,
    In,  ///< children: the value, then the elements of the set
    Modulo,
    Literal,
    Value,
    DTypeOf,
    ItemSizeOf,
    RankOf,
    SizeOf,
    ContiguousOf,
    LengthOf,
    IsNone,
    AnyGreater,
    AnyDType,
    AnySymbolic,
    Chip,
  };
  Kind kind = Kind::Literal;
  PredicateType type = PredicateType::Any;
  Comparison comparison = Comparison::Equal;
  std::vector<std::shared_ptr<const Node>> children = {};
  Atom literal = {};
  std::string argument = {};
  std::int64_t number = 0;  ///< dimension of size(a,i), bound of any_gt(a,n)
  std::size_t column = 1;   ///< where it begins in the text, from 1
  /// For any_dtype and any_symbolic: the arguments the schema has that could matter; absent without
  /// a schema.
  std::optional<std::vector<std::string>> scope = {};
};

}  // namespace neuroncheck::opdb
