// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace neuroncheck::worker {

/// Both sides of the worker protocol (docs/worker-protocol.md) must have the same number.
inline constexpr int kProtocolVersion = 1;
/// File name of the only program that links libtorch.
inline constexpr std::string_view kTorchProgram = "neuron-check-torch";
/// Folder of the case worker that the user's Python runs (python/worker of the source tree).
inline constexpr std::string_view kPythonWorker = "python_worker";

}  // namespace neuroncheck::worker
