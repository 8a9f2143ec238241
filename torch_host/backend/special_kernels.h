// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "torch_host/backend/kernel.h"

namespace neuroncheck::backend {

/// A working PrivateUse1 kernel for an operator that has none on the CPU: the overrideable
/// convolution and attention pairs and the fused recurrent cells. nullopt if `name` (without
/// overload) is not one of them.
std::optional<Kernel> specialKernel(const std::string& name);

/// Says what `scaled_dot_product_attention` finds on the device: with `true`, four-dimensional
/// query, key and value take the overrideable kernel, as on a backend that registers its choice;
/// everything else takes the math path.
void setAttentionOverrideable(bool on);

}  // namespace neuroncheck::backend
