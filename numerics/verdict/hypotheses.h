// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/verdict/run_reader.h"

namespace neuroncheck::numerics::detail {

/// How far the elements that are wrong lie off.
enum class Beyond : std::uint8_t {
  Expected,  ///< beyond B_exp only: an unusual order would do, unless something tells more
  Maximal,   ///< beyond B_max: no order of summation
};

/// Tries every hypothesis that the reference offers or that follows from the result alone, in the
/// order of their ids, on a floating-point output some elements of which are beyond their bound.
/// Stops at the first that explains every element and stands the counter-checks; coarse
/// accumulators, known by a bound only, are compared with each other. Within B_max only what
/// predicts the errors themselves is tried: other operands, a truncated output. The tried ones are
/// in `judgement.trials`, the winner in `judgement.hypothesis`.
[[nodiscard]] Result<void> tryHypotheses(const JudgeRequest& request, Reference& reference,
                                         Judgement& judgement, Beyond beyond);

/// The same for integers.
[[nodiscard]] Result<void> tryIntegerHypotheses(const JudgeRequest& request, Reference& reference,
                                                Judgement& judgement);

}  // namespace neuroncheck::numerics::detail
