// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

// What torch promises of seeds, checked on buffers somebody else drew. Equality is of bits. That a
// shape may be split without changing the numbers, or that the CPU would draw the same, is promised
// by nobody and not looked at. Empty buffers are mistrusted.

/// Two runs after the same manual_seed().
[[nodiscard]] RandomFinding sameSeedTest(std::span<const std::byte> first,
                                         std::span<const std::byte> second, std::uint64_t seed);
/// Runs after two seeds: not equal, and no more elements of `itemSize` bytes equal at the same
/// place than chance allows (5 sigma). Mistrusted when the values are so few that equal buffers
/// would be no surprise.
[[nodiscard]] RandomFinding differentSeedsTest(std::span<const std::byte> first,
                                               std::span<const std::byte> second,
                                               std::size_t itemSize, std::uint64_t firstSeed,
                                               std::uint64_t secondSeed);
/// `saved` was drawn after get_rng_state(), `restored` after set_rng_state() of that state.
[[nodiscard]] RandomFinding stateRestoredTest(std::span<const std::byte> saved,
                                              std::span<const std::byte> restored);
/// `withFork` is what the outer stream gave after a fork_rng() block in which numbers were drawn,
/// `without` what the same stream gave without the block.
[[nodiscard]] RandomFinding forkIsolatedTest(std::span<const std::byte> without,
                                             std::span<const std::byte> withFork);

}  // namespace neuroncheck::numerics
