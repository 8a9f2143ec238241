// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/read_torchscript.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/api/module.h>

#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "torch_host/torchscript/load.h"
#include "torch_host/torchscript/method_walk.h"
#include "torch_host/torchscript/values.h"

namespace neuroncheck::torchscript {
namespace {

constexpr std::chrono::seconds kShapeTime{10};

void addStored(Model& model, const std::string& name, const at::Tensor& tensor, bool parameter) {
  const TensorSpec spec = specOf(tensor);
  model.stored.push_back({.name = name,
                          .spec = spec,
                          .record = {},
                          .recordBytes = spec.byteCount().value_or(-1),
                          .isParameter = parameter});
  model.inputs.push_back(
      {.name = name,
       .kind = parameter ? "PARAMETER" : "BUFFER",
       .target = name,
       .persistent = parameter ? std::nullopt : std::optional(true),
       .value = std::make_shared<const TensorValue>(TensorValue{.name = name, .spec = spec})});
}

/// Every method works on the same parameters and buffers.
void addState(Model& model, const torch::jit::Module& module) {
  std::set<std::string> names;
  for (const auto& parameter : module.named_parameters()) {
    if (names.insert(parameter.name).second) {
      addStored(model, parameter.name, parameter.value, true);
    }
  }
  for (const auto& buffer : module.named_buffers()) {
    if (names.insert(buffer.name).second) {
      addStored(model, buffer.name, buffer.value, false);
    }
  }
}

void collectWritten(const torch::jit::Block& block, std::set<std::string>& names) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == c10::prim::SetAttr) {
      names.insert(node->s(c10::attr::name));
    }
    for (const torch::jit::Block* inner : node->blocks()) {
      collectWritten(*inner, names);
    }
    if (node->hasAttribute(c10::attr::Subgraph)) {
      collectWritten(*node->g(c10::attr::Subgraph)->block(), names);
    }
  }
}

/// Names of the attributes that any method sets, `__setstate__` apart, which has run already.
std::set<std::string> writtenAttributes(const torch::jit::Module& root) {
  std::set<std::string> names;
  for (const torch::jit::Module& module : root.modules()) {
    for (const torch::jit::Method& method : module.get_methods()) {
      if (method.name() != "__setstate__") {
        collectWritten(*method.graph()->block(), names);
      }
    }
  }
  return names;
}

/// Which kernels the custom operators of a method have in this process, where a library brought
/// them.
void noteKernels(Model& model, const StubRegistry& stubs) {
  std::set<std::string> seen;
  for (const OpUse& use : model.uses) {
    const std::string packet = use.op.packet();
    if (use.op.ns == "aten" || stubs.isStub(packet) || !seen.insert(use.op.str()).second) {
      continue;
    }
    const auto op = c10::Dispatcher::singleton().findSchema({packet, use.op.overload});
    if (!op) {
      continue;
    }
    const auto has = [&op](c10::DispatchKey key) { return op->hasKernelForDispatchKey(key); };
    const bool composite = has(c10::DispatchKey::CompositeImplicitAutograd) ||
                           has(c10::DispatchKey::CompositeExplicitAutograd);
    model.notes.push_back(fmt::format(
        "{} is registered here with {}; {}", use.op.str(),
        has(c10::DispatchKey::CPU) ? "a CPU kernel" : "no CPU kernel",
        has(c10::DispatchKey::PrivateUse1) ? "it has a kernel for PrivateUse1, the device's key"
        : composite                        ? "it is composed of other operators, for any device"
                                           : "it has no kernel for PrivateUse1, the device's key"));
  }
}

}  // namespace

Result<Inventory> readTorchScript(const ReadOptions& options) {
  StubRegistry stubs(options.customCalls);
  NEURONCHECK_TRY(const Loaded loaded, loadModule(options.file, options.size, stubs));
  if (options.loaded) {
    options.loaded();
  }
  Inventory inventory;
  inventory.kind = FileKind::TorchScript;
  const auto methods = loaded.module.get_methods();
  if (!options.inputs.empty() && methods.empty()) {
    return inputError("the module has no method that could take --input-shape");
  }
  const std::set<std::string> written = writtenAttributes(loaded.module);
  Inliner inliner;
  Effort effort{.deadline = std::chrono::steady_clock::now() + kShapeTime};
  for (const torch::jit::Method& method : methods) {
    const bool shaped = method.name() == "forward" || methods.size() == 1;
    MethodWalk walk(loaded.module, written, stubs, inliner, effort);
    NEURONCHECK_TRY(Model model,
                    walk.walk(method, shaped ? options.inputs : std::vector<InputShape>{}));
    addState(model, loaded.module);
    noteKernels(model, stubs);
    model.notes.insert(model.notes.end(), loaded.notes.begin(), loaded.notes.end());
    for (const std::string& schema : stubs.schemas()) {
      model.notes.push_back(
          fmt::format("nobody registers this operator here (--load-library FILE does, if you have "
                      "its library); "
                      "its schema is guessed from its calls: {}",
                      schema));
    }
    inventory.models.push_back(std::move(model));
  }
  return inventory;
}

}  // namespace neuroncheck::torchscript
