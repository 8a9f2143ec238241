// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace neuroncheck::sim {

/// Runs an operator as the device does without faults: a kernel of the backend where it has one,
/// else the CPU's code on the same bytes.
void execute(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Runs it as a fallback does that copies operands to the CPU and results back, so that what should
/// be a view is none.
void fallBackByCopies(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Operators that carry values from place to place and compute nothing.
[[nodiscard]] bool isMove(const std::string& packet);
/// Kernels that only move or describe memory.
[[nodiscard]] bool isPlumbing(const std::string& op);
/// Whether a call of it hands data to the host, so that everything before must have finished.
[[nodiscard]] bool waits(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

}  // namespace neuroncheck::sim
