// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "conformance/runner/lane.h"
#include "core/inventory_json.h"
#include "core/result.h"
#include "core/run_record.h"
#include "worker/torch_worker.h"

namespace neuroncheck::cli {

/// The workers of a run: neuron-check-torch for the references, and for the device the same or the
/// user's Python. The first of the device is started at once, because its handshake names versions.
class RunWorkers {
 public:
  /// Unavailable error when a program or the device's module is not there.
  [[nodiscard]] static Result<std::shared_ptr<RunWorkers>> start(const Options& options);

  /// A worker of the device, or of the references; from any thread.
  [[nodiscard]] Result<conformance::Ask> make(bool device);

  /// Versions that the device's worker found, what it did not find stays unknown; and whether it
  /// says that it is simulated.
  void describe(RunRecord& record) const;

 private:
  std::vector<std::string> device_;
  std::vector<std::string> reference_;
  std::mutex mutex_;
  std::optional<worker::TorchWorker> first_;
  Json handshake_;
};

}  // namespace neuroncheck::cli
