// SPDX-License-Identifier: Apache-2.0
// Branches, loops and forks of a walk: what is known after them.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "torch_host/torchscript/method_walk.h"
#include "torch_host/torchscript/places.h"

namespace neuroncheck::torchscript {
namespace {

namespace jit = torch::jit;

constexpr std::int64_t kMostSteps = 1'000'000;  // visits of nodes with all that is known of them

bool sameGeometry(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.scalar_type() == b.scalar_type() &&
         a.sizes() == b.sizes() && a.layout() == b.layout() &&
         (a.layout() != c10::kStrided || a.strides() == b.strides());
}

/// Whether two values are the same as far as shapes go.
bool interchangeable(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() && b.isTensor()) {
    return sameGeometry(a.toTensor(), b.toTensor());
  }
  if (a.isList() && b.isList()) {
    const auto one = a.toListRef();
    const auto other = b.toListRef();
    // Two lists that are two objects may part later; equal content now is not enough for those
    // that can be written to, so only the same object counts, or lists of plain numbers.
    return a.is(b) || std::equal(one.begin(), one.end(), other.begin(), other.end(),
                                 [](const c10::IValue& x, const c10::IValue& y) {
                                   return x.isInt() && y.isInt() && x.toInt() == y.toInt();
                                 });
  }
  if (a.isInt() && b.isInt()) {
    return a.toInt() == b.toInt();
  }
  if (a.isBool() && b.isBool()) {
    return a.toBool() == b.toBool();
  }
  if (a.isDouble() && b.isDouble()) {
    return a.toDouble() == b.toDouble();
  }
  if (a.isString() && b.isString()) {
    return a.toStringRef() == b.toStringRef();
  }
  return (a.isNone() && b.isNone()) || (a.isObject() && b.isObject() && a.is(b));
}

}  // namespace

std::string MethodWalk::pathOf(const jit::Node& node, const Context& context,
                               std::string_view word) {
  const std::size_t number = blockNumbers_.try_emplace(&node, blockNumbers_.size()).first->second;
  return fmt::format("{}/{}_{}", context.path, word, number);
}

void MethodWalk::walkIf(const jit::Node& node, const Context& context) {
  const auto condition = known_.find(node.input());
  const bool decided = condition && condition->isBool();
  for (std::size_t branch = 0; branch < node.blocks().size(); ++branch) {
    const bool taken = decided && condition->toBool() == (branch == 0);
    Context inside = context;
    inside.path = pathOf(node, context, branch == 0 ? "if" : "else");
    inside.conditional = true;
    inside.certain = context.certain && taken;
    inside.dead = context.dead || (decided && !taken);
    walkBlock(*node.blocks()[branch], inside);
  }
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const jit::Value* out = node.outputs()[i];
    const jit::Value* first = node.blocks()[0]->outputs()[i];
    const jit::Value* second = node.blocks()[1]->outputs()[i];
    const auto one = known_.find(first);
    const auto other = known_.find(second);
    if (decided) {
      assign(out, condition->toBool() ? first : second);
    } else if (one && other && interchangeable(*one, *other)) {
      assign(out, first);
    } else {
      known_.forget(out);
    }
  }
}

void MethodWalk::walkLoop(const jit::Node& node, const Context& context) {
  Context inside = context;
  inside.path = pathOf(node, context, "loop");
  inside.inLoop = true;
  const std::size_t written = written_.size();
  Context once = inside;
  once.certain = false;
  if (steps_ > kMostSteps) {
    // Loops in loops multiply: from here on each body is seen once, with nothing known of it.
    for (const jit::Value* input : node.blocks()[0]->inputs()) {
      known_.forget(input);
    }
    walkBlock(*node.blocks()[0], once);
    for (const jit::Value* output : node.outputs()) {
      known_.forget(output);
    }
  } else if (!unrollLoop(node, inside)) {
    // What some trips have changed cannot be taken back.
    for (std::size_t i = written; i < written_.size(); ++i) {
      known_.distrust(written_[i]);
    }
    settleLoop(node, once);
  }
}

