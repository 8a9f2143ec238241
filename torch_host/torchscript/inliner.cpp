// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/inliner.h"

#include <torch/csrc/jit/api/function_impl.h>

#include <optional>
#include <utility>
#include <vector>

namespace neuroncheck::torchscript {
namespace {

namespace jit = torch::jit;

using NodePairs = std::vector<std::pair<const jit::Node*, jit::Node*>>;

/// A value as attributes of another one: "cells.0" of a graph's first input.
std::pair<const jit::Value*, std::string> pathTo(const jit::Value* value) {
  std::string path;
  while (value->node()->kind() == c10::prim::GetAttr) {
    path.insert(0, path.empty() ? "" : ".").insert(0, value->node()->s(c10::attr::name));
    value = value->node()->input();
  }
  return {value, path};
}

std::optional<Inliner::Instance> calledModule(const jit::Node& call,
                                              const Inliner::PathOf& pathOf) {
  const auto type = call.input(0)->type()->cast<c10::ClassType>();
  if (call.kind() != c10::prim::CallMethod || !type || !type->is_module()) {
    return std::nullopt;
  }
  const auto [from, attributes] = pathTo(call.input(0));
  std::string path = pathOf(*from);
  path += path.empty() || attributes.empty() ? attributes : "." + attributes;
  return Inliner::Instance{.path = std::move(path), .type = type};
}

/// Pairs the nodes of a graph with those of its copy, blocks within included; false when they are
/// not alike.
bool pairUp(const jit::Block& block, const std::vector<jit::Node*>& copies, NodePairs& pairs) {
  std::size_t i = 0;
  for (const jit::Node* node : block.nodes()) {
    if (i == copies.size() || copies[i]->kind() != node->kind() ||
        copies[i]->blocks().size() != node->blocks().size()) {
      return false;
    }
    jit::Node* copy = copies[i++];
    pairs.emplace_back(node, copy);
    for (std::size_t b = 0; b < node->blocks().size(); ++b) {
      auto inner = copy->blocks()[b]->nodes();
      if (!pairUp(*node->blocks()[b], {inner.begin(), inner.end()}, pairs)) {
        return false;
      }
    }
  }
  return i == copies.size();
}

}  // namespace

void Inliner::inlineCalls(jit::Graph& graph) {
  inlineBlock(*graph.block(), [](const jit::Value&) { return std::string(); });
}

void Inliner::inlineFork(jit::Graph& graph, const PathOf& pathOf) {
  inlineBlock(*graph.block(), pathOf);
}

void Inliner::inlineBlock(jit::Block& block, const PathOf& pathOf) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    jit::Node* node = *it++;
    for (jit::Block* inner : node->blocks()) {
      inlineBlock(*inner, pathOf);
    }
    jit::GraphFunction* callee = nullptr;
    if (node->kind() == c10::prim::CallFunction) {
      const auto type = node->input(0)->type()->cast<c10::FunctionType>();
      callee = type ? jit::tryToGraphFunction(*type->function()) : nullptr;
    } else if (node->kind() == c10::prim::CallMethod) {
      const auto type = node->input(0)->type()->cast<c10::ClassType>();
      jit::Function* method = type ? type->findMethod(node->s(c10::attr::name)) : nullptr;
      callee = method != nullptr ? jit::tryToGraphFunction(*method) : nullptr;
    }
    if (callee != nullptr) {
      inlineCall(*node, *callee, pathOf);
    }
  }
}

void Inliner::inlineCall(jit::Node& call, jit::GraphFunction& callee, const PathOf& pathOf) {
  const std::shared_ptr<jit::Graph> body = prepared(callee);
  if (!body) {
    return;
  }
  const auto instance = calledModule(call, pathOf);
  const jit::SourceRange place = call.sourceRange();
  if (call.kind() == c10::prim::CallFunction) {
    call.removeInput(0);
  }
  const jit::Node* before = call.prev();
  const jit::Node* after = call.next();
  jit::Block& block = *call.owningBlock();
  jit::inlineCallTo(&call, &callee, body.get());
  std::vector<jit::Node*> copies;
  auto it = before == block.param_node() || before == block.return_node()
                ? block.nodes().begin()
                : std::next(const_cast<jit::Node*>(before)->iterator());
  for (; it != block.nodes().end() && *it != after; ++it) {
    copies.push_back(*it);
  }
  NodePairs pairs;
  if (!pairUp(*body->block(), copies, pairs)) {
    return;  // as libtorch left them
  }
  std::unordered_map<const jit::InlinedCallStack*, jit::InlinedCallStackPtr> stacks;
  for (const auto& [node, copy] : pairs) {
    const auto inner = node->callstack();
    jit::InlinedCallStackPtr& stack = stacks[inner ? inner->get() : nullptr];
    if (!stack) {
      stack = inner ? c10::make_intrusive<jit::InlinedCallStack>(*inner, &callee, place)
                    : c10::make_intrusive<jit::InlinedCallStack>(&callee, place);
      kept_.push_back(stack);
      if (instance) {
        instances_.emplace(stack.get(), *instance);
      }
    }
    copy->setCallStack(stack);
  }
}

const Inliner::Instance* Inliner::instanceOf(const jit::InlinedCallStack& entry) const {
  const auto found = instances_.find(&entry);
  return found == instances_.end() ? nullptr : &found->second;
}

std::shared_ptr<jit::Graph> Inliner::prepared(jit::GraphFunction& callee) {
  if (const auto found = done_.find(&callee); found != done_.end()) {
    return found->second;
  }
  if (!open_.insert(&callee).second) {
    return nullptr;
  }
  std::shared_ptr<jit::Graph> graph = callee.graph()->copy();
  inlineCalls(*graph);
  jit::preoptimizeGraph(graph);
  open_.erase(&callee);
  return done_.emplace(&callee, std::move(graph)).first->second;
}

}  // namespace neuroncheck::torchscript
