// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace neuroncheck::numerics {

/// What values an operator allows in an argument. Kinds of the first group shape the values of a
/// fill; those after Index replace them, for only the seed has a say there.
enum class LegalityKind : std::uint8_t {
  Any,
  NonZero,
  NonZeroInteger,  ///< as NonZero for integer dtypes, Any for others: divisors
  Positive,
  NonNegative,
  NonNegativeInteger,  ///< as NonNegative for integer dtypes, Any for others: exponents
  Range,               ///< [low, high]
  OpenRange,           ///< (low, high)
  Sign,                ///< -1 or 1
  Index,               ///< integers in [low, high), repeated; both ends occur
  UniqueIndex,         ///< the same, each at most once along `axis` (whole tensor without one)
  Permutation,         ///< 0 .. n-1 along `axis`, each once
  Sorted,              ///< ascending in [low, high] along the last dimension
  Offsets,             ///< from 0, ascending, at most high
  ClosedOffsets,       ///< from 0, ascending, the last is high
  Lengths,             ///< descending from high to no less than low
  Partition,           ///< non-negative, summing to high
  Mask,                ///< bool: some of each row stay (true); other dtypes: 0 or -inf, some 0
  Masked,              ///< the same with true for what is taken away
  Weights,             ///< non-negative, at least `low` of each row positive
  PositiveDefinite,    ///< A A^T + n I: symmetric, condition below about 10
  WellConditioned,     ///< square with a dominant diagonal
  LowerTriangular,     ///< positive dominant diagonal; zero above it
  UpperTriangular,
  Pivots,  ///< of an LU factorisation: row i holds a number in [i + 1, n]
};
inline constexpr std::size_t kLegalityKindCount =
    static_cast<std::size_t>(LegalityKind::Pivots) + 1;
/// "unique_index", as the table writes it.
[[nodiscard]] std::string_view name(LegalityKind kind);
[[nodiscard]] std::optional<LegalityKind> parseLegalityKind(std::string_view text);

/// The legality of one tensor, with numbers.
struct Legality {
  LegalityKind kind = LegalityKind::Any;
  double low = 0;
  double high = 1;
  std::optional<std::int64_t> axis;  ///< of UniqueIndex and Permutation; negative from the end
  /// Outside, the operator raises or is undefined; else it answers with NaN or infinity, which
  /// the fills of special values, patterns and edges are there to ask for.
  bool hard = true;
  bool allowFullyMasked = false;  ///< Mask, Masked: one row in four with nothing left
};

}  // namespace neuroncheck::numerics
