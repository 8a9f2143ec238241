// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/method_walk.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/ScalarType.h>
#include <c10/util/strides.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_host/torchscript/places.h"
#include "torch_host/torchscript/values.h"

namespace neuroncheck::torchscript {
namespace {

namespace jit = torch::jit;

constexpr std::int64_t kMostSteps = 1'000'000;  // visits of nodes with all that is known of them

std::string kindOf(const jit::Node& node) { return node.kind().toQualString(); }

OpName opNameOf(const jit::Node& node) {
  const std::string kind = kindOf(node);
  const std::size_t colons = kind.find("::");
  OpName name{.ns = kind.substr(0, colons), .base = kind.substr(colons + 2), .overload = {}};
  if (const auto* schema = node.maybeSchema()) {
    name.overload = schema->overload_name();
  }
  return name;
}

/// Operators of the dispatcher; others are builtins of the interpreter.
bool isDispatched(const OpName& op) {
  return c10::Dispatcher::singleton()
      .findSchema({fmt::format("{}::{}", op.ns, op.base), op.overload})
      .has_value();
}

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

/// Tensors lose their memory and keep their shape; quantised ones, which cannot, stay.
c10::IValue withoutMemory(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) {
    return value;
  }
  const at::Tensor& tensor = value.toTensor();
  if (tensor.is_meta() || tensor.is_quantized() || tensor.layout() != c10::kStrided) {
    return value;
  }
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           tensor.options().device(c10::kMeta).requires_grad(false));
}

bool readsNothing(const jit::Node& node) {
  return !node.outputs().empty() && std::ranges::all_of(node.outputs(), [](const jit::Value* out) {
    return out->uses().empty();
  });
}

}  // namespace

Result<Model> MethodWalk::walk(const jit::Method& method, const std::vector<InputShape>& shapes) {
  model_.name = method.name();
  model_.dialect = "torchscript";
  model_.shapes = shapes.empty() ? ShapeOrigin::Unknown : ShapeOrigin::Propagated;
  const std::shared_ptr<jit::Graph> graph = method.graph()->copy();
  jit::Inline(*graph);
  NEURONCHECK_TRY_VOID(bindInputs(*graph, shapes));
  walkBlock(*graph->block(), {});
  if (effort_.spent) {
    model_.notes.emplace_back(
        "following shapes was stopped at its bound of time: those not reached are unknown");
  }
  for (std::uint32_t id = 0; OpUse & use : model_.uses) {
    use.id = id++;
  }
  return std::move(model_);
}

Result<void> MethodWalk::bindInputs(jit::Graph& graph, const std::vector<InputShape>& shapes) {
  const auto inputs = graph.inputs();
  known_.set(inputs.front(), module_._ivalue());
  std::size_t given = 0;
  std::vector<std::string> names;
  for (const jit::Value* input : inputs.slice(1)) {
    const bool tensor = input->type()->kind() == c10::TypeKind::TensorType;
    const std::string name = input->debugNameBase();
    if (tensor) {
      names.push_back(name);
    }
    if (tensor && given < shapes.size()) {
      const InputShape& shape = shapes[given++];
      const auto type =
          c10::getStringToDtypeMap().find(std::string(neuroncheck::name(shape.dtype)));
      known_.set(input, at::empty_strided(shape.sizes, c10::contiguous_strides(shape.sizes),
                                          at::TensorOptions(c10::kMeta).dtype(type->second)));
    }
    model_.inputs.push_back({.name = name,
                             .kind = "USER_INPUT",
                             .target = {},
                             .persistent = std::nullopt,
                             .value = argumentOf(*input, input->type())});
  }
  if (shapes.size() > names.size()) {
    return fail(ErrorCode::Usage,
                fmt::format("{} takes {} tensors ({}), but {} input shapes are given", model_.name,
                            names.size(), fmt::join(names, ", "), shapes.size()));
  }
  if (!shapes.empty() && shapes.size() < names.size()) {
    model_.notes.push_back(fmt::format("no shape is given for {}", names[shapes.size()]));
  }
  return {};
}

void MethodWalk::walkBlock(const jit::Block& block, const Context& context) {
  for (const jit::Node* node : block.nodes()) {
    walkNode(*node, context);
  }
}

