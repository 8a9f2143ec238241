// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "torch_host/recorder/recorder.h"

namespace neuroncheck::trace {

/// libneuron_recorder.so, which is loaded at the first use and never unloaded: it registers a
/// device with torch. Its functions are those of torch_host/recorder/recorder.h.
class RecorderLibrary {
 public:
  /// Loads it from the folder of the running program. Unavailable error when it is not there.
  [[nodiscard]] static Result<const RecorderLibrary*> load();

  /// Registers these operators and no others; returns those that have no schema. Asking for the
  /// same set again costs nothing.
  [[nodiscard]] const std::vector<std::string>& setNative(
      const std::vector<std::string>& names) const;

  decltype(&neuron_recorder_start) start = nullptr;
  decltype(&neuron_recorder_stop) stop = nullptr;
  decltype(&neuron_recorder_observe) observe = nullptr;
  decltype(&neuron_recorder_set_bounds) setBounds = nullptr;
  decltype(&neuron_recorder_gave_up) gaveUp = nullptr;

 private:
  decltype(&neuron_recorder_set_native) setNative_ = nullptr;
};

}  // namespace neuroncheck::trace
