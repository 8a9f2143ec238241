// SPDX-License-Identifier: Apache-2.0
#include "cli/run_step.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/io.h"
#include "conformance/runner/runner.h"
#include "opdb/trace_plan.h"
#include "worker/torch_worker.h"

namespace neuroncheck::cli {
namespace {

using conformance::Ask;

/// The word after "sim:"; "faithful" without one.
std::string profileWord(const Options& options) {
  const std::string device = options.device.value_or("");
  return device.starts_with("sim:") ? device.substr(4) : "faithful";
}

/// The profile of the simulated device: what the database says the release registers, or the user's
/// file.
Result<std::string> profileOf(const Options& options, const opdb::Database& database,
                              const Target& target) {
  if (!options.profile.empty()) {
    std::ifstream file(options.profile, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      return fail(ErrorCode::Usage, fmt::format("--profile {}: cannot be read", options.profile));
    }
    return text.str();
  }
  const std::string word = profileWord(options);
  const bool ideal = word == "ideal";
  Json profile{{"native", ideal ? std::vector<std::string>{"*"}
                                : opdb::registeredOperators(database, target)},
               {"fallback", word == "strict" ? "raise" : "silent"},
               {"narrow_int64", !ideal},
               {"narrow_float64", !ideal},
               {"arithmetic", "wide"}};
  return profile.dump();
}

constexpr std::string_view kPython = "python:";

/// What the device's worker says of itself when it starts; several may start side by side.
struct Hello {
  std::mutex mutex;
  Json handshake;
};

Result<Ask> makeWorker(const std::vector<std::string>& command, Hello* hello) {
  NEURONCHECK_TRY(worker::TorchWorker worker, worker::TorchWorker::start(command));
  if (hello != nullptr) {
    const std::scoped_lock lock(hello->mutex);
    hello->handshake = worker.handshake();
  }
  auto shared = std::make_shared<worker::TorchWorker>(std::move(worker));
  return Ask([shared](const Json& request, std::chrono::milliseconds timeout) {
    return shared->ask(request, timeout);
  });
}

/// One line of progress: how many of all, how fast, how long yet, and what was found.
class RunProgress {
 public:
  RunProgress(std::size_t total, bool quiet) : total_(total), progress_(quiet) {}

  void operator()(const Outcome& outcome) {
    ++done_;
    failed_ += isPass(outcome.state) ? 0 : 1;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    const double rate = static_cast<double>(done_) / std::max(seconds, 1e-3);
    const double left = static_cast<double>(total_ - done_) / std::max(rate, 1e-3);
    progress_.step(done_ - 1, total_,
                   fmt::format("{:.0f} cases/s, {:.0f} s left, {} not passed: {}", rate, left,
                               failed_, outcome.op));
  }
  void finish() { progress_.finish(); }

