// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/registry.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <map>
#include <memory>

#include "torch_host/backend/plumbing_kernels.h"
#include "torch_host/backend/special_kernels.h"
#include "torch_host/sim/launch.h"

namespace neuroncheck::sim {
namespace {

constexpr auto kKey = c10::DispatchKey::PrivateUse1;
using Libraries = std::map<std::string, std::unique_ptr<torch::Library>>;

/// One library per namespace and key; dropping them removes the kernels.
Libraries& libraries() {
  static auto* all = new Libraries;
  return *all;
}

torch::Library& libraryOf(const std::string& nameSpace, c10::DispatchKey key) {
  std::unique_ptr<torch::Library>& library = libraries()[nameSpace + ' ' + c10::toString(key)];
  if (!library) {
    library =
        std::make_unique<torch::Library>(torch::Library::IMPL, nameSpace, key, __FILE__, __LINE__);
  }
  return *library;
}

using ByPacket = std::map<std::string, std::vector<c10::OperatorName>>;

/// Every operator by its name without overload, as of the last configuration: libraries may have
/// brought new ones.
ByPacket& byPacket() {
  static auto* all = new ByPacket;
  return *all;
}

void listOperators() {
  byPacket().clear();
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    byPacket()[name.name].push_back(name);
  }
}

std::vector<c10::OperatorHandle> overloadsOf(const std::string& packet) {
  std::vector<c10::OperatorHandle> out;
  const auto found = byPacket().find(packet);
  if (found != byPacket().end()) {
    for (const c10::OperatorName& name : found->second) {
      if (const auto op = c10::Dispatcher::singleton().findSchema(name)) {
        out.push_back(*op);
      }
    }
  }
  return out;
}

/// The operators of a profile's name: one overload, or all of a packet.
std::vector<c10::OperatorHandle> operatorsOf(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) {
    return overloadsOf(name);
  }
  const std::string overload = name.substr(dot + 1);
  const auto op = c10::Dispatcher::singleton().findSchema(
      {name.substr(0, dot), overload == "default" ? "" : overload});
  return op ? std::vector{*op} : std::vector<c10::OperatorHandle>{};
}

void registerOperator(const c10::OperatorHandle& op) {
  if (op.hasKernelForDispatchKey(kKey)) {
    return;  // plumbing, or named twice
  }
  const std::string name = c10::toString(op.operator_name());
  const std::string nameSpace = name.substr(0, name.find("::"));
  libraryOf(nameSpace, kKey)
      .impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&launch>());
  const bool composed = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
                        !op.hasKernelForDispatchKey(c10::DispatchKey::AutogradPrivateUse1);
  if (composed) {
    libraryOf(nameSpace, c10::DispatchKey::AutogradPrivateUse1)
        .impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&composeForGradient>());
  }
}

std::vector<std::string> registerNames(const std::unordered_set<std::string>& names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names) {
    const auto ops = operatorsOf(name);
    if (ops.empty()) {
      unknown.push_back(name);
    }
    for (const c10::OperatorHandle& op : ops) {
      registerOperator(op);
    }
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

bool operatorArrives(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  if (op.hasKernelForDispatchKey(kKey)) {
    return true;
  }
  const auto composed = {DispatchKey::CompositeExplicitAutogradNonFunctional,
                         DispatchKey::CompositeExplicitAutograd,
                         DispatchKey::CompositeImplicitAutograd};
  return std::none_of(composed.begin(), composed.end(),
                      [&](DispatchKey key) { return op.hasKernelForDispatchKey(key); });
}

std::vector<c10::OperatorHandle> arrivingOf(const Selector& selector) {
  std::vector<c10::OperatorHandle> out;
  for (const c10::OperatorHandle& op : overloadsOf(selector.packet)) {
    if ((!selector.overload || *selector.overload == op.operator_name().overload_name) &&
        operatorArrives(op)) {
      out.push_back(op);
    }
  }
  return out;
}

}  // namespace

Unused registerOperators(const Profile& profile) {
  libraries().clear();
  listOperators();
  Unused out;
  out.unsupported = registerNames(profile.unsupported);
  out.native = registerNames(profile.native);
  if (profile.allNative) {
    // Operators whose own kernel only raises, or that have none on the CPU.
    for (const char* name :
         {"aten::convolution_overrideable", "aten::convolution_backward_overrideable",
          "aten::_scaled_dot_product_fused_attention_overrideable",
          "aten::_scaled_dot_product_fused_attention_overrideable_backward"}) {
      registerNames({name});
    }
  }
  backend::setAttentionOverrideable(
      profile.allNative ||
      profile.native.contains("aten::_scaled_dot_product_fused_attention_overrideable"));
  for (const Refusal& refusal : profile.refuse) {
    if (!arrives(refusal.calls)) {
      out.refuse.push_back(refusal.calls.packet +
                           (refusal.calls.overload ? '.' + *refusal.calls.overload : ""));
    }
  }
  return out;
}

bool arrives(const Selector& selector) { return !arrivingOf(selector).empty(); }

bool canHave(const Fault& fault) {
  const auto ops = arrivingOf(fault.calls);
  return fault.kind != FaultKind::NoopInplace ||
         std::any_of(ops.begin(), ops.end(),
                     [](const c10::OperatorHandle& op) { return op.schema().is_mutable(); });
}

}  // namespace neuroncheck::sim

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&neuroncheck::sim::launch>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const auto& [name, kernel] : neuroncheck::backend::plumbingKernels()) {
    m.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&neuroncheck::sim::launch>());
  }
}
