// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/input_shape.h"
#include "core/inventory.h"
#include "core/result.h"
#include "torch_host/torchscript/call_sites.h"

namespace neuroncheck::torchscript {

/// What to read.
struct ReadOptions {
  int file = -1;                      ///< open descriptor of the archive; only pread is used on it
  std::uint64_t size = 0;             ///< its size in bytes
  std::vector<InputShape> inputs;     ///< of `forward` (or of the only method), tensors in order
  std::vector<CallSite> customCalls;  ///< calls of operators that may need a stub
  std::function<void()> loaded;       ///< called once no code of the file runs any more
};

/// Loads a TorchScript archive with libtorch (parameters on the meta device where that works) and
/// reads every method: one Model each, inlined, with nested blocks and fork subgraphs. Shapes are
/// those of parameters and of what follows from `inputs`; all others are unknown.
///
/// Loading runs code of the file (`__setstate__`, and operators that it calls): call this in a
/// sandbox only. Fails with Input and libtorch's reason when it cannot be loaded.
[[nodiscard]] Result<Inventory> readTorchScript(const ReadOptions& options);

}  // namespace neuroncheck::torchscript
