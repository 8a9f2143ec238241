// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "torch_host/sim/profile.h"

namespace neuroncheck::sim {

/// The boxed kernel of every operator on the device, registered for native and unsupported ones
/// and reached by all others as the backend's fallback.
void launch(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// The boxed autograd kernel of a native operator that torch composes of others: composes it where
/// a gradient is wanted, as the device's kernel has no derivative, and launches it elsewhere.
void composeForGradient(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Throws the exception of this type with exactly this message.
[[noreturn]] void raiseFailure(const Failure& failure);
/// Raises what went wrong since the last synchronisation.
void synchronize();

}  // namespace neuroncheck::sim
