// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

#include "core/result.h"

namespace neuroncheck::casework {

/// A device that cases are run on, by the words of the command line: "cpu", "sim", "plugin:PATH",
/// or a device type that libtorch has.
class TestDevice {
 public:
  /// What the words mean. For "sim" loads libneuron_sim.so and hands it `profile`, which runs
  /// nothing; a plugin is loaded by open(). Unavailable error that says what is missing; Usage
  /// for a profile that the simulator refuses.
  [[nodiscard]] static Result<TestDevice> prepare(const std::string& words,
                                                  const std::string& profile);

  /// In the process that runs the cases: loads a plugin and finds the device. Unavailable error.
  [[nodiscard]] Result<void> open();

  [[nodiscard]] c10::Device device() const { return device_; }
  [[nodiscard]] bool simulated() const { return simulated_; }
  /// Its code is not ours and needs the machine: no sandbox.
  [[nodiscard]] bool foreign() const { return foreign_; }

  /// Waits for what was launched; raises what it raised.
  void synchronize() const;
  /// What the backend says it executed and what fell back since the last call, as the simulator
  /// lists it; absent where it keeps no list.
  [[nodiscard]] std::optional<nlohmann::json> takeLog() const;

 private:
  explicit TestDevice(c10::Device device) : device_(device) {}

  c10::Device device_;
  std::string plugin_;
  bool simulated_ = false;
  bool foreign_ = false;
};

}  // namespace neuroncheck::casework
