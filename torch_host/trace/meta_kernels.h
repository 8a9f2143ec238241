// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace torch {
class Library;
}

namespace neuroncheck::trace {

/// Registers Meta kernels for operators of which torch has none outside Python. They give the
/// geometry, and the strides, that the CPU kernels give. In force while the result lives.
[[nodiscard]] std::shared_ptr<torch::Library> registerMetaKernels();

}  // namespace neuroncheck::trace
