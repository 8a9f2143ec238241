// SPDX-License-Identifier: Apache-2.0
#include "cli/torch_client.h"

#include <chrono>
#include <utility>

namespace neuroncheck::cli {
namespace {

// Longer than what the worker itself allows one request.
constexpr std::chrono::minutes kPatience{10};

}  // namespace

Result<worker::TorchWorker*> TorchClient::worker() {
  if (!worker_) {
    worker_ = worker::findTorchProgram().and_then(
        [](const std::string& program) { return worker::TorchWorker::start(program); });
  }
  if (!*worker_) {
    return tl::unexpected(worker_->error());
  }
  return &**worker_;
}

Result<Json> TorchClient::handshake() {
  NEURONCHECK_TRY(const worker::TorchWorker* host, worker());
  return host->handshake();
}

Result<Json> TorchClient::ask(const Json& request) {
  NEURONCHECK_TRY(worker::TorchWorker * host, worker());
  return host->ask(request, kPatience);
}

}  // namespace neuroncheck::cli
