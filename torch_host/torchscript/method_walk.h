// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/input_shape.h"
#include "core/inventory.h"
#include "torch_host/torchscript/environment.h"
#include "torch_host/torchscript/evaluate.h"
#include "torch_host/torchscript/inliner.h"
#include "torch_host/torchscript/stubs.h"

namespace neuroncheck::torchscript {

/// Walks the graph of one method in execution order and writes down every operator use: blocks of
/// branches and loops, subgraphs of fork, with what is known of each argument. A node that is
/// visited several times (loops) is one use; what its visits do not agree on is unknown.
class MethodWalk {
 public:
  /// `written`: names of attributes that some method of the module sets; they are never known.
  MethodWalk(const torch::jit::Module& module, const std::set<std::string>& written,
             const StubRegistry& stubs, Inliner& inliner, Effort& effort)
      : module_(module),
        setSomewhere_(written),
        stubs_(stubs),
        inliner_(inliner),
        effort_(effort) {}

  /// Fails with Usage when there are more shapes than the method takes tensors.
  [[nodiscard]] Result<Model> walk(const torch::jit::Method& method,
                                   const std::vector<InputShape>& shapes);

 private:
  /// What holds at a place.
  struct Context {
    std::string path;    ///< of the blocks around it: "/If.0/else"
    std::string module;  ///< that calls the fork around it, and its class
    std::string moduleType;
    bool conditional = false;  ///< shown to people: in a branch
    bool inLoop = false;
    bool certain = true;  ///< surely runs, and once: what it changes stays known
    bool dead = false;    ///< in a branch that is not taken: it changes nothing
  };

  [[nodiscard]] Result<void> bindInputs(torch::jit::Graph& graph, const c10::FunctionSchema& schema,
                                        const std::vector<InputShape>& shapes);
  void walkBlock(const torch::jit::Block& block, const Context& context);
  void walkNode(const torch::jit::Node& node, const Context& context);
  void walkIf(const torch::jit::Node& node, const Context& context);
  void walkLoop(const torch::jit::Node& node, const Context& context);
  /// Walks the body once per trip; false when the trips are not known or too many.
  [[nodiscard]] bool unrollLoop(const torch::jit::Node& node, const Context& inside);
  /// Walks the body with what holds in every trip.
  void settleLoop(const torch::jit::Node& node, const Context& inside);
  void walkFork(const torch::jit::Node& node, const Context& context);
  void walkGetAttr(const torch::jit::Node& node);
  void walkSetAttr(const torch::jit::Node& node, const Context& context);

  void count(const torch::jit::Node& node);
  void record(const torch::jit::Node& node, const Context& context);
  /// Devices that a builtin of the interpreter names: `x.to("cpu")`, `x.cuda()`.
  void recordDevices(const torch::jit::Node& node, const Context& context);
  [[nodiscard]] OpUse useOf(const torch::jit::Node& node, const Context& context) const;
  [[nodiscard]] ArgValue argumentOf(const torch::jit::Value& value, const c10::TypePtr& type) const;
  /// Results of a node from its inputs; forgets them where they cannot be known.
  void propagate(const torch::jit::Node& node, const Context& context);
  /// Whether the node may run although it writes to a container; distrusts the container if not.
  [[nodiscard]] bool mayWrite(const torch::jit::Node& node, const Context& context);
  /// The same for an operator that changes the sizes or strides of its tensor in place.
  [[nodiscard]] bool mayReshape(const torch::jit::Node& node, const Context& context);
  void assign(const torch::jit::Value* to, const torch::jit::Value* from);
  [[nodiscard]] std::string pathOf(const torch::jit::Node& node, const Context& context,
                                   std::string_view word);

  const torch::jit::Module& module_;
  const std::set<std::string>& setSomewhere_;
  const StubRegistry& stubs_;
  Inliner& inliner_;
  Effort& effort_;
  Environment known_;
  Model model_;
  std::unordered_map<const torch::jit::Node*, std::size_t> uses_;
  std::unordered_map<const torch::jit::Node*, std::shared_ptr<torch::jit::Graph>> forks_;
  std::unordered_map<const torch::jit::Node*, std::size_t> blockNumbers_;
  std::set<const torch::jit::Node*> counted_;
  std::set<const torch::jit::Node*> withDevices_;
  std::vector<c10::IValue>
      written_;                ///< containers changed in loops that are followed trip by trip
  bool judgeable_ = false;     ///< it has an operator, or something that may hide one
  std::int64_t autocast_ = 0;  ///< regions of autocast around the current node
  std::int64_t steps_ = 0;     ///< nodes visited, each visit counted
};

}  // namespace neuroncheck::torchscript
