// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_host/sim/call.h"
#include "torch_host/sim/state.h"

namespace neuroncheck::sim {

/// Changes what a call that has run gave or wrote, as the fault says. `index` is the fault's place
/// in the profile.
void spoilResults(const Call& call, const Fault& fault, std::size_t index, DeviceState& state);

/// Overwrites a tensor with bytes that no two calls have in common.
void fillWithGarbage(const at::Tensor& neuron, DeviceState& state);

}  // namespace neuroncheck::sim
