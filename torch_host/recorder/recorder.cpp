// SPDX-License-Identifier: Apache-2.0
#include "torch_host/recorder/recorder.h"

#include "torch_host/backend/alias_engine.h"
#include "torch_host/backend/hooks.h"
#include "torch_host/backend/plumbing_kernels.h"
#include "torch_host/backend/special_kernels.h"
#include "torch_host/recorder/call_log.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <exception>
#include <map>
#include <memory>
#include <sstream>
#include <string>

namespace neuroncheck::recorder {
namespace {

constexpr auto kKey = c10::DispatchKey::PrivateUse1;

/// One library per namespace; dropping it removes the kernels of the set before.
std::map<std::string, std::unique_ptr<torch::Library>>& nativeSet() {
  static auto* set = new std::map<std::string, std::unique_ptr<torch::Library>>;
  return *set;
}

torch::Library& libraryOf(const std::string& nameSpace) {
  std::unique_ptr<torch::Library>& library = nativeSet()[nameSpace];
  if (!library) {
    library =
        std::make_unique<torch::Library>(torch::Library::IMPL, nameSpace, kKey, __FILE__, __LINE__);
  }
  return *library;
}

/// Plumbing that the library registers by itself stays as it is.
bool addNative(const std::string& name) {
  const size_t dot = name.find('.');
  const c10::OperatorName operatorName(name.substr(0, dot),
                                       dot == std::string::npos ? "" : name.substr(dot + 1));
  const auto op = c10::Dispatcher::singleton().findSchema(operatorName);
  const size_t colons = name.find("::");
  if (!op || colons == std::string::npos) {
    return false;
  }
  if (op->hasKernelForDispatchKey(kKey)) {
    return true;
  }
  torch::Library& library = libraryOf(name.substr(0, colons));
  if (const auto special = backend::specialKernel(name)) {
    special->registerOn(library, name.c_str());
  } else {
    library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&backend::runOnAliases>());
  }
  return true;
}

/// Runs when the library is loaded.
const bool kHooked = [] {
  backend::hooks().arrived = &markArrival;
  return true;
}();

}  // namespace
}  // namespace neuroncheck::recorder

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&neuroncheck::backend::runOnAliases>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { neuroncheck::backend::registerPlumbing(m); }

const char* neuron_recorder_set_native(const char* names) {
  using namespace neuroncheck::recorder;
  static std::string refused;
  refused.clear();
  nativeSet().clear();
  bool attention = false;
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) {
    if (name.empty()) {
      continue;
    }
    attention |= name == "aten::_scaled_dot_product_fused_attention_overrideable";
    bool added = false;
    try {
      added = addNative(name);
    } catch (const std::exception&) {
      added = false;  // a name torch itself refuses must not end a process that called through C
    }
    if (!added) {
      refused += name + '\n';
    }
  }
  neuroncheck::backend::setAttentionOverrideable(attention);
  return refused.c_str();
}

void neuron_recorder_start() {
  neuroncheck::backend::gaveUpReason().clear();
  neuroncheck::recorder::startRecording();
}

const char* neuron_recorder_stop() {
  static std::string recording;
  recording = neuroncheck::recorder::stopRecording();
  return recording.c_str();
}

void neuron_recorder_observe(const neuron_recorder_observer* observer) {
  neuroncheck::recorder::setObserver(observer);
}

void neuron_recorder_set_bounds(uint64_t exactBytes, uint64_t cpuBytes) {
  neuroncheck::backend::computeBounds() = {exactBytes, cpuBytes};
}

const char* neuron_recorder_gave_up() { return neuroncheck::backend::gaveUpReason().c_str(); }
