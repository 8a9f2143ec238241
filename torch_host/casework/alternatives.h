// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "torch_host/companion/companion.h"

namespace neuroncheck::casework {

/// The other right result of a decision that hangs on a computed number: floor or trunc of a
/// quotient (floor_divide, div with a rounding mode, remainder, fmod), the rounding of
/// round.decimals. NaN where there is one right result only: where the number is further from the
/// next integer, or half, than `margin` times itself. nullopt for operators that decide nothing of
/// the kind.
[[nodiscard]] std::optional<at::Tensor> alternativeOf(const companion::Call& call, double margin);

}  // namespace neuroncheck::casework
