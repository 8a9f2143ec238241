// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/execution.h"

#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "torch_host/trace/operands.h"

namespace neuroncheck::casework {
namespace {

void appendTensors(const c10::IValue& value, std::vector<at::Tensor>& out) {
  if (value.isTensor()) {
    out.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    std::ranges::copy(value.toTensorVector(), std::back_inserter(out));
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      out.push_back(tensor.value_or(at::Tensor()));
    }
  }
}

bool isAmong(const at::Tensor& tensor, const std::vector<OutputTensor>& outputs) {
  return std::ranges::any_of(outputs, [&](const OutputTensor& output) {
    return output.tensor.defined() && output.tensor.is_same(tensor);
  });
}

/// Results of the call, then what it wrote and did not return.
std::vector<OutputTensor> outputsOf(const c10::FunctionSchema& schema,
                                    const torch::jit::Stack& arguments,
                                    const torch::jit::Stack& results,
                                    const OperandTensors& operands) {
  std::vector<OutputTensor> out;
  for (const c10::IValue& result : results) {
    std::vector<at::Tensor> tensors;
    appendTensors(result, tensors);
    for (at::Tensor& tensor : tensors) {
      const std::int64_t alias = operands.sharedWith(tensor);
      out.push_back({.tensor = std::move(tensor), .alias = alias});
    }
  }
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) {
      continue;
    }
    std::vector<at::Tensor> tensors;
    appendTensors(arguments[i], tensors);
    for (at::Tensor& tensor : tensors) {
      if (tensor.defined() && !isAmong(tensor, out)) {
        const std::int64_t shared = operands.sharedWith(tensor);
        out.push_back({.tensor = std::move(tensor), .alias = shared, .written = true});
      }
    }
  }
  return out;
}

Result<c10::OperatorHandle> operatorOf(const OpName& name) {
  const auto op = c10::Dispatcher::singleton().findSchema(
      {fmt::format("{}::{}", name.ns, name.base), name.overload});
  if (!op) {
    return inputError(fmt::format("libtorch has no operator {}", name.str()));
  }
  return *op;
}

/// What torch.manual_seed does, for one device. The CPU's generator is seeded too: a backend
/// without one of its own may draw from it. False when the device has none that takes a seed.
bool seedGenerators(const c10::Device& device, std::uint64_t seed) {
  const auto set = [seed](const c10::Device& of) {
    at::Generator generator = at::globalContext().defaultGenerator(of);
    const std::scoped_lock lock(generator.mutex());
    generator.set_current_seed(seed);
  };
  set(c10::Device(c10::kCPU));
  if (device.is_cpu()) {
    return true;
  }
  try {
    set(device);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Result<Execution> execute(const Job& job, const Arena& arena, const Manner& manner) {
  const c10::AutoGradMode gradients(job.spec.backward);
  const bool seeded = job.seed && seedGenerators(manner.device, *job.seed);
  std::vector<Execution> done;
  for (std::size_t i = 0; i < job.spec.steps.size(); ++i) {
    const CaseStep& step = job.spec.steps[i];
    NEURONCHECK_TRY(const c10::OperatorHandle op, operatorOf(step.op));
    if (i >= job.operands.size()) {
      return inputError("the operands of a step are missing");
    }
    Execution now;
    now.op = op;
    now.operands = std::make_shared<OperandTensors>(step, arena, job.operands[i], manner.device,
                                                    manner.conversion);
    const trace::MakeTensor make = [&](const CaseValue& value) -> Result<at::Tensor> {
      if (const auto* earlier = std::get_if<CaseResult>(&value.value)) {
        const auto from = static_cast<std::size_t>(earlier->step);
        const auto output = static_cast<std::size_t>(earlier->output);
        if (from >= done.size() || output >= done[from].outputs.size()) {
          return inputError("an earlier step has no such output");
        }
        return done[from].outputs[output].tensor;
      }
      return now.operands->make(std::get<CaseTensor>(value.value));
    };
    NEURONCHECK_TRY(now.arguments, trace::buildArguments(step, op.schema(), manner.device, make));
    if (manner.adjust) {
      manner.adjust(op.schema(), now.arguments);
    }
    if (!manner.call && i + 1 == job.spec.steps.size()) {
      return now;
    }
    torch::jit::Stack stack = now.arguments;
    op.callBoxed(&stack);
    now.outputs = outputsOf(op.schema(), now.arguments, stack, *now.operands);
    done.push_back(std::move(now));
  }
  done.back().seeded = seeded;
  return std::move(done.back());
}

Result<Gradients> gradientsOf(const Execution& execution, const Job& job, const Arena& arena,
                              const Manner& manner) {
  Gradients out;
  torch::autograd::variable_list from;
  torch::autograd::variable_list along;
  for (const OutputTensor& output : execution.outputs) {
    out.cotangents.emplace_back();
    if (!output.tensor.defined() || !output.tensor.requires_grad()) {
      continue;
    }
    const std::size_t next = from.size();
    if (next >= job.cotangents.size()) {
      return inputError("an output has no cotangent");
    }
    const auto bytes = static_cast<std::uint64_t>(output.tensor.numel()) *
                       static_cast<std::uint64_t>(c10::elementSize(c10::kFloat));
    NEURONCHECK_TRY(const at::Tensor flat, arena.view(job.cotangents[next], bytes, c10::kFloat));
    from.push_back(output.tensor);
    along.push_back(
        flat.to(output.tensor.scalar_type()).reshape(output.tensor.sizes()).to(manner.device));
    out.cotangents.back() = along.back();
  }
  torch::autograd::variable_list wanted;
  const OperandLayout& layout = execution.operands->layout();
  for (std::size_t i = 0; i < layout.operands.size(); ++i) {
    const at::Tensor tensor = execution.operands->made(i);
    if (tensor.defined() && tensor.requires_grad()) {
      out.operands.push_back(i);
      wanted.push_back(tensor);
    }
  }
  if (from.empty() || wanted.empty()) {
    return inputError("nothing of it has a gradient");
  }
  out.values = torch::autograd::grad(from, wanted, along, std::nullopt, false, true);
  return out;
}

}  // namespace neuroncheck::casework
