// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/dispatch_class.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace neuroncheck::casework {
namespace {

/// The out= overload that a structured operator's default kernel calls: the same base name without
/// a trailing "_", and the same arguments but for those that are written.
std::optional<c10::OperatorHandle> twinOf(const c10::OperatorHandle& op) {
  std::string base = op.schema().name();
  if (base.ends_with('_') && !base.ends_with("__")) {
    base.pop_back();
  }
  const auto& wanted = op.schema().arguments();
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name != base || name.overload_name == op.schema().overload_name()) {
      continue;
    }
    const auto candidate = c10::Dispatcher::singleton().findSchema(name);
    if (!candidate || !candidate->schema().is_mutable()) {
      continue;
    }
    std::vector<const c10::Argument*> read;
    for (const c10::Argument& argument : candidate->schema().arguments()) {
      if (!argument.is_out()) {
        read.push_back(&argument);
      }
    }
    const bool same = std::ranges::equal(wanted, read, [](const auto& a, const auto* b) {
      return a.name() == b->name() && *a.type() == *b->type();
    });
    if (same && read.size() < candidate->schema().arguments().size()) {
      return candidate;
    }
  }
  return std::nullopt;
}

DispatchClass fresh(const c10::OperatorHandle& op, c10::DispatchKey key) {
  if (op.hasKernelForDispatchKey(key)) {
    return DispatchClass::Direct;
  }
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional)) {
    const auto twin = twinOf(op);
    return twin ? dispatchClassOf(*twin, key) : DispatchClass::Composite;
  }
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) {
    return DispatchClass::Composite;
  }
  return c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(key)
             ? DispatchClass::Fallback
             : DispatchClass::Missing;
}

struct Watched {
  std::mutex mutex;
  std::set<std::string> fellBack;
  c10::DispatchKey key = c10::DispatchKey::PrivateUse1;
};

Watched& watched() {
  static Watched one;
  return one;
}

/// Whether what begins now lies within a kernel that is not looked into, on this thread.
thread_local int hiddenDepth = 0;

struct HiddenMark : at::ObserverContext {};

std::unique_ptr<at::ObserverContext> began(const at::RecordFunction& call) {
  if (hiddenDepth > 0) {
    ++hiddenDepth;
    return std::make_unique<HiddenMark>();
  }
  const auto name = call.operator_name();
  const auto op = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
  if (!op) {
    return nullptr;
  }
  Watched& to = watched();
  const std::scoped_lock lock(to.mutex);
  const DispatchClass found = dispatchClassOf(*op, to.key);
  if (found == DispatchClass::Composite || found == DispatchClass::Missing) {
    return nullptr;
  }
  if (found == DispatchClass::Fallback) {
    to.fellBack.insert(c10::toString(*name));
  }
  ++hiddenDepth;
  return std::make_unique<HiddenMark>();
}

void ended(const at::RecordFunction& /*call*/, at::ObserverContext* mark) {
  if (mark != nullptr) {
    --hiddenDepth;
  }
}

}  // namespace

std::string_view name(DispatchClass dispatchClass) {
  switch (dispatchClass) {
    case DispatchClass::Direct:
      return "direct";
    case DispatchClass::Composite:
      return "composite";
    case DispatchClass::Fallback:
      return "fallback";
    case DispatchClass::Missing:
      break;
  }
  return "missing";
}

DispatchClass dispatchClassOf(const c10::OperatorHandle& op, c10::DispatchKey key) {
  // The twin is searched among thousands of operators.
  static std::map<std::pair<c10::OperatorName, c10::DispatchKey>, DispatchClass,
                  decltype([](const auto& a, const auto& b) {
                    return std::tie(a.first.name, a.first.overload_name, a.second) <
                           std::tie(b.first.name, b.first.overload_name, b.second);
                  })>
      known;
  const std::pair place(op.operator_name(), key);
  if (const auto found = known.find(place); found != known.end()) {
    return found->second;
  }
  const DispatchClass found = fresh(op, key);
  known.emplace(place, found);
  return found;
}

FallbackWatch::FallbackWatch(c10::DispatchKey key) : handle_(0) {
  Watched& to = watched();
  to.key = key;
  to.fellBack.clear();
  handle_ = at::addGlobalCallback(
      at::RecordFunctionCallback(&began, &ended).scopes({at::RecordScope::FUNCTION}));
}

FallbackWatch::~FallbackWatch() { at::removeCallback(handle_); }

std::vector<std::string> FallbackWatch::fellBack() const {
  Watched& from = watched();
  const std::scoped_lock lock(from.mutex);
  return {from.fellBack.begin(), from.fellBack.end()};
}

}  // namespace neuroncheck::casework