void MethodWalk::walkNode(const jit::Node& node, const Context& context) {
  count(node);
  ++steps_;
  switch (node.kind()) {
    case c10::prim::If:
      return walkIf(node, context);
    case c10::prim::Loop:
      return walkLoop(node, context);
    case c10::prim::fork:
      return walkFork(node, context);
    case c10::prim::GetAttr:
      return walkGetAttr(node);
    case c10::prim::SetAttr:
      return walkSetAttr(node, context);
    case c10::prim::CallMethod:
    case c10::prim::CallFunction:
      model_.notes.push_back(
          fmt::format("a call is not followed, and what it does is not listed: {}",
                      node.hasAttribute(c10::attr::name) ? node.s(c10::attr::name) : kindOf(node)));
      break;
    default:
      break;
  }
  for (const jit::Block* block : node.blocks()) {
    Context inside = context;
    inside.conditional = true;
    inside.certain = false;
    walkBlock(*block, inside);
  }
  record(node, context);
  propagate(node, context);
}

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
  inside.certain = false;
  if (steps_ > kMostSteps) {
    // Loops in loops multiply: from here on each body is seen once, with nothing known of it.
    for (const jit::Value* input : node.blocks()[0]->inputs()) {
      known_.forget(input);
    }
    walkBlock(*node.blocks()[0], inside);
    for (const jit::Value* output : node.outputs()) {
      known_.forget(output);
    }
  } else if (!unrollLoop(node, inside)) {
    settleLoop(node, inside);
  }
}

bool MethodWalk::unrollLoop(const jit::Node& node, const Context& inside) {
  constexpr std::int64_t kMostTrips = 64;
  const auto trips = known_.find(node.input(0));
  const auto condition = known_.find(node.input(1));
  if (!trips || !condition || !trips->isInt() || !condition->isBool() ||
      trips->toInt() > kMostTrips) {
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
    if (!next || !next->isBool() || steps_ > kMostSteps) {
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
  for (std::size_t i = 0; i < stable.size(); ++i) {
    stable[i] ? assign(node.outputs()[i], node.input(i + 2)) : known_.forget(node.outputs()[i]);
  }
}

void MethodWalk::walkFork(const jit::Node& node, const Context& context) {
  std::shared_ptr<jit::Graph>& graph = forks_[&node];
  if (!graph) {
    graph = node.g(c10::attr::Subgraph)->copy();
    jit::Inline(*graph);
  }
  const std::size_t count = std::min(graph->inputs().size(), node.inputs().size());
  for (std::size_t i = 0; i < count; ++i) {
    assign(graph->inputs()[i], node.input(i));
  }
  Context inside = context;
  inside.path = pathOf(node, context, "fork");
  inside.certain = false;
  walkBlock(*graph->block(), inside);
  // The future stands for the value that waiting for it gives.
  if (graph->outputs().size() == 1) {
    assign(node.output(), graph->outputs()[0]);
  }
}

void MethodWalk::walkGetAttr(const jit::Node& node) {
  const std::string& attribute = node.s(c10::attr::name);
  const std::string parent = known_.nameOf(node.input());
  known_.setName(node.output(), parent.empty() ? attribute : parent + "." + attribute);
  const auto object = known_.find(node.input());
  if (!object || !object->isObject() || !known_.trustsAttribute(*object, attribute)) {
    known_.forget(node.output());
    return;
  }
  const auto type = object->toObject()->type();
  if (!type->findAttributeSlot(attribute)) {
    known_.forget(node.output());
    return;
  }
  known_.set(node.output(), withoutMemory(object->toObject()->getAttr(attribute)));
}

void MethodWalk::walkSetAttr(const jit::Node& node, const Context& context) {
  const auto object = known_.find(node.input(0));
  if (object && !context.dead) {
    known_.distrustAttribute(*object, node.s(c10::attr::name));
  }
}

void MethodWalk::count(const jit::Node& node) {
  if (!counted_.insert(&node).second) {
    return;
  }
  ++model_.nodeCount;
  const OpName op = opNameOf(node);
  if (op.ns == "prim") {
    ++model_.primOps[op.str()];
  } else if (!isDispatched(op)) {
    ++model_.interpreterOps[op.str()];
  }
}

void MethodWalk::record(const jit::Node& node, const Context& context) {
  const OpName op = opNameOf(node);
  if (op.ns == "prim" || !isDispatched(op)) {
    return;
  }
  OpUse use = useOf(node, context);
  const auto [place, isNew] = uses_.try_emplace(&node, model_.uses.size());
  if (isNew) {
    model_.uses.push_back(std::move(use));
    return;
  }
  OpUse& seen = model_.uses[place->second];
  for (std::size_t i = 0; i < seen.args.size(); ++i) {
    seen.args[i].value = agreed(seen.args[i].value, use.args[i].value);
  }
}

OpUse MethodWalk::useOf(const jit::Node& node, const Context& context) const {
  OpUse use;
  use.op = opNameOf(node);
  use.node = node.outputs().empty() ? use.op.base : node.output(0)->debugName();
  const auto* schema = node.maybeSchema();
  const bool stub = stubs_.isStub(kindOf(node));
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const bool declared = schema != nullptr && i < schema->arguments().size();
    use.args.push_back(
        {.name = declared && !stub ? schema->arguments()[i].name() : std::string(),
         .value = argumentOf(*node.input(i), declared && !stub ? schema->arguments()[i].real_type()
                                                               : node.input(i)->type()),
         .isDefault = false});
  }
  Places places = placesOf(node);
  use.source = std::move(places.source);
  use.lastFrame = std::move(places.lastFrame);
  use.module = std::move(places.module);
  use.moduleType = std::move(places.moduleType);
  use.graph = context.path;
  use.conditional = context.conditional;
  use.inLoop = context.inLoop;
  use.unused =
      readsNothing(node) && !node.hasSideEffects() && (schema == nullptr || !schema->is_mutable());
  return use;
}

ArgValue MethodWalk::argumentOf(const jit::Value& value, const c10::TypePtr& type) const {
  std::string name = known_.nameOf(&value);
  if (name.empty()) {
    name = value.debugName();
  }
  const auto known = known_.find(&value);
  if (known) {
    return knownValue(*known, type, name);
  }
  // The type of the value says more than the schema's where that is Any or optional.
  const bool tensor = value.type()->kind() == c10::TypeKind::TensorType;
  return unknownValue(tensor ? value.type() : type, name);
}

void MethodWalk::assign(const jit::Value* to, const jit::Value* from) {
  if (const auto value = known_.find(from)) {
    known_.set(to, *value);
  } else {
    known_.forget(to);
  }
  if (std::string name = known_.nameOf(from); !name.empty()) {
    known_.setName(to, std::move(name));
  }
}

bool MethodWalk::mayWrite(const jit::Node& node, const Context& context) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) {
    return true;
  }
  bool may = true;
  for (std::size_t i = 0; i < std::min(schema->arguments().size(), node.inputs().size()); ++i) {
    const auto* alias = schema->arguments()[i].alias_info();
    const auto value = known_.find(node.input(i));
    if (alias == nullptr || !alias->isWrite() || !value ||
        !(value->isList() || value->isGenericDict())) {
      continue;
    }
    // A list of the module itself is shared by all methods.
    const bool ours = known_.nameOf(node.input(i)).empty();
    if (context.dead) {
      may = false;
    } else if (!context.certain || !ours) {
      known_.distrust(*value);
      may = false;
    }
  }
  return may;
}

