// SPDX-License-Identifier: Apache-2.0
#include "torch_host/requests.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/inventory_json.h"
#include "core/version.h"
#include "torch_host/casework/requests.h"
#include "torch_host/sandbox/isolated.h"
#include "torch_host/torchscript/read_torchscript.h"
#include "torch_host/trace/trace_request.h"
#include "worker/protocol.h"

namespace neuroncheck::torch_host {
namespace {

using nlohmann::json;

// Measured: loading needs less than 64 MB beside the tensors, with 3,000 modules too. The rest is
// for tables that an honest `__setstate__` computes.
constexpr std::uint64_t kLoadingMemory = std::uint64_t{512} << 20;
// Following shapes runs some operators on zeros, up to 512 MB of operands at once.
constexpr std::uint64_t kWorkingMemory = std::uint64_t{2} << 30;

json errorAnswer(const std::string& message) { return {{"error", message}}; }

/// A file that is open for the length of a request.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (fd_ >= 0 && ::fstat(fd_, &status) == 0) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int descriptor() const { return fd_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

torchscript::ReadOptions optionsOf(const json& request) {
  torchscript::ReadOptions options;
  for (const json& shape : request.value("input_shapes", json::array())) {
    options.inputs.push_back(
        {.sizes = shape.at("sizes").get<std::vector<std::int64_t>>(),
         .dtype = parseDType(shape.at("dtype").get<std::string>()).value_or(DType::Float32)});
  }
  for (const json& call : request.value("custom_calls", json::array())) {
    options.customCalls.push_back({.op = call.at("op").get<std::string>(),
                                   .positional = call.at("positional").get<std::size_t>(),
                                   .keywords = call.at("keywords").get<std::vector<std::string>>(),
                                   .unpacked = call.at("unpacked").get<std::size_t>()});
  }
  return options;
}

/// Libraries a user named with --load-library. They run as his own code, before the sandbox.
std::optional<std::string> loadLibraries(const json& request) {
  for (const json& library : request.value("libraries", json::array())) {
    const auto path = library.get<std::string>();
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
      const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): there is one thread only
      return fmt::format("--load-library {}: {}", path, why);
    }
  }
  return std::nullopt;
}

std::string readInSandbox(const torchscript::ReadOptions& options) {
  // Shapes are found by plain kernels: oneDNN would compile some for each, and NNPACK reads /proc.
  at::globalContext().setUserEnabledMkldnn(false);
  at::globalContext().setUserEnabledNNPACK(false);
  auto inventory = torchscript::readTorchScript(options);
  if (!inventory) {
    const bool usage = inventory.error().code == ErrorCode::Usage;
    return dumpJson(Json{{usage ? "refused" : "failed", inventory.error().text()}});
  }
  return dumpJson(Json{{"inventory", toJson(*inventory)}});
}

/// What libraries of torch look at when they first compute, whatever the file is.
bool isOfLibraries(const sandbox::Attempt& attempt) {
  const std::string_view path(attempt.path.data());
  return path.starts_with("/sys/devices/system/cpu/") || path == "/proc/cpuinfo" ||
         path == "/proc/self/environ" || path == "/proc/self/auxv" || path == "/etc/localtime" ||
         path == "/dev/urandom" || path == "/proc/stat" || path == "/proc/meminfo" ||
         // The C library asks for the size of an open descriptor with an empty name.
         (path.empty() && sandbox::describe(attempt).starts_with("look at"));
}

json attemptsOf(const sandbox::Isolated& isolated) {
  json out = json::array();
  for (const sandbox::Attempt& attempt : isolated.attempts) {
    if (!isOfLibraries(attempt)) {
      out.push_back(sandbox::describe(attempt));
    }
  }
  return out;
}

json readTorchScriptFile(const json& request) {
  if (const auto failure = loadLibraries(request)) {
    return json{{"refused", *failure}};
  }
  const auto path = request.at("path").get<std::string>();
  const OpenFile file(path);
  if (file.descriptor() < 0) {
    return errorAnswer(fmt::format("cannot open: {}", std::generic_category().message(errno)));
  }
  torchscript::ReadOptions options = optionsOf(request);
  options.file = file.descriptor();
  options.size = file.size();
  sandbox::Bounds bounds;
  // Shapes are followed for 10 s at most; reading parameters costs a second for each 100 MB.
  bounds.cpu = std::chrono::seconds(request.value("cpu_seconds", 20)) +
               std::chrono::seconds(file.size() / 100'000'000);
  bounds.wall = 3 * bounds.cpu;
  // Code of the file runs while it is loaded, and not after that. All tensors may be in memory at
  // once, and quantised ones twice, as they are and packed.
  const std::uint64_t tensors = std::min(file.size(), std::uint64_t{64} << 30);
  bounds.memoryAtFirst = kLoadingMemory + 2 * tensors;
  bounds.memory = kWorkingMemory + 2 * tensors;
  // Quantised modules pack their weights with kernels that oneDNN compiles while they are loaded.
  bounds.allowExecutableMemory = true;
  bounds.keepOpen = {file.descriptor()};
  const sandbox::Isolated isolated = sandbox::runIsolated(
      [&options](const sandbox::TakeMemory& takeMemory) {
        options.loaded = takeMemory;
        return readInSandbox(options);
      },
      bounds);
  json answer = isolated.output ? json::parse(*isolated.output, nullptr, false) : json::object();
  if (!isolated.output) {
    answer["failed"] = fmt::format("loading it ended by itself: {}", isolated.ending);
  } else if (!answer.is_object()) {
    answer = json{{"failed", "loading it gave no answer that can be read"}};
  }
  answer["attempts"] = attemptsOf(isolated);
  answer["attempt_count"] = isolated.attemptCount;
  answer["sandbox"] = isolated.state.text();
  return answer;
}

}  // namespace

json handshake() {
  // Children fork from here: no second thread may ever be started in this process.
  at::set_num_threads(1);
  // Looks at the processor now, because the sandbox would not let quantised modules do it.
  std::ignore = at::globalContext().qEngine();
  return {{"protocol", worker::kProtocolVersion},
          {"program", std::string(toolName())},
          {"torch", TORCH_VERSION},
          {"fork_safe", true},
          {"simulated", false},
          {"landlock", sandbox::landlockVersion()}};
}

json answer(const json& request) {
  try {
    const std::string what = request.is_object() ? request.value("do", "") : "";
    if (what == "torchscript") {
      return readTorchScriptFile(request);
    }
    if (what == "trace") {
      const auto failure = loadLibraries(request);
      return failure ? errorAnswer(*failure) : json(trace::answerTrace(request));
    }
    if (what == "run_cases") {
      return casework::answerRunCases(request);
    }
    if (what == "reference") {
      return casework::answerReference(request);
    }
    if (what == "dispatch_table") {
      return casework::answerDispatchTable(request);
    }
    return errorAnswer(fmt::format("unknown request '{}'", what));
  } catch (const std::exception& error) {
    return errorAnswer(fmt::format("the request cannot be understood: {}", error.what()));
  }
}

}  // namespace neuroncheck::torch_host
