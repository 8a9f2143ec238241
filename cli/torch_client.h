// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/inventory_json.h"
#include "core/result.h"
#include "worker/torch_worker.h"

namespace neuroncheck::cli {

/// neuron-check-torch, started when it is first needed and kept for the length of a command.
class TorchClient {
 public:
  /// Asks it. Unavailable error, with how to get it, when there is none.
  [[nodiscard]] Result<Json> ask(const Json& request);
  /// The versions it gave when it started. Starts it.
  [[nodiscard]] Result<Json> handshake();

 private:
  [[nodiscard]] Result<worker::TorchWorker*> worker();

  std::optional<Result<worker::TorchWorker>> worker_;
};
}  // namespace neuroncheck::cli
