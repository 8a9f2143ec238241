// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

// Is one value independent of another? These tests look at ranks, so they need no distribution and
// heavy tails do not matter. Values in the order of memory.

/// Elements of a row that one engine instruction makes: the lag at which tiles would repeat.
inline constexpr std::int64_t kTileLag = 128;

/// Correlation of ranks at distance `lag`, as z. Mistrusted below 1,000 pairs, and when all values
/// are equal.
[[nodiscard]] RandomFinding lagCorrelationTest(std::span<const double> samples, std::int64_t lag);
/// Wald-Wolfowitz: number of runs above and below the median, as z. Values equal to the median are
/// left out.
[[nodiscard]] RandomFinding runsTest(std::span<const double> samples);
/// Chi-square of a 16 x 16 table of (x[2i], x[2i+1]), against the table's own margins.
[[nodiscard]] RandomFinding neighbourTest(std::span<const double> samples);
/// The low `bits` bits of integers drawn from [low, high): each remainder as often as the range
/// says. Finds generators whose low bits are poor, and integers that went through fp32.
[[nodiscard]] RandomFinding lowBitsTest(std::span<const std::int64_t> samples, std::int64_t low,
                                        std::int64_t high, int bits = 8);
/// Lag 1, lag 128, runs, neighbours.
[[nodiscard]] std::vector<SampleTest> independenceTests();

/// Fails when two blocks of `blockBytes` have the same content: rows, tiles, or the shares of cores
/// seeded alike. Only whole blocks at multiples of their size are looked at. Mistrusted when blocks
/// could be equal by chance (estimated from how often single elements of `itemSize` bytes are
/// equal), or when there are fewer than two.
[[nodiscard]] RandomFinding duplicateBlockTest(std::span<const std::byte> bytes,
                                               std::size_t itemSize, std::size_t blockBytes);
/// The same for buffers of different places, such as one per core: none equal to another.
[[nodiscard]] RandomFinding duplicateBufferTest(std::span<const std::span<const std::byte>> buffers,
                                                std::size_t itemSize);

/// Chance that two elements drawn like these are equal, from the pairs among them; an upper
/// estimate of one pair when there is none. Elements beyond 65,536 are not looked at.
[[nodiscard]] double collisionProbability(std::span<const std::byte> bytes, std::size_t itemSize);

}  // namespace neuroncheck::numerics
