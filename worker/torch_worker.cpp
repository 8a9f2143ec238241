// SPDX-License-Identifier: Apache-2.0
#include "worker/torch_worker.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
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

Result<std::vector<std::string>> pythonWorkerCommand(const std::string& interpreter,
                                                     const std::string& module) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string found = interpreter;
  if (interpreter.find('/') == std::string::npos) {
    found.clear();
    const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; found.empty() && std::getline(folders, folder, ':');) {
      const fs::path place = fs::path(folder) / interpreter;
      if (fs::is_regular_file(place, error) && ::access(place.c_str(), X_OK) == 0) {
        found = place.string();
      }
    }
  }
  if (found.empty() || !fs::is_regular_file(found, error) || ::access(found.c_str(), X_OK) != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("--python {}: there is no such program", interpreter));
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {self, self / ".." / "libexec" / "neuron-check"}) {
    const fs::path main = folder / kPythonWorker / "__main__.py";
    if (!error && ::access(main.c_str(), R_OK) == 0) {
      return std::vector<std::string>{found, "-B", main.lexically_normal().string(), module};
    }
  }
  return fail(ErrorCode::Unavailable,
              fmt::format("the case worker for Python ({}) is not installed", kPythonWorker));
}

Result<TorchWorker> TorchWorker::start(const std::string& program) {
  return start(std::vector<std::string>{program, "worker"});
}

Result<TorchWorker> TorchWorker::start(std::vector<std::string> command) {
  // A worker that died must give an error on the next write, not end us.
  std::signal(SIGPIPE, SIG_IGN);
  TorchWorker worker;
  worker.command_ = std::move(command);
  NEURONCHECK_TRY_VOID(worker.launch());
  return worker;
}

Result<void> TorchWorker::launch() {
  NEURONCHECK_TRY(child_, Child::start(command_));
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
                            command_.front(), theirs, kProtocolVersion));
  }
  if (const auto missing = hello->find("unavailable"); missing != hello->end()) {
    child_.reset();
    return fail(ErrorCode::Unavailable,
                missing->is_string() ? missing->get<std::string>() : missing->dump());
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
               .message = fmt::format("{}: {} ({}){}{}", command_.front(), cause.text(), ending,
                                      tail.empty() ? "" : "; it printed: ", tail),
               .context = {}};
}

}  // namespace neuroncheck::worker
