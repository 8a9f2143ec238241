// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>

#include "core/inventory.h"
#include "torch_host/torchscript/inliner.h"

namespace neuroncheck::torchscript {

/// Where a node comes from.
struct Places {
  SourcePlace source;      ///< innermost frame outside torch, else the innermost one
  SourcePlace lastFrame;   ///< innermost frame
  std::string module;      ///< "encoder.0", as named_modules() has it; empty for the root
  std::string moduleType;  ///< class of that module as the file names it, without mangling
};

/// Original file and line when the archive has debug records, else those of its own source
/// ("code/__torch__.py:11"); for traced graphs from the recorded stack.
[[nodiscard]] Places placesOf(const torch::jit::Node& node, const Inliner& inliner);

}  // namespace neuroncheck::torchscript