bool MethodWalk::unrollLoop(const jit::Node& node, const Context& inside) {
  constexpr std::int64_t kMostTrips = 64;
  const auto trips = known_.find(node.input(0));
  const auto condition = known_.find(node.input(1));
  if (!trips || !condition || !trips->isInt() || !condition->isBool()) {
    return false;
  }
  const jit::Block& body = *node.blocks()[0];
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    assign(body.inputs()[i + 1], node.input(i + 2));
  }
  bool again = condition->toBool();
  for (std::int64_t trip = 0; again && trip < trips->toInt(); ++trip) {
    known_.set(body.inputs()[0], trip);
    walkBlock(body, inside);
    const auto next = known_.find(body.outputs()[0]);
    if (!next || !next->isBool() || steps_ > kMostSteps || trip == kMostTrips) {
      return false;
    }
    again = next->toBool();
    // All at once: a carried value may be made of another one's value of this trip.
    std::vector<std::optional<c10::IValue>> carried;
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      carried.push_back(known_.find(body.outputs()[i + 1]));
    }
    for (std::size_t i = 0; i < carried.size(); ++i) {
      carried[i] ? known_.set(body.inputs()[i + 1], *carried[i])
                 : known_.forget(body.inputs()[i + 1]);
    }
  }
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    assign(node.outputs()[i], body.inputs()[i + 1]);
  }
  if (trips->toInt() <= 0 || !condition->toBool()) {
    // A body that never runs is listed all the same, and changes nothing.
    Context never = inside;
    never.dead = true;
    walkBlock(body, never);
  }
  return true;
}

void MethodWalk::settleLoop(const jit::Node& node, const Context& inside) {
  const jit::Block& body = *node.blocks()[0];
  std::vector<bool> stable(node.outputs().size(), true);
  for (bool changed = true; changed && steps_ <= kMostSteps;) {
    changed = false;
    known_.forget(body.inputs()[0]);
    for (std::size_t i = 0; i < stable.size(); ++i) {
      stable[i] ? assign(body.inputs()[i + 1], node.input(i + 2))
                : known_.forget(body.inputs()[i + 1]);
    }
    walkBlock(body, inside);
    for (std::size_t i = 0; i < stable.size(); ++i) {
      const auto before = known_.find(body.inputs()[i + 1]);
      const auto after = known_.find(body.outputs()[i + 1]);
      if (stable[i] && !(before && after && interchangeable(*before, *after))) {
        stable[i] = false;
        changed = true;
      }
    }
  }
  if (steps_ > kMostSteps) {
    stable.assign(stable.size(), false);  // not seen to be so
  }
  for (std::size_t i = 0; i < stable.size(); ++i) {
    stable[i] ? assign(node.outputs()[i], node.input(i + 2)) : known_.forget(node.outputs()[i]);
  }
}

void MethodWalk::walkFork(const jit::Node& node, const Context& context) {
  std::shared_ptr<jit::Graph>& graph = forks_[&node];
  const bool isNew = graph == nullptr;
  if (isNew) {
    graph = node.g(c10::attr::Subgraph)->copy();
  }
  const std::size_t count = std::min(graph->inputs().size(), node.inputs().size());
  for (std::size_t i = 0; i < count; ++i) {
    assign(graph->inputs()[i], node.input(i));
  }
  if (isNew) {
    inliner_.inlineFork(*graph, [this](const jit::Value& value) { return known_.nameOf(&value); });
  }
  Context inside = context;
  if (Places places = placesOf(node, inliner_); !places.moduleType.empty()) {
    inside.module = std::move(places.module);
    inside.moduleType = std::move(places.moduleType);
  }
  inside.path = pathOf(node, context, "fork");
  inside.certain = false;
  walkBlock(*graph->block(), inside);
  // The future stands for the value that waiting for it gives.
  if (graph->outputs().size() == 1) {
    assign(node.output(), graph->outputs()[0]);
  }
}

}  // namespace neuroncheck::torchscript
