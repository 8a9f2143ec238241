// SPDX-License-Identifier: Apache-2.0
#include "cli/run_workers.h"

#include <utility>

#include <fmt/format.h>

namespace neuroncheck::cli {
namespace {

conformance::Ask askOf(worker::TorchWorker worker) {
  auto shared = std::make_shared<worker::TorchWorker>(std::move(worker));
  return [shared](const Json& request, std::chrono::milliseconds timeout) {
    return shared->ask(request, timeout);
  };
}

}  // namespace

Result<std::shared_ptr<RunWorkers>> RunWorkers::start(const Options& options) {
  auto out = std::make_shared<RunWorkers>();
  NEURONCHECK_TRY(const std::string program, worker::findTorchProgram());
  out->reference_ = out->device_ = {program, "worker"};
  constexpr std::string_view kPython = "python:";
  if (const std::string words = options.device.value_or(""); words.starts_with(kPython)) {
    NEURONCHECK_TRY(out->device_,
                    worker::pythonWorkerCommand(options.python, words.substr(kPython.size())));
  }
  NEURONCHECK_TRY(out->first_, worker::TorchWorker::start(out->device_));
  out->handshake_ = out->first_->handshake();
  return out;
}

Result<conformance::Ask> RunWorkers::make(bool device) {
  if (device) {
    const std::scoped_lock lock(mutex_);
    if (first_) {
      return askOf(*std::exchange(first_, std::nullopt));
    }
  }
  NEURONCHECK_TRY(worker::TorchWorker worker,
                  worker::TorchWorker::start(device ? device_ : reference_));
  return askOf(std::move(worker));
}

void RunWorkers::describe(RunRecord& record) const {
  const auto take = [&](std::string& to, const char* key) {
    const std::string text = handshake_.value(key, std::string());
    to = text.empty() ? to : text;
  };
  take(record.environment.torch, "torch");
  take(record.environment.compiler, "compiler");
  take(record.environment.runtime, "runtime");
  take(record.environment.driver, "driver");
  take(record.environment.chip, "chip");
  if (handshake_.contains("backend")) {
    record.environment.backend = fmt::format("{} ({} {})", handshake_.value("backend", "unknown"),
                                             handshake_.value("module", "unknown"),
                                             handshake_.value("module_version", "unknown"));
  }
  record.simulated = record.simulated || handshake_.value("simulated", false);
}

}  // namespace neuroncheck::cli
