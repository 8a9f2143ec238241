// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "torch_host/torchscript/stubs.h"

namespace neuroncheck::torchscript {

struct Loaded {
  torch::jit::Module module;
  bool onMeta = true;  ///< parameters have no memory; false when that was not possible
  std::vector<std::string> notes;
};

/// Loads the archive: on the meta device first, then as it is (quantised modules and some
/// `__setstate__` need memory). Operators that nobody registers get stubs in `stubs`, which must
/// outlive the module.
[[nodiscard]] Result<Loaded> loadModule(int file, std::uint64_t size, StubRegistry& stubs);

}  // namespace neuroncheck::torchscript
