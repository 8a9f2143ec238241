// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/format/float_format.h"
#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

/// A value to be rounded again and again.
struct RoundingProbe {
  double exact = 0;
  double fraction =
      0;  ///< of the way from the neighbour nearer zero to the other; 0: representable
};

/// The two numbers of the format around a value, by magnitude; equal when it is one itself.
struct RoundingNeighbours {
  std::uint64_t inner = 0;  ///< pattern nearer zero
  std::uint64_t outer = 0;
  double fraction = 0;  ///< (value - inner) / (outer - inner)
};
/// `exact` is finite and not beyond the largest number of the format.
[[nodiscard]] RoundingNeighbours neighboursOf(Format format, double exact);

/// Fractions 1/2, 1/4, 3/4, 2^-8 and 1 - 2^-8 in subnormals, the smallest and large binades and
/// around 1, of both signs, and values of the format itself, which must never move. Only values
/// that `source`, the format before rounding, holds: a fraction finer than its bits is left out.
[[nodiscard]] std::vector<RoundingProbe> roundingProbes(Format format, Format source);

/// Judges `patterns.size() / probes.size()` roundings of each probe, those of one probe next to
/// each other: first that each is one of the two neighbours by its bits (representable ones
/// unmoved), then that it went up as often as its fraction says, |z| <= 5 for each probe, and what
/// rounding other than a stochastic one would explain a breach. Mistrusted, never passed, when the
/// roundings are too few for a count to fail (65,536 each are enough).
[[nodiscard]] std::vector<RandomFinding> stochasticRoundingTests(
    Format format, std::span<const RoundingProbe> probes, std::span<const std::uint64_t> patterns);

}  // namespace neuroncheck::numerics
