// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

/// Permutations of 0 .. size-1, one after the other. Fails when one is none. The places of the
/// values are judged by a chi-square over a table (value x place), grouped to at most 16 x 16 cells
/// that expect 50 each; its mean for permutations is that of (r-1)(c-1) degrees of freedom times
/// size/(size-1), since both margins are fixed. Mistrusted when the table expects less.
[[nodiscard]] RandomFinding permutationTest(std::span<const std::int64_t> values,
                                            std::int64_t size);

/// Draws of multinomial: `draws` holds rows of `perRow` indices into `weights` (non-negative, need
/// not sum to 1). Fails on an index outside, on one of weight zero, and without replacement on one
/// drawn twice in a row. The counts (without replacement: of the first draw of each row, which
/// alone follows the weights) are judged by chi-square, categories that expect less than 50 joined.
[[nodiscard]] RandomFinding drawsTest(std::span<const std::int64_t> draws, std::int64_t perRow,
                                      std::span<const double> weights, bool replacement);

}  // namespace neuroncheck::numerics
