// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion {

/// The arguments with `change` applied to every floating or complex tensor, those of lists too, and
/// to the numbers that multiply (alpha, beta, value); dtype arguments of narrow floats become fp64.
[[nodiscard]] torch::jit::Stack changedArguments(
    const Call& call, const std::function<Tensor(std::string_view name, const Tensor&)>& change,
    const std::function<double(double)>& changeNumber);

/// Their absolute values; the modulus of complex ones. Indices, masks, sizes and eps as they are.
[[nodiscard]] torch::jit::Stack absoluteArguments(const Call& call);

}  // namespace neuroncheck::companion
