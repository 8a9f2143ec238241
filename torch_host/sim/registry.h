// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "torch_host/sim/profile.h"

namespace neuroncheck::sim {

struct Unused {
  std::vector<std::string> native, unsupported, refuse;
};

/// Registers the kernels of a profile's native and unsupported operators in place of those of the
/// profile before. Returns the names without effect.
Unused registerOperators(const Profile& profile);

/// Whether calls that the selector may match reach the device: it has a kernel, or torch has none
/// that composes the operator of others.
bool arrives(const Selector& selector);
/// Whether one of the operators that the selector may match can have this fault.
bool canHave(const Fault& fault);

}  // namespace neuroncheck::sim
