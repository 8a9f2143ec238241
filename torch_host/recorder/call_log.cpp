// SPDX-License-Identifier: Apache-2.0
#include "torch_host/recorder/call_log.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <cmath>
#include <cstdio>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace neuroncheck::recorder {
namespace {

constexpr auto kMode = c10::DispatchKey::TESTING_ONLY_GenericMode;

struct Call {
  int depth = 0;
  std::string op;
  std::string inputs;
  std::string outputs;
  bool arrived = false;
  bool raised = false;
};

/// The calls of one recording. Backward runs on a thread of its own, hence the lock. Weak pointers
/// keep the addresses of dead tensors from being used again without keeping their memory.
struct Log {
  std::mutex mutex;
  std::vector<Call> calls;
  std::unordered_map<const c10::TensorImpl*, size_t> ids;
  std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> seen;
  const neuron_recorder_observer* observer = nullptr;
};

Log& log() {
  static auto* instance =
      new Log;  // Outlives static destruction: engine threads may still hold it.
  return *instance;
}

thread_local int callDepth = 0;
thread_local size_t innermost = 0;

size_t tensorId(const at::Tensor& tensor) {
  const auto [place, isNew] = log().ids.try_emplace(tensor.unsafeGetTensorImpl(), log().ids.size());
  if (isNew) {
    log().seen.emplace_back(tensor.getIntrusivePtr());
  }
  return place->second;
}

std::string jsonText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number(double value) {
  if (std::isnan(value)) {
    return "\"NaN\"";
  }
  if (std::isinf(value)) {
    return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";  // A float stays a float, so that 2.0 and 2 remain different constants.
  }
  return text;
}

std::string numbers(c10::IntArrayRef values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    out += (i == 0 ? "" : ",") + std::to_string(values[i]);
  }
  return out + ']';
}

/// torch's Python spelling of a dtype, which is what predicates use.
std::string dtypeName(c10::ScalarType type) { return std::string(c10::getDtypeNames(type).first); }

std::string toJson(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return R"({"t":null})";
  }
  std::string out = "{\"t\":" + std::to_string(tensorId(tensor));
  out += ",\"dtype\":" + jsonText(dtypeName(tensor.scalar_type()));
  out += ",\"size\":" + numbers(tensor.sizes());
  out += ",\"device\":" + jsonText(c10::DeviceTypeName(tensor.device().type(), true));
  if (tensor.layout() == c10::kStrided) {
    out += ",\"stride\":" + numbers(tensor.strides());
    out += std::string(",\"contiguous\":") + (tensor.is_contiguous() ? "true" : "false");
  } else {
    out += ",\"layout\":" + jsonText(c10::str(tensor.layout()));
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    out += ",\"wrapped\":true";
  }
  return out + '}';
}

std::string toJson(const c10::IValue& value);

std::string listJson(c10::ArrayRef<c10::IValue> values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    out += (i == 0 ? "" : ",") + toJson(values[i]);
  }
  return out + ']';
}

std::string toJson(const c10::IValue& value) {
  if (value.isNone()) {
    return "null";
  }
  if (value.isTensor()) {
    return toJson(value.toTensor());
  }
  if (value.isBool()) {
    return value.toBool() ? "true" : "false";
  }
  if (value.isInt()) {
    return std::to_string(value.toInt());
  }
  if (value.isDouble()) {
    return number(value.toDouble());
  }
  if (value.isString()) {
    return jsonText(value.toStringRef());
  }
  if (value.isDevice()) {
    return jsonText(value.toDevice().str());
  }
  if (value.isComplexDouble()) {
    const auto z = value.toComplexDouble();
    return "{\"complex\":[" + number(z.real()) + ',' + number(z.imag()) + "]}";
  }
  if (value.isList()) {
    return listJson(value.toList().vec());
  }
  return "{\"kind\":" + jsonText(value.tagKind()) + '}';
}

std::string inputsJson(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const size_t count = op.schema().arguments().size();
  return listJson(c10::ArrayRef<c10::IValue>(stack).slice(stack.size() - count));
}

/// Enters a call on construction; leaves it, as raised unless `finished` was called, on
/// destruction.
class CallScope {
 public:
  CallScope(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
      : outer_(innermost), op_(op), stack_(stack) {
    const std::lock_guard lock(log().mutex);
    index_ = log().calls.size();
    Call call;
    call.depth = callDepth++;
    call.raised = true;
    if (log().observer != nullptr) {
      log().observer->before(log().observer->context, index_, call.depth, &op, &stack);
    } else {
      call.op = c10::toString(op.operator_name());
      call.inputs = inputsJson(op, stack);
    }
    log().calls.push_back(std::move(call));
    innermost = index_;
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  void finished() {
    const std::lock_guard lock(log().mutex);
    Call& call = log().calls[index_];
    if (log().observer == nullptr) {
      const size_t count = op_.schema().returns().size();
      call.outputs = listJson(c10::ArrayRef<c10::IValue>(stack_).slice(stack_.size() - count));
    }
    call.raised = false;
  }

  ~CallScope() {
    --callDepth;
    innermost = outer_;
    const std::lock_guard lock(log().mutex);
    if (log().observer != nullptr) {
      const Call& call = log().calls[index_];
      log().observer->after(log().observer->context, index_, call.arrived, call.raised, &op_,
                            &stack_);
    }
  }

 private:
  size_t outer_;
  const c10::OperatorHandle& op_;
  const torch::jit::Stack& stack_;
  size_t index_ = 0;
};

void recordCall(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  CallScope call(op, *stack);
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kMode), stack);
  call.finished();
}

}  // namespace

void startRecording() {
  {
    const std::lock_guard lock(log().mutex);
    log().calls.clear();
    log().ids.clear();
    log().seen.clear();
  }
  callDepth = 0;
  c10::impl::tls_set_dispatch_key_included(kMode, true);
}

void setObserver(const neuron_recorder_observer* observer) {
  const std::lock_guard lock(log().mutex);
  log().observer = observer;
}

std::string stopRecording() {
  c10::impl::tls_set_dispatch_key_included(kMode, false);
  const std::lock_guard lock(log().mutex);
  if (log().observer != nullptr) {
    log().calls.clear();
    return "[]";
  }
  std::string out = "[";
  for (const Call& call : log().calls) {
    out += out.size() > 1 ? ",\n" : "";
    out += "{\"d\":" + std::to_string(call.depth) + ",\"op\":" + jsonText(call.op);
    out += ",\"in\":" + call.inputs;
    out += ",\"out\":" + (call.outputs.empty() ? "[]" : call.outputs);
    out += std::string(",\"arrived\":") + (call.arrived ? "true" : "false");
    out += std::string(",\"raised\":") + (call.raised ? "true" : "false") + '}';
  }
  log().calls.clear();
  return out + ']';
}

void markArrival() {
  if (callDepth > 0) {
    const std::lock_guard lock(log().mutex);
    log().calls[innermost].arrived = true;
  }
}

}  // namespace neuroncheck::recorder

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&neuroncheck::recorder::recordCall>());
}
