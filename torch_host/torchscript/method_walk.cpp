// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/method_walk.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/ScalarType.h>

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

/// Operators that change sizes, strides or storage of a tensor they are given.
bool changesGeometry(const jit::Node& node) {
  const OpName name = opNameOf(node);
  const auto op = c10::Dispatcher::singleton().findSchema(
      {fmt::format("{}::{}", name.ns, name.base), name.overload});
  return (op && op->hasTag(at::Tag::inplace_view)) || name.base.starts_with("resize") ||
         name.base.starts_with("set_") || name.base == "_resize_output_";
}

bool isAutocast(const jit::Node& node) {
  return !node.inputs().empty() &&
         node.input(0)->type()->str().find("autocast") != std::string::npos;
}

constexpr std::string_view kAutocastNote =
    "the method uses autocast: dtypes within and after such a region are not followed";

/// A value within autocast: floating-point operands may be cast before the operator sees them.
ArgValue withoutDtype(const ArgValue& value) {
  const auto* tensor = std::get_if<TensorPtr>(&value);
  if (tensor == nullptr || *tensor == nullptr) {
    return value;
  }
  TensorValue changed = **tensor;
  changed.spec.dtype = DType::Unknown;
  return std::make_shared<const TensorValue>(std::move(changed));
}

bool holdsTensors(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::TensorType ||
         std::ranges::any_of(type->containedTypes(), holdsTensors);
}

/// A node that is an operator, may hide some (calls that are not followed, graphs within), or is a
/// builtin that takes or makes a tensor. What only moves values about is none of these.
bool mayBeJudged(const jit::Node& node) {
  const OpName op = opNameOf(node);
  const bool call = node.kind() == c10::prim::CallMethod || node.kind() == c10::prim::CallFunction;
  if ((op.ns != "prim" && isDispatched(op)) || call ||
      (node.hasAttribute(c10::attr::Subgraph) && node.kind() != c10::prim::fork)) {
    return true;
  }
  const auto* schema = node.maybeSchema();
  const auto ofTensors = [](const c10::Argument& argument) {
    return holdsTensors(argument.type());
  };
  return schema != nullptr && (std::ranges::any_of(schema->arguments(), ofTensors) ||
                               std::ranges::any_of(schema->returns(), ofTensors));
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
  inliner_.inlineCalls(*graph);
  NEURONCHECK_TRY_VOID(bindInputs(*graph, method.function().getSchema(), shapes));
  walkBlock(*graph->block(), {});
  if (effort_.spent) {
    model_.notes.emplace_back(
        "following shapes was stopped at its bound of time: those not reached are unknown");
  }
  for (std::uint32_t id = 0; OpUse & use : model_.uses) {
    use.id = id++;
  }
  model_.operatorFree = !judgeable_ && model_.name != "forward";
  return std::move(model_);
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
    case c10::prim::Enter:
    case c10::prim::Exit:
      if (isAutocast(node)) {
        autocast_ += node.kind() == c10::prim::Enter ? 1 : -1;
        model_.notes.emplace_back(kAutocastNote);
      }
      break;
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

void MethodWalk::walkGetAttr(const jit::Node& node) {
  const std::string& attribute = node.s(c10::attr::name);
  const std::string parent = known_.nameOf(node.input());
  known_.setName(node.output(), parent.empty() ? attribute : parent + "." + attribute);
  const auto object = known_.find(node.input());
  if (!object || !object->isObject() || setSomewhere_.contains(attribute) ||
      !known_.trustsAttribute(*object, attribute)) {
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
  judgeable_ = judgeable_ || mayBeJudged(node);
  const OpName op = opNameOf(node);
  if (op.ns == "prim") {
    ++model_.primOps[op.str()];
  } else if (!isDispatched(op)) {
    ++model_.interpreterOps[op.str()];
  }
}

void MethodWalk::record(const jit::Node& node, const Context& context) {
  const OpName op = opNameOf(node);
  if (op.ns == "prim") {
    return;
  }
  if (!isDispatched(op)) {
    return recordDevices(node, context);
  }
  OpUse use = useOf(node, context);
  for (Argument& argument : use.args) {
    argument.value = autocast_ != 0 ? withoutDtype(argument.value) : argument.value;
  }
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

void MethodWalk::recordDevices(const jit::Node& node, const Context& context) {
  std::vector<Device> devices;
  for (const jit::Value* input : node.inputs()) {
    // A tensor without memory stands for any device: what it answers is no device.
    const ArgValue value = argumentOf(*input, input->type());
    if (const auto* device = std::get_if<Device>(&value)) {
      devices.push_back(*device);
    }
  }
  const OpName op = opNameOf(node);
  if (op.ns == "aten" && (op.base == "cpu" || op.base == "cuda")) {
    devices.push_back({.type = op.base, .index = std::nullopt});
  }
  if (devices.empty() || !withDevices_.insert(&node).second) {
    return;
  }
  const OpUse use = useOf(node, context);
  for (Device& device : devices) {
    model_.deviceLiterals.push_back({.op = use.op,
                                     .device = std::move(device),
                                     .node = use.node,
                                     .graph = use.graph,
                                     .module = use.module,
                                     .source = use.source});
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
  Places places = placesOf(node, inliner_);
  use.source = std::move(places.source);
  use.lastFrame = std::move(places.lastFrame);
  use.module = std::move(places.module);
  use.moduleType = std::move(places.moduleType);
  if (use.module.empty() && use.moduleType.empty()) {
    use.module = context.module;  // of the fork around it
    use.moduleType = context.moduleType;
  }
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

bool MethodWalk::mayReshape(const jit::Node& node, const Context& context) {
  if (!changesGeometry(node)) {
    return true;
  }
  if (context.dead) {
    return false;
  }
  const auto tensor = known_.find(node.input(0));
  if (!tensor) {
    known_.distrustTensors();  // it may be any of them, under another name
    return false;
  }
  if (!context.certain) {
    known_.distrust(*tensor);
    return false;
  }
  return true;
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
    } else if (context.inLoop) {
      written_.push_back(*value);
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
  bool runnable = mayWrite(node, context) && mayReshape(node, context) && autocast_ == 0;
  std::vector<c10::IValue> inputs;
  for (const jit::Value* input : node.inputs()) {
    auto value = known_.find(input);
    runnable = runnable && value.has_value();
    if (runnable) {
      inputs.push_back(*std::move(value));
    }
  }
  const bool stub = stubs_.isStub(kindOf(node));
  std::string raised;
  const auto results = runnable && !stub ? evaluate(node, inputs, effort_, raised) : std::nullopt;
  if (!raised.empty() && !context.dead && uses_.contains(&node)) {
    model_.notes.push_back(fmt::format("{}{} at {}: {}", kRaisesNote, opNameOf(node).str(),
                                       model_.uses[uses_[&node]].source.str(), raised));
  }
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
