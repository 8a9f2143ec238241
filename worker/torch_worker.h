// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/result.h"
#include "worker/child.h"

namespace neuroncheck::worker {

/// Path of neuron-check-torch: NEURON_CHECK_TORCH when set ("none": there is none), else beside
/// this program, else in
/// ../libexec/neuron-check. Unavailable error that says how to get it when it is nowhere; Usage
/// when NEURON_CHECK_TORCH names something that is no program.
[[nodiscard]] Result<std::string> findTorchProgram();

/// How to start the case worker for a backend that registers from Python, `MODULE`, with the
/// interpreter of the user: a name that PATH has, or a path. The worker's files lie beside this
/// program, else in ../libexec/neuron-check. Unavailable error where one of them is nowhere.
[[nodiscard]] Result<std::vector<std::string>> pythonWorkerCommand(const std::string& interpreter,
                                                                   const std::string& module);

/// One running worker. Requests are answered one at a time, in order. When it dies or
/// does not answer in time, the request's Error says so with the end of what it printed, and the
/// next request starts it anew.
class TorchWorker {
 public:
  /// Starts neuron-check-torch and reads its handshake. Unavailable error when it cannot be started
  /// or speaks another protocol version.
  [[nodiscard]] static Result<TorchWorker> start(const std::string& program);
  /// The same for another worker by its command line; a handshake with `unavailable` is an
  /// Unavailable error of that text.
  [[nodiscard]] static Result<TorchWorker> start(std::vector<std::string> command);

  /// `{"protocol":1,"torch":"2.13.0+cpu",...}` as docs/worker-protocol.md has it.
  [[nodiscard]] const nlohmann::ordered_json& handshake() const { return handshake_; }

  /// Sends one request object and waits for its answer. An answer `{"error": text}` is an Input
  /// error with that text.
  [[nodiscard]] Result<nlohmann::ordered_json> ask(const nlohmann::ordered_json& request,
                                                   std::chrono::milliseconds timeout);

 private:
  TorchWorker() = default;
  [[nodiscard]] Result<void> launch();
  [[nodiscard]] Error died(const Error& cause);

  std::vector<std::string> command_;
  nlohmann::ordered_json handshake_;
  std::optional<Child> child_;
};

}  // namespace neuroncheck::worker
