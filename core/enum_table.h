// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/result.h"

namespace neuroncheck {

/// The words of an enumeration, in the order of its enumerators, so that one table serves both
/// directions.
template <std::size_t N>
using EnumWords = std::array<std::string_view, N>;

/// The word of one enumerator; an enumerator outside the table is a programmer's error.
template <typename E, std::size_t N>
[[nodiscard]] std::string_view enumWord(const EnumWords<N>& words, E value) {
  const auto index = static_cast<std::size_t>(value);
  NEURONCHECK_CHECK(index < N, "enumerator without a word");
  return words.at(index);
}

/// The enumerator of a word; nullopt for a word that is not in the table.
template <typename E, std::size_t N>
[[nodiscard]] std::optional<E> enumOf(const EnumWords<N>& words, std::string_view text) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) {
    return std::nullopt;
  }
  return static_cast<E>(found - words.begin());
}

}  // namespace neuroncheck
