// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "conformance/runner/judge_case.h"
#include "numerics/verdict/selection.h"

namespace neuroncheck::conformance {

/// How output `index` of an attempt is judged when it is indices into an operand (argmax, topk,
/// sort, ...): by what they point at. nullopt for any other output.
[[nodiscard]] std::optional<numerics::SelectionRequest> selectionOf(
    const AttemptPlan& plan, const AttemptEvidence& evidence, std::size_t index,
    const numerics::TensorView& indices);

}  // namespace neuroncheck::conformance
