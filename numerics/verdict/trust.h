// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics::detail {

/// Whether a wrong result could have passed: a truth of one value, mostly zeros, mostly saturated,
/// bounds as large as the values, NaN nobody asked for.
[[nodiscard]] Trust trustOf(const JudgeRequest& request, const Metrics& metrics);

}  // namespace neuroncheck::numerics::detail
