// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace neuroncheck::opdb {

struct PredicateToken {
  enum class Kind : std::uint8_t { Word, Integer, Real, Text, Symbol, End };
  Kind kind = Kind::End;
  std::string text;  ///< a Text without its quotes
  std::size_t column = 1;
};

/// Splits a predicate into tokens; the last one is End. Fails with Usage, naming the column, on a
/// character outside the grammar, an open quote, or a text beyond 4096 characters.
[[nodiscard]] Result<std::vector<PredicateToken>> tokenizePredicate(std::string_view text);

/// "predicate column 7: <what>" with code Usage.
[[nodiscard]] tl::unexpected<Error> predicateError(std::size_t column, std::string_view what);

}  // namespace neuroncheck::opdb
