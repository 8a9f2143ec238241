// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/verdict/run_reader.h"

namespace neuroncheck::numerics::detail {

/// Tries every hypothesis that the reference offers or that follows from the result alone, in the
/// order of their ids, on a floating-point output some elements of which are beyond their bound.
/// Stops at the first that explains every element and stands the counter-checks: the tried ones are
/// in `judgement.trials`, the winner in `judgement.hypothesis`.
[[nodiscard]] Result<void> tryHypotheses(const JudgeRequest& request, Reference& reference,
                                         Judgement& judgement);

/// The same for integers.
[[nodiscard]] Result<void> tryIntegerHypotheses(const JudgeRequest& request, Reference& reference,
                                                Judgement& judgement);

}  // namespace neuroncheck::numerics::detail
