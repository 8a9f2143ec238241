// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/case_spec.h"
#include "core/result.h"
#include "torch_host/casework/operand_tensors.h"

namespace neuroncheck::casework {

/// A case with the places of its operands in the arena, one list for each step.
struct Job {
  std::size_t index = 0;  ///< within its request
  CaseSpec spec;
  std::vector<std::vector<std::uint64_t>> operands;
  std::vector<std::uint64_t> cotangents;  ///< of the floating-point outputs in order, for "!grad"
  std::optional<std::uint64_t> seed;      ///< of the generators, before the first step
};

/// Changes arguments before an operator is called: numbers and dtypes, for other precisions.
using Adjust = std::function<void(const c10::FunctionSchema&, torch::jit::Stack&)>;

/// How a case is run.
struct Manner {
  c10::Device device = c10::kCPU;
  Conversion conversion{};  ///< of the operands; none: as given
  Adjust adjust{};          ///< of the other arguments; none: as given
  bool call = true;         ///< false: the arguments of the last step are built, and that is all
};

/// One tensor that a step gives back or writes.
struct OutputTensor {
  at::Tensor tensor;        ///< undefined for an optional result that is absent
  std::int64_t alias = -1;  ///< the root operand whose storage it shares
  bool written = false;     ///< an operand that the schema says is written and that is not returned
};

/// What running the last step of a case gave, with the call itself for those who need it.
struct Execution {
  std::optional<c10::OperatorHandle> op;
  torch::jit::Stack arguments;  ///< as the operator got them; tensors may have been written to
  std::vector<OutputTensor> outputs;
  std::shared_ptr<OperandTensors> operands;
  bool seeded = false;  ///< the generator of the device took Job::seed
};

/// Runs the steps of a case in order. Tensors require grad as the case says when it is a gradient
/// case. Input error where an argument cannot be made; throws what the operator throws.
[[nodiscard]] Result<Execution> execute(const Job& job, const Arena& arena, const Manner& manner);

/// Gradients of sum(outputs * cotangents) with respect to the operands that require grad.
struct Gradients {
  std::vector<std::size_t> operands;   ///< of the last step, which each gradient belongs to
  std::vector<at::Tensor> values;      ///< undefined where none flows
  std::vector<at::Tensor> cotangents;  ///< one for each output, undefined where it has no gradient
};

/// Cotangents lie in the arena as fp32 and get the dtype of their output. Input error when nothing
/// has a gradient. Throws what torch throws.
[[nodiscard]] Result<Gradients> gradientsOf(const Execution& execution, const Job& job,
                                            const Arena& arena, const Manner& manner);

}  // namespace neuroncheck::casework
