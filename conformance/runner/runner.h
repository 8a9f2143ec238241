// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "conformance/runner/lane.h"

namespace neuroncheck::conformance {

/// How a plan is run.
struct RunSettings {
  DeviceChoice device;
  int lanes = 1;            ///< pairs of workers side by side
  std::size_t batch = 128;  ///< attempts in one process while nothing goes wrong; 1 isolates
  std::uint64_t seed = 0;   ///< of the run, part of every attempt's seed
  bool confirm = true;      ///< run what went wrong again in a process of its own
  /// Makes a worker: of the device, or of the references.
  std::function<Result<Ask>(bool device)> makeWorker;
  /// Catalogue schema of an operator; null for one it lacks. Guarded by the runner.
  Lane::FindSchema findSchema;
  /// Told the cases of a batch, by their place in the plan, before it starts; never while another
  /// call of it or of `finished` runs.
  std::function<void(const std::vector<std::size_t>& cases)> started;
  /// Told about every case when it is done, one call at a time.
  std::function<void(const Outcome& outcome)> finished;
  std::function<bool()> stopped;  ///< true: no further case is begun
};

/// Runs every case of a plan and returns the outcomes in its order. Cases that were not begun when
/// it was stopped are `not-run`. Unavailable error when a worker cannot be started or the device is
/// not there.
[[nodiscard]] Result<std::vector<Outcome>> runPlan(const Plan& plan, const RunSettings& settings);

}  // namespace neuroncheck::conformance
