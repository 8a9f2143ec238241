// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "numerics/format/float_format.h"

namespace neuroncheck::numerics {

/// roundTo(format, value) of a whole run, to nearest even, in loops a compiler vectorises. `out`
/// has the size of `values` and may be the same memory.
void roundRun(Format format, std::span<const double> values, std::span<double> out);

/// ordinal() of numbers that are exact in the format, as doubles (exact below 2^53, so for every
/// format but fp64). Meaningless for NaN.
[[nodiscard]] double ordinalOf(const FormatTraits& format, double value);

}  // namespace neuroncheck::numerics
