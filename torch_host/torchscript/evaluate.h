// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/stack.h"

namespace neuroncheck::torchscript {

/// Bounds of what a walk may spend on running operators for their shapes.
struct Effort {
  std::chrono::steady_clock::time_point deadline;
  std::int64_t cpuBytes = std::int64_t{1} << 29;  ///< operands of one run with memory
  std::int64_t left = 200'000;                    ///< nodes that may still be run
  bool spent = false;  ///< set when a bound was met: later results are unknown for that reason

  [[nodiscard]] bool take();
};

/// Runs one node on values that are known, tensors without memory among them, and returns its
/// results. nullopt where that cannot be done without inventing something: the operator's result
/// depends on what is in a tensor, on where tensors live, or on the state of the process; it has no
/// meta kernel and its operands are too large to run it on zeros; it raises; or the effort is
/// spent.
///
/// `raised` is torch's message where the operator refuses the shapes or dtypes of its operands: it
/// raises on tensors without memory and on zeros.
///
/// Results are exact in dtype and sizes. An operator whose CPU run reads a value of a tensor
/// (`item`, `nonzero`, `equal`) gives nothing.
[[nodiscard]] std::optional<std::vector<c10::IValue>> evaluate(
    const torch::jit::Node& node, const std::vector<c10::IValue>& inputs, Effort& effort,
    std::string& raised);

}  // namespace neuroncheck::torchscript
