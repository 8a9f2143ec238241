// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_host/sim/profile.h"

namespace neuroncheck::sim {

/// Ends or holds up the process as the fault says: segv, abort, exit, sigkill, stack-overflow,
/// hang, hang-with-output, slow, leak. Returns after the last two, and for every other kind.
void disturbProcess(const Fault& fault);

/// Allocates and writes memory until the system refuses or `mebibytes` are taken, then gives all
/// of it back. Returns how many mebibytes it got.
std::int64_t exhaustMemory(std::int64_t mebibytes);

}  // namespace neuroncheck::sim
