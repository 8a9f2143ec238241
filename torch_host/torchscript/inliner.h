// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace neuroncheck::torchscript {

/// Inlines calls as torch::jit::Inline does, node for node, with call stacks that are complete:
/// libtorch's keep the name of the last attribute before a call only ("0" of `self.cells[0]`), and
/// nodes within branches and loops of a callee get none. Here a module is named by the whole path
/// from the module that calls it, and every node has its stack.
class Inliner {
 public:
  /// The module whose method a call is of.
  struct Instance {
    std::string path;  ///< from the module that calls it; empty for that one itself
    c10::ClassTypePtr type;
  };
  /// Path of a module that is an input of the graph; empty for the root.
  using PathOf = std::function<std::string(const torch::jit::Value&)>;

  /// Inlines all calls of a graph whose modules are reached from its first input.
  void inlineCalls(torch::jit::Graph& graph);
  /// The same for the graph of a fork, whose inputs are what it captures: `pathOf` gives their
  /// paths, so that modules are named from the root.
  void inlineFork(torch::jit::Graph& graph, const PathOf& pathOf);

  /// The module of one entry of a call stack made here; null for a function.
  [[nodiscard]] const Instance* instanceOf(const torch::jit::InlinedCallStack& entry) const;

 private:
  void inlineBlock(torch::jit::Block& block, const PathOf& pathOf);
  void inlineCall(torch::jit::Node& call, torch::jit::GraphFunction& callee, const PathOf& pathOf);
  /// The callee's graph with its own calls inlined and simplified, as libtorch inlines it; null
  /// within a call of itself.
  std::shared_ptr<torch::jit::Graph> prepared(torch::jit::GraphFunction& callee);

  std::unordered_map<const torch::jit::GraphFunction*, std::shared_ptr<torch::jit::Graph>> done_;
  std::set<const torch::jit::GraphFunction*> open_;
  // libtorch's own record of an instance cannot be made from outside of it.
  std::unordered_map<const torch::jit::InlinedCallStack*, Instance> instances_;
  std::vector<torch::jit::InlinedCallStackPtr> kept_;  ///< so that no two have one address
};

}  // namespace neuroncheck::torchscript
