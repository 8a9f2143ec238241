// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sim/sim.h"

#include <exception>
#include <string>

#include <nlohmann/json.hpp>

#include "torch_host/backend/hooks.h"
#include "torch_host/sim/launch.h"
#include "torch_host/sim/profile.h"
#include "torch_host/sim/registry.h"
#include "torch_host/sim/state.h"

namespace neuroncheck::sim {
namespace {

Unused& unused() {
  static auto* names = new Unused;
  return *names;
}

std::string& lastError() {
  static auto* text = new std::string;
  return *text;
}

/// Configuring is undone when a fault could never fire: what was not injected must not look as if
/// it had been.
std::string configure(const char* json) {
  auto parsed = parseProfile(json);
  if (!parsed) {
    return parsed.error().text();
  }
  DeviceState& state = DeviceState::get();
  const auto before = state.profile();
  Unused names = registerOperators(*parsed);
  std::string reason;
  for (std::size_t i = 0; i < parsed->faults.size() && reason.empty(); ++i) {
    const Fault& fault = parsed->faults[i];
    const std::string place = "faults[" + std::to_string(i) + "].";
    if (!arrives(fault.calls)) {
      reason = place + "op: " + fault.calls.packet +
               " never reaches the device: no such operator, or torch composes it of others";
    } else if (!canHave(fault)) {
      reason = place + "kind: " + fault.calls.packet + " writes nothing in place";
    }
  }
  for (const SpecialValue& special : parsed->specialValues) {
    if (reason.empty() && !arrives(special.calls)) {
      reason = "special_values: " + special.calls.packet + " never reaches the device";
    }
  }
  if (reason.empty()) {
    reason = state.reset(std::move(*parsed));
  }
  if (!reason.empty()) {
    registerOperators(*before);
    return reason;
  }
  unused() = std::move(names);
  return {};
}

const bool kHooked = [] {
  backend::hooks().synchronize = &synchronize;
  return true;
}();

}  // namespace
}  // namespace neuroncheck::sim

// No exception may leave a function that C calls.
const char* neuron_sim_configure(const char* json) {
  static std::string reason;
  try {
    reason = neuroncheck::sim::configure(json);
  } catch (const std::exception& error) {
    reason = std::string("not possible: ") + error.what();
  }
  return reason.c_str();
}

const char* neuron_sim_unused() {
  static std::string text;
  const auto& names = neuroncheck::sim::unused();
  text =
      nlohmann::ordered_json{
          {"native", names.native}, {"unsupported", names.unsupported}, {"refuse", names.refuse}}
          .dump();
  return text.c_str();
}

const char* neuron_sim_take_log() {
  static std::string text;
  text = neuroncheck::sim::DeviceState::get().takeLog();
  return text.c_str();
}

const char* neuron_sim_take_fired() {
  static std::string text;
  text = neuroncheck::sim::DeviceState::get().takeFired();
  return text.c_str();
}

int neuron_sim_synchronize() {
  const auto pending = neuroncheck::sim::DeviceState::get().takePending();
  neuroncheck::sim::lastError() = pending ? pending->message : "";
  return pending ? 1 : 0;
}

const char* neuron_sim_error() { return neuroncheck::sim::lastError().c_str(); }
