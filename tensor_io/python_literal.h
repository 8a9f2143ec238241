// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace neuroncheck::tensor_io {

/// A value of Python's literal syntax, as far as npy headers use it: None, bools, integers of 64
/// bits, strings, tuples, lists and dictionaries.
struct Literal {
  enum class Kind : std::uint8_t { None, Bool, Integer, Text, Tuple, List, Dict };
  Kind kind = Kind::None;
  bool truth = false;
  std::int64_t number = 0;
  std::string text;            ///< escapes are kept as they stand
  std::vector<Literal> items;  ///< of a dictionary: key, value, key, value, ...
};

/// Reads one literal with any spacing around its tokens, also Python 2's `u'x'` and `3L`. Nesting
/// deeper than 16 is an Error, and so is anything behind it. Nothing is evaluated.
[[nodiscard]] Result<Literal> parseLiteral(std::string_view text);

}  // namespace neuroncheck::tensor_io
