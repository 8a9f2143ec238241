// SPDX-License-Identifier: Apache-2.0
#include "torch_host/torchscript/evaluate.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace neuroncheck::torchscript {
namespace {

using torch::jit::Stack;

/// Answers of these depend on the machine or the process, not on the graph.
constexpr auto kOfTheProcess = std::to_array<std::string_view>({"prim::is_cuda",
                                                                "prim::is_cpu",
                                                                "prim::is_xla",
                                                                "prim::is_mps",
                                                                "prim::is_meta",
                                                                "prim::is_mkldnn",
                                                                "prim::is_vulkan",
                                                                "prim::is_xpu",
                                                                "prim::is_mtia",
                                                                "prim::is_ipu",
                                                                "prim::is_maia",
                                                                "prim::requires_grad",
                                                                "aten::is_leaf",
                                                                "aten::is_grad_enabled",
                                                                "aten::get_device",
                                                                "aten::is_pinned",
                                                                "aten::initial_seed",
                                                                "aten::seed",
                                                                "aten::time",
                                                                "aten::data",
                                                                "prim::data",
                                                                "aten::cuda",
                                                                "aten::cpu",
                                                                "aten::to.prim_Device",
                                                                "aten::save",
                                                                "aten::from_file",
                                                                "aten::open_file",
                                                                "aten::manual_seed",
                                                                "prim::rangelist",
                                                                "aten::warn",
                                                                "prim::Print",
                                                                "prim::RaiseException",
                                                                "prim::fork",
                                                                "prim::SetAttr",
                                                                "prim::Enter",
                                                                "prim::Exit",
                                                                "aten::has_torch_function",
                                                                "aten::is_autocast_enabled",
                                                                "aten::is_autocast_cpu_enabled"});

/// Tags of operators whose result follows from the values of a tensor.
bool readsValues(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
}

thread_local bool valueWasRead = false;

/// Called at each operator that a CPU run calls inside.
std::unique_ptr<at::ObserverContext> noteValueReads(const at::RecordFunction& call) {
  const auto op = c10::Dispatcher::singleton().findOp(
      {call.name(), call.operator_name() ? call.operator_name()->overload_name : ""});
  constexpr auto kReaders = std::to_array<std::string_view>(
      {"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::equal",
       "aten::nonzero", "aten::allclose"});
  const bool named = std::ranges::find(kReaders, call.name()) != kReaders.end();
  valueWasRead = valueWasRead || named || (op && op->hasSchema() && readsValues(*op));
  return nullptr;
}

/// Notes, while it lives, whether this thread's operators read values.
class ValueReadWatch {
 public:
  ValueReadWatch()
      : handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(&noteValueReads).scopes({at::RecordScope::FUNCTION}))) {
    valueWasRead = false;
  }
  ValueReadWatch(const ValueReadWatch&) = delete;
  ValueReadWatch& operator=(const ValueReadWatch&) = delete;
  ~ValueReadWatch() { at::removeCallback(handle_); }

 private:
  at::CallbackHandle handle_;
};

at::Tensor onMeta(const at::Tensor& tensor) {
  return at::empty_strided(tensor.sizes(), tensor.strides(),
                           tensor.options().device(c10::kMeta).requires_grad(false));
}

/// Applies `change` to every tensor and device within a value; lists are copied.
template <typename Change>
c10::IValue mapped(const c10::IValue& value, const Change& change) {
  if (value.isTensor() || value.isDevice()) {
    return change(value);
  }
  if (value.isList()) {
    const auto list = value.toList();
    c10::impl::GenericList out(list.elementType());
    for (const c10::IValue& item : list.vec()) {
      out.push_back(mapped(item, change));
    }
    return out;
  }
  if (value.isTuple()) {
    std::vector<c10::IValue> items;
    for (const c10::IValue& item : value.toTupleRef().elements()) {
      items.push_back(mapped(item, change));
    }
    return c10::ivalue::Tuple::create(std::move(items));
  }
  return value;
}

bool holdsTensor(const c10::IValue& value) {
  bool found = false;
  std::ignore = mapped(value, [&found](const c10::IValue& item) {
    found = found || item.isTensor();
    return item;
  });
  return found;
}

/// CPU tensors over zeros that stand for tensors without memory, and the way back.
class ZeroCopies {
 public:
  explicit ZeroCopies(std::int64_t budget) : left_(budget) {}

  c10::IValue toCpu(const c10::IValue& value) {
    return mapped(value, [this](const c10::IValue& item) -> c10::IValue {
      if (item.isDevice()) {
        return c10::Device(c10::kCPU);
      }
      const at::Tensor& tensor = item.toTensor();
      if (!tensor.defined() || !tensor.is_meta()) {
        return item;
      }
      for (const auto& [meta, cpu] : pairs_) {
        if (meta.is_same(tensor)) {
          return cpu;
        }
      }
      left_ -= static_cast<std::int64_t>(tensor.numel()) *
               static_cast<std::int64_t>(tensor.element_size());
      if (left_ < 0) {
        throw std::length_error("operands too large to run for their shapes");
      }
      at::Tensor cpu =
          at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kCPU));
      cpu.zero_();
      pairs_.emplace_back(tensor, cpu);
      return cpu;
    });
  }

  c10::IValue toMeta(const c10::IValue& value) const {
    return mapped(value, [this](const c10::IValue& item) -> c10::IValue {
      if (!item.isTensor() || !item.toTensor().defined()) {
        return item;
      }
      for (const auto& [meta, cpu] : pairs_) {
        if (cpu.is_same(item.toTensor())) {
          return meta;
        }
      }
      return onMeta(item.toTensor());
    });
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
  std::int64_t left_;
};

