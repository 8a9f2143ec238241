// SPDX-License-Identifier: Apache-2.0
#include "numerics/rules/op_rule.h"

#include <array>

namespace neuroncheck::numerics {

namespace {

constexpr std::array<std::string_view, kOpClassCount> kClassNames = {
    "exact",         "rounded", "elementary",    "compound", "reduction",    "contraction",
    "normalisation", "fused",   "factorisation", "random",   "discontinuous"};

constexpr std::array<std::string_view, kNotComparableCount> kReasonNames = {
    "", "uninitialised", "no-tensor", "unspecified", "opaque", "not-dense"};

}  // namespace

char letter(OpClass opClass) { return static_cast<char>('A' + static_cast<int>(opClass)); }

std::optional<OpClass> parseOpClass(std::string_view letter) {
  if (letter.size() != 1 || letter[0] < 'A' ||
      letter[0] >= static_cast<char>('A' + kOpClassCount)) {
    return std::nullopt;
  }
  return static_cast<OpClass>(letter[0] - 'A');
}

std::string_view name(OpClass opClass) { return kClassNames.at(static_cast<std::size_t>(opClass)); }

std::string_view name(NotComparable reason) {
  return kReasonNames.at(static_cast<std::size_t>(reason));
}

}  // namespace neuroncheck::numerics
