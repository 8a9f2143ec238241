// SPDX-License-Identifier: Apache-2.0
#include "torch_host/trace/recorder_library.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Version.h>
#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck::trace {
namespace {

constexpr const char* kName = "libneuron_recorder.so";

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Result<const RecorderLibrary*> RecorderLibrary::load() {
  static std::optional<RecorderLibrary> loaded;
  if (loaded) {
    return &*loaded;
  }
  // What a sandboxed child cannot ask the system for: what the processor can do, a random seed.
  static_cast<void>(at::get_cpu_capability());
  static_cast<void>(at::detail::getDefaultCPUGenerator());
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::string path = (program.parent_path() / kName).string();
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): there is one thread only
    return fail(ErrorCode::Unavailable, fmt::format("cannot load {}: {}", kName, why));
  }
  RecorderLibrary out;
  if (!resolve(library, "neuron_recorder_set_native", out.setNative_) ||
      !resolve(library, "neuron_recorder_start", out.start) ||
      !resolve(library, "neuron_recorder_stop", out.stop) ||
      !resolve(library, "neuron_recorder_observe", out.observe) ||
      !resolve(library, "neuron_recorder_set_bounds", out.setBounds) ||
      !resolve(library, "neuron_recorder_gave_up", out.gaveUp)) {
    return fail(ErrorCode::Unavailable, fmt::format("{} is of another version", path));
  }
  loaded = out;
  return &*loaded;
}

const std::vector<std::string>& RecorderLibrary::setNative(
    const std::vector<std::string>& names) const {
  static std::optional<std::vector<std::string>> current;
  static std::vector<std::string> refused;
  if (current == names) {
    return refused;
  }
  std::string lines;
  for (const std::string& name : names) {
    lines += name + '\n';
  }
  refused.clear();
  std::istringstream answer(setNative_(lines.c_str()));
  for (std::string name; std::getline(answer, name);) {
    refused.push_back(name);
  }
  current = names;
  return refused;
}

}  // namespace neuroncheck::trace
