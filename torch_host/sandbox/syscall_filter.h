// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_host/sandbox/sandbox.h"

namespace neuroncheck::sandbox {

/// Installs the seccomp filter of enterSandbox; false when the kernel refuses it. Calls outside the
/// list raise SIGSYS, whose handler notes them and makes them fail with EPERM.
bool installSyscallFilter(const SandboxOptions& options);

}  // namespace neuroncheck::sandbox