 private:
  std::size_t total_;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  Progress progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The command lines of the workers.
struct Workers {
  std::vector<std::string> device;
  std::vector<std::string> reference;
};

Result<Workers> workersFor(const Options& options) {
  NEURONCHECK_TRY(const std::string program, worker::findTorchProgram());
  Workers workers{.device = {program, "worker"}, .reference = {program, "worker"}};
  if (const std::string words = options.device.value_or(""); words.starts_with(kPython)) {
    NEURONCHECK_TRY(workers.device,
                    worker::pythonWorkerCommand(options.python, words.substr(kPython.size())));
  }
  return workers;
}

/// Versions that the device's worker found; what it did not find stays unknown.
void takeHandshake(RunRecord& record, const Json& handshake) {
  const auto take = [&](std::string& to, const char* key) {
    const std::string text = handshake.value(key, std::string());
    to = text.empty() ? to : text;
  };
  take(record.environment.torch, "torch");
  take(record.environment.compiler, "compiler");
  take(record.environment.runtime, "runtime");
  take(record.environment.driver, "driver");
  take(record.environment.chip, "chip");
  if (handshake.contains("backend")) {
    record.environment.backend = fmt::format("{} ({} {})", handshake.value("backend", "unknown"),
                                             handshake.value("module", "unknown"),
                                             handshake.value("module_version", "unknown"));
  }
  record.simulated = record.simulated || handshake.value("simulated", false);
}

conformance::RunSettings settingsOf(const Options& options, const Workers& workers, Hello& hello,
                                    const opdb::Database& database, std::string profile) {
  conformance::RunSettings settings;
  settings.device.words = options.device.value_or("cpu");
  if (settings.device.words.starts_with("sim:")) {
    settings.device.words = "sim";
  }
  settings.device.profile = std::move(profile);
  settings.device.caseTime = std::chrono::seconds(options.caseSeconds);
  settings.lanes = options.jobs;
  settings.batch = options.isolate ? 1 : settings.batch;
  settings.seed = options.seed;
  settings.makeWorker = [workers, &hello](bool device) {
    return makeWorker(device ? workers.device : workers.reference, device ? &hello : nullptr);
  };
  settings.findSchema = [&database](const OpName& op) -> const FunctionSchema* {
    const OpInfo* info = database.find(op);
    return info == nullptr ? nullptr : &info->schema;
  };
  settings.stopped = [] { return signalReceived() != 0; };
  return settings;
}

}  // namespace

Result<void> checkRunFlags(const Options& options) {
  if (!options.run && options.device) {
    return fail(ErrorCode::Usage, "--device runs cases: give --run too");
  }
  if (options.run && (!options.device || *options.device == "none")) {
    return fail(ErrorCode::Usage,
                "--run needs --device: cpu (a check of the tool itself), sim (the simulated "
                "device), plugin:LIBRARY, python:MODULE or a device type of libtorch");
  }
  if (options.device == kPython) {
    return fail(ErrorCode::Usage, "--device python: needs the name of a module");
  }
  if (options.device && options.device->starts_with("sim:")) {
    constexpr std::array<std::string_view, 3> kProfiles{"faithful", "ideal", "strict"};
    if (std::ranges::find(kProfiles, profileWord(options)) == kProfiles.end()) {
      return fail(ErrorCode::Usage, fmt::format("--device {}: the profiles are {}", *options.device,
                                                fmt::join(kProfiles, ", ")));
    }
  }
  if (options.jobs < 1 || options.jobs > 256 || options.caseSeconds < 1) {
    return fail(ErrorCode::Usage, "-j and --timeout are positive numbers");
  }
  return {};
}

Result<void> runCases(RunRecord& record, conformance::Plan plan, const Options& options,
                      const opdb::Database& database) {
  if (!options.keyword.empty()) {
    std::erase_if(plan.cases, [&](const conformance::PlannedCase& planned) {
      return planned.text.find(options.keyword) == std::string::npos;
    });
  }
  record.device = options.device.value_or("none");
  record.notRun = plan.notChecked;
  if (plan.cases.empty()) {
    return fail(ErrorCode::Nothing, "no case is left to run: nothing was checked on the device");
  }
  NEURONCHECK_TRY(const Workers workers, workersFor(options));
  NEURONCHECK_TRY(std::string profile, profileOf(options, database, record.target));
  record.simulated = record.device.starts_with("sim");
  Hello hello;
  RunProgress progress(plan.cases.size(), options.quiet);
  conformance::RunSettings settings =
      settingsOf(options, workers, hello, database, std::move(profile));
  settings.finished = [&progress](const Outcome& outcome) { progress(outcome); };
  auto outcomes = conformance::runPlan(plan, settings);
  progress.finish();
  NEURONCHECK_TRY(record.outcomes, std::move(outcomes));
  if (record.device.starts_with(kPython)) {
    takeHandshake(record, hello.handshake);
  }
  return {};
}

}  // namespace neuroncheck::cli