void MethodWalk::propagate(const jit::Node& node, const Context& context) {
  if (node.kind() == c10::aten::wait && node.inputs().size() == 1) {
    return assign(node.output(), node.input());
  }
  if (node.kind() == c10::prim::Constant) {
    const auto value = jit::toIValue(node.output());
    value ? known_.set(node.output(), withoutMemory(*value)) : known_.forget(node.output());
    return;
  }
  bool runnable = mayWrite(node, context);
  std::vector<c10::IValue> inputs;
  for (const jit::Value* input : node.inputs()) {
    auto value = known_.find(input);
    runnable = runnable && value.has_value();
    if (runnable) {
      inputs.push_back(*std::move(value));
    }
  }
  const bool stub = stubs_.isStub(kindOf(node));
  const auto results = runnable && !stub ? evaluate(node, inputs, effort_) : std::nullopt;
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    known_.forget(node.outputs()[i]);
    if (results && i < results->size()) {
      known_.set(node.outputs()[i], (*results)[i]);
    }
  }
  if (const auto use = uses_.find(&node); use != uses_.end()) {
    OpUse& seen = model_.uses[use->second];
    const bool first = seen.outputs.empty();
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      const ArgValue value = argumentOf(*node.outputs()[i], node.outputs()[i]->type());
      if (first) {
        seen.outputs.push_back(value);
      } else {
        seen.outputs[i] = agreed(seen.outputs[i], value);
      }
    }
  }
}

}  // namespace neuroncheck::torchscript
