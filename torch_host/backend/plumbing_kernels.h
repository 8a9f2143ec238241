// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "torch_host/backend/kernel.h"

namespace neuroncheck::backend {

/// Registers the kernels without which no tensor can live on the device: allocation, copies and the
/// views that torch makes through a few operators.
void registerPlumbing(torch::Library& aten);

/// The same kernels by operator ("aten::view"), for a library that registers a kernel of its own
/// and calls them from it.
const std::map<std::string, Kernel>& plumbingKernels();

}  // namespace neuroncheck::backend
