// SPDX-License-Identifier: Apache-2.0
#include "worker/torch_worker.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "worker/frame.h"
#include "worker/protocol.h"

namespace neuroncheck::worker {
namespace {

constexpr std::chrono::seconds kStartTimeout{60};

Result<nlohmann::ordered_json> parseAnswer(const std::optional<std::string>& text) {
  if (!text) {
    return fail(ErrorCode::Unavailable, "it closed its output without an answer");
  }
  nlohmann::ordered_json answer = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!answer.is_object()) {
    return fail(ErrorCode::Unavailable, "its answer is no JSON object");
  }
  return answer;
}

}  // namespace

Result<std::string> findTorchProgram() {
  namespace fs = std::filesystem;
  // Nothing in this program changes the environment.
  const char* named = std::getenv("NEURON_CHECK_TORCH");  // NOLINT(concurrency-mt-unsafe)
  if (named != nullptr && *named != '\0') {
    if (std::string_view(named) == "none") {
      return fail(ErrorCode::Unavailable, "NEURON_CHECK_TORCH=none: libtorch is not to be used");
    }
    if (::access(named, X_OK) == 0) {
      return std::string(named);
    }
    return fail(ErrorCode::Usage, fmt::format("NEURON_CHECK_TORCH names no program: {}", named));
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place :
       {self / kTorchProgram, self / ".." / "libexec" / "neuron-check" / kTorchProgram}) {
    if (!error && ::access(place.c_str(), X_OK) == 0) {
      return place.lexically_normal().string();
    }
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("{} is not installed; in the source tree `tools/get_torch.sh` fetches "
                          "torch 2.13 and builds it",
                          kTorchProgram));
}

Result<TorchWorker> TorchWorker::start(const std::string& program) {
  // A worker that died must give an error on the next write, not end us.
  std::signal(SIGPIPE, SIG_IGN);
  TorchWorker worker;
  worker.program_ = program;
  NEURONCHECK_TRY_VOID(worker.launch());
  return worker;
}

Result<void> TorchWorker::launch() {
  NEURONCHECK_TRY(child_, Child::start({program_, "worker"}));
  auto hello = readFrame(child_->output(), Clock::now() + kStartTimeout).and_then(parseAnswer);
  if (!hello) {
    return tl::unexpected(died(hello.error()));
  }
  if (hello->value("protocol", 0) != kProtocolVersion) {
    const std::string theirs = hello->value("protocol", nlohmann::ordered_json(nullptr)).dump();
    child_.reset();
    return fail(ErrorCode::Unavailable,
                fmt::format("{} speaks worker protocol {}, this program speaks {}: build both from "
                            "the same sources",
                            program_, theirs, kProtocolVersion));
  }
  handshake_ = *std::move(hello);
  return {};
}

Result<nlohmann::ordered_json> TorchWorker::ask(const nlohmann::ordered_json& request,
                                                std::chrono::milliseconds timeout) {
  if (!child_) {
    NEURONCHECK_TRY_VOID(launch());
  }
  const auto deadline = Clock::now() + timeout;
  auto answer =
      writeFrame(child_->input(),
                 request.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
          .and_then([&]() { return readFrame(child_->output(), deadline); })
          .and_then(parseAnswer);
  if (!answer) {
    return tl::unexpected(died(answer.error()));
  }
  if (const auto error = answer->find("error"); error != answer->end() && error->is_string()) {
    return inputError(error->get<std::string>());
  }
  return answer;
}

Error TorchWorker::died(const Error& cause) {
  const std::string ending = child_->finish();
  const std::string tail = child_->errorTail();
  child_.reset();
  return Error{.code = ErrorCode::Unavailable,
               .message = fmt::format("{}: {} ({}){}{}", program_, cause.text(), ending,
                                      tail.empty() ? "" : "; it printed: ", tail),
               .context = {}};
}

}  // namespace neuroncheck::worker
