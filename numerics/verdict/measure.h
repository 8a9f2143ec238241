// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics::detail {

/// The pass over a floating-point output: metrics, pattern and whether the CPU made it. With
/// request.threads as many threads as the reference can be shared with; what comes out is the same
/// for any number.
[[nodiscard]] Result<void> measure(const JudgeRequest& request, Reference& reference,
                                   Judgement& judgement);

}  // namespace neuroncheck::numerics::detail
