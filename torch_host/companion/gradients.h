// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "torch_host/companion/companion.h"

namespace neuroncheck::companion {

/// Gradients of sum(outputs * cotangents) with respect to `leaves`, zeros where a leaf is not used;
/// differentiable again where `again`. Outputs that need no gradient, or whose cotangent is not
/// defined, are left out.
[[nodiscard]] std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                                const std::vector<at::Tensor>& cotangents,
                                                const std::vector<at::Tensor>& leaves, bool again);

/// sum_i |x_i dH/dx_i| of an elementwise operator, over the floating tensors of the call, each
/// expanded to the sizes of the output.
[[nodiscard]] at::Tensor sensitivity(const Call& call);

}  // namespace neuroncheck::companion
