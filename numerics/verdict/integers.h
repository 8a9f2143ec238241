// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics::detail {

/// Integer and bool outputs: every element equal, wraparound included, or the alternative of a
/// decision that may go either way.
[[nodiscard]] Result<void> judgeIntegers(const JudgeRequest& request, Reference& reference,
                                         Judgement& judgement);

}  // namespace neuroncheck::numerics::detail
