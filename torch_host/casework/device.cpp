// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/device.h"

#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <array>
#include <filesystem>

#include <fmt/format.h>

namespace neuroncheck::casework {
namespace {

/// The simulator's functions (torch_host/sim/sim.h), found by name: it registers a device when it
/// is loaded, so it is never linked.
struct Simulator {
  const char* (*configure)(const char* json) = nullptr;
  const char* (*takeLog)() = nullptr;
  int (*synchronize)() = nullptr;
  const char* (*error)() = nullptr;
};

Simulator& simulator() {
  static Simulator loaded;
  return loaded;
}

std::string lastError() {
  const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): there is one thread only
  return why == nullptr ? "unknown reason" : why;
}

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

Result<void> loadSimulator() {
  if (simulator().configure != nullptr) {
    return {};
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / "libneuron_sim.so").string();
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return fail(ErrorCode::Unavailable,
                fmt::format("the simulated device is missing: {}", lastError()));
  }
  Simulator found;
  if (!find(library, "neuron_sim_take_log", found.takeLog) ||
      !find(library, "neuron_sim_synchronize", found.synchronize) ||
      !find(library, "neuron_sim_error", found.error) ||
      !find(library, "neuron_sim_configure", found.configure)) {
    return fail(ErrorCode::Unavailable, fmt::format("{}: not the library it should be", path));
  }
  simulator() = found;
  return {};
}

}  // namespace

Result<TestDevice> TestDevice::prepare(const std::string& words, const std::string& profile) {
  if (words == "cpu") {
    return TestDevice(c10::Device(c10::kCPU));
  }
  if (words == "sim") {
    NEURONCHECK_TRY_VOID(loadSimulator());
    // Nothing runs in this process: a profile that is in force is as fresh as on its first day.
    static std::string inForce;
    if (inForce != profile) {
      inForce.clear();
      if (const std::string refused = simulator().configure(profile.c_str()); !refused.empty()) {
        return fail(ErrorCode::Usage,
                    fmt::format("the simulator refuses its profile: {}", refused));
      }
      inForce = profile;
    }
    TestDevice device(c10::Device(c10::DeviceType::PrivateUse1, 0));
    device.simulated_ = true;
    return device;
  }
  constexpr std::string_view kPlugin = "plugin:";
  if (words.starts_with(kPlugin)) {
    TestDevice device(c10::Device(c10::DeviceType::PrivateUse1, 0));
    device.plugin_ = words.substr(kPlugin.size());
    device.foreign_ = true;
    std::error_code error;
    if (!std::filesystem::is_regular_file(device.plugin_, error)) {
      return fail(ErrorCode::Unavailable, fmt::format("{}: no such library", device.plugin_));
    }
    return device;
  }
  try {
    TestDevice device{c10::Device(words)};
    device.foreign_ = true;
    return device;
  } catch (const c10::Error&) {
    return fail(ErrorCode::Unavailable, fmt::format("libtorch knows no device '{}'", words));
  }
}

Result<void> TestDevice::open() {
  if (!plugin_.empty() && ::dlopen(plugin_.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return fail(ErrorCode::Unavailable, fmt::format("{}: {}", plugin_, lastError()));
  }
  if (device_.is_cpu()) {
    return {};
  }
  if (!c10::impl::hasDeviceGuardImpl(device_.type())) {
    return fail(ErrorCode::Unavailable,
                plugin_.empty()
                    ? fmt::format("this libtorch is built without {}", device_.str())
                    : fmt::format("{} registers no PrivateUse1 device: its device guard is missing",
                                  plugin_));
  }
  return {};
}

void TestDevice::synchronize() const {
  if (simulated_ && simulator().synchronize() != 0) {
    TORCH_CHECK(false, simulator().error());
  }
}

std::optional<nlohmann::json> TestDevice::takeLog() const {
  if (!simulated_) {
    return std::nullopt;
  }
  auto log = nlohmann::json::parse(simulator().takeLog(), nullptr, false);
  return log.is_object() ? std::optional(std::move(log)) : std::nullopt;
}

}  // namespace neuroncheck::casework