/// Whether a builtin on texts and lists may make something that large memory goes into: a loop that
/// is followed could double it at each trip.
bool growsTooFar(const std::string& name, const std::vector<c10::IValue>& inputs) {
  constexpr std::size_t kMostItems = std::size_t{1} << 20;
  constexpr auto kRepeat = std::to_array<std::string_view>(
      {"aten::mul", "aten::ljust", "aten::rjust", "aten::center", "aten::zfill"});
  std::size_t items = 0;
  std::int64_t factor = 0;
  for (const c10::IValue& input : inputs) {
    items = std::max(items, input.isList()     ? input.toListRef().size()
                            : input.isString() ? input.toStringRef().size()
                                               : 0);
    factor = std::max(factor, input.isInt() ? input.toInt() : 0);
  }
  const bool repeats = std::ranges::find(kRepeat, name) != kRepeat.end();
  return items > kMostItems ||
         (items > 0 && repeats && factor > static_cast<std::int64_t>(kMostItems));
}

std::vector<c10::IValue> results(Stack& stack, std::size_t count) {
  return {stack.end() - static_cast<std::ptrdiff_t>(std::min(count, stack.size())), stack.end()};
}

std::optional<std::vector<c10::IValue>> runOnMeta(const torch::jit::Node& node,
                                                  const std::vector<c10::IValue>& inputs) {
  Stack stack;
  for (const c10::IValue& input : inputs) {
    // A literal device would allocate there. Lists are passed as they are: appending to one must
    // be seen by those that read it later.
    stack.push_back(input.isDevice() ? c10::IValue(c10::Device(c10::kMeta)) : input);
  }
  node.getOperation()(stack);
  return results(stack, node.outputs().size());
}

std::optional<std::vector<c10::IValue>> runOnZeros(const torch::jit::Node& node,
                                                   const std::vector<c10::IValue>& inputs,
                                                   std::int64_t budget) {
  ZeroCopies copies(budget);
  Stack stack;
  for (const c10::IValue& input : inputs) {
    stack.push_back(copies.toCpu(input));
  }
  const ValueReadWatch watch;
  node.getOperation()(stack);
  if (valueWasRead) {
    return std::nullopt;
  }
  std::vector<c10::IValue> out = results(stack, node.outputs().size());
  for (c10::IValue& value : out) {
    value = copies.toMeta(value);
  }
  return out;
}

/// Nodes that the interpreter does itself, without an operator.
std::optional<std::vector<c10::IValue>> runStructural(const torch::jit::Node& node,
                                                      const std::vector<c10::IValue>& inputs) {
  switch (node.kind()) {
    case c10::prim::ListConstruct: {
      const auto type = node.output()->type()->expect<c10::ListType>();
      c10::impl::GenericList list(type->getElementType());
      for (const c10::IValue& input : inputs) {
        list.push_back(input);
      }
      return std::vector<c10::IValue>{list};
    }
    case c10::prim::TupleConstruct:
      return std::vector<c10::IValue>{c10::ivalue::Tuple::create(inputs)};
    case c10::prim::TupleUnpack:
      return inputs[0].toTupleRef().elements().vec();
    case c10::prim::ListUnpack:
      return inputs[0].toListRef().vec();
    case c10::prim::TupleIndex:
      return std::vector<c10::IValue>{
          inputs[0].toTupleRef().elements().vec().at(static_cast<std::size_t>(inputs[1].toInt()))};
    case c10::prim::unchecked_cast:
      return std::vector<c10::IValue>{inputs[0]};
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Effort::take() {
  spent = spent || left <= 0 || std::chrono::steady_clock::now() >= deadline;
  --left;
  return !spent;
}

std::optional<std::vector<c10::IValue>> evaluate(const torch::jit::Node& node,
                                                 const std::vector<c10::IValue>& inputs,
                                                 Effort& effort, std::string& raised) {
  const auto* schema = node.maybeSchema();
  std::string name = node.kind().toQualString();
  if (std::ranges::find(kOfTheProcess, name) != kOfTheProcess.end() ||
      node.hasAttribute(c10::attr::Subgraph) || !node.blocks().empty() || !effort.take()) {
    return std::nullopt;
  }
  const auto op =
      schema == nullptr
          ? std::nullopt
          : c10::Dispatcher::singleton().findSchema({schema->name(), schema->overload_name()});
  if ((op && readsValues(*op)) || (!op && growsTooFar(name, inputs))) {
    return std::nullopt;
  }
  try {
    if (auto done = runStructural(node, inputs)) {
      return done;
    }
    return runOnMeta(node, inputs);
  } catch (const std::exception&) {
    // No meta kernel, most often; what else it was, the run below meets again. Interpreter
    // operators that fail on a tensor without memory read its values.
    if (!op || std::ranges::none_of(inputs, holdsTensor)) {
      return std::nullopt;
    }
  }
  try {
    return runOnZeros(node, inputs, effort.cpuBytes);
  } catch (const c10::NotImplementedError&) {
    return std::nullopt;
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    raised = text.substr(0, text.find('\n'));
    return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace neuroncheck::torchscript
