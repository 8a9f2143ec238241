// SPDX-License-Identifier: Apache-2.0
#include "cli/run_step.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/io.h"
#include "cli/run_workers.h"
#include "cli/shard.h"
#include "conformance/runner/runner.h"
#include "core/content_hash.h"
#include "opdb/trace_plan.h"
#include "runstore/run_file.h"
#include "runstore/run_writer.h"

namespace neuroncheck::cli {
namespace {

/// The word after "sim:"; "faithful" without one.
std::string profileWord(const Options& options) {
  const std::string device = options.device.value_or("");
  return device.starts_with("sim:") ? device.substr(4) : "faithful";
}

/// The profile of the simulated device: what the database says the release registers, or the user's
/// file.
Result<std::string> profileOf(const Options& options, const opdb::Database& database,
                              const Target& target, const conformance::Plan& plan) {
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
  std::vector<std::string> native = opdb::registeredOperators(database, target);
  if (ideal) {
    // Named ones have kernels of their own; what only "*" takes goes through the fallback's door.
    native.emplace_back("*");
    for (const conformance::PlannedCase& planned : plan.cases) {
      for (const CaseStep& step : planned.spec.steps) {
        native.push_back(fmt::format("{}::{}", step.op.ns, step.op.base));
      }
    }
    std::ranges::sort(native);
    const auto repeated = std::ranges::unique(native);
    native.erase(repeated.begin(), repeated.end());
  }
  Json profile{{"native", std::move(native)},
               {"fallback", word == "strict" ? "raise" : "silent"},
               {"narrow_int64", !ideal},
               {"narrow_float64", !ideal},
               {"arithmetic", "wide"}};
  return profile.dump();
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

conformance::RunSettings settingsOf(const Options& options, std::shared_ptr<RunWorkers> workers,
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
  settings.makeWorker = [workers = std::move(workers)](bool device) {
    return workers->make(device);
  };
  settings.findSchema = [&database](const OpName& op) -> const FunctionSchema* {
    const OpInfo* info = database.find(op);
    return info == nullptr ? nullptr : &info->schema;
  };
  settings.stopped = [] { return signalReceived() != 0; };
  return settings;
}

/// Keeps the cases of the shard that was asked for, and says so.
Result<void> takeShard(RunRecord& record, conformance::Plan& plan, const Options& options) {
  NEURONCHECK_TRY(const std::optional<Shard> shard, shardOf(options.shard, environmentVariable));
  if (const auto status = environmentVariable("TEST_SHARD_STATUS_FILE")) {
    std::ofstream(*status, std::ios::app).flush();  // tells Bazel that shards are understood
  }
  if (!shard) {
    return {};
  }
  record.shard = shard->text();
  const std::size_t all = plan.cases.size();
  std::erase_if(plan.cases, [&](const conformance::PlannedCase& planned) {
    return !shard->holds(planned.spec.identity());
  });
  if (!options.quiet) {
    printWarning(fmt::format("shard {} ({}): {} of {} cases", record.shard, shard->from,
                             plan.cases.size(), all));
  }
  return {};
}

/// What a run file has not ended yet.
struct Left {
  conformance::Plan plan;
  std::vector<std::size_t> places;  ///< in the whole plan
};

Left leftOf(const conformance::Plan& plan, const std::vector<Outcome>& outcomes) {
  Left out;
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    if (isUnfinished(outcomes[i])) {
      out.plan.cases.push_back(plan.cases[i]);
      out.places.push_back(i);
    }
  }
  return out;
}

Result<std::optional<runstore::RunWriter>> openRunFile(RunRecord& record, const Options& options) {
  if (options.runFile.empty()) {
    return std::nullopt;
  }
  std::error_code ignored;
  if (!options.resume || !std::filesystem::exists(options.runFile, ignored)) {
    return runstore::RunWriter::begin(record, options.runFile);
  }
  NEURONCHECK_TRY(runstore::RunWriter writer, runstore::RunWriter::resume(record, options.runFile));
  record.started = writer.stored().started;
  for (std::size_t i = 0; i < record.outcomes.size(); ++i) {
    if (!isUnfinished(writer.stored().outcomes[i])) {
      record.outcomes[i] = writer.stored().outcomes[i];
    }
  }
  return writer;
}

/// Runs what is left and puts it into the record and the run file as it ends.
Result<void> runLeft(RunRecord& record, const Left& left, conformance::RunSettings settings,
                     runstore::RunWriter* writer, bool quiet) {
  if (left.plan.cases.empty()) {
    return {};
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < left.places.size(); ++i) {
    places[left.plan.cases[i].id] = left.places[i];
  }
  RunProgress progress(left.plan.cases.size(), quiet);
  settings.finished = [&](const Outcome& outcome) {
    progress(outcome);
    if (writer != nullptr) {
      writer->finished(places.at(outcome.id), outcome);
    }
  };
  std::atomic<bool> notKept = false;
  if (writer != nullptr) {
    settings.started = [&](const std::vector<std::size_t>& cases) {
      std::vector<std::size_t> whole;
      for (const std::size_t each : cases) {
        whole.push_back(left.places[each]);
      }
      writer->started(whole);
      notKept = writer->error().has_value();
    };
    settings.stopped = [&notKept, stopped = settings.stopped] { return notKept || stopped(); };
  }
  auto outcomes = conformance::runPlan(left.plan, settings);
  progress.finish();
  NEURONCHECK_TRY(std::vector<Outcome> found, std::move(outcomes));
  for (std::size_t i = 0; i < found.size(); ++i) {
    record.outcomes[left.places[i]] = std::move(found[i]);
  }
  return {};
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
  if (options.device == "python:") {
    return fail(ErrorCode::Usage, "--device python: needs the name of a module");
  }
  if (options.device && options.device->starts_with("sim:")) {
    constexpr std::array<std::string_view, 3> kProfiles{"faithful", "ideal", "strict"};
    if (std::ranges::find(kProfiles, profileWord(options)) == kProfiles.end()) {
      return fail(ErrorCode::Usage, fmt::format("--device {}: the profiles are {}", *options.device,
                                                fmt::join(kProfiles, ", ")));
    }
  }
  if (options.resume && (!options.run || options.runFile.empty())) {
    return fail(ErrorCode::Usage,
                "--resume goes on with a run file: give --run and --run-file too");
  }
  if (options.jobs < 1 || options.jobs > 256 || options.caseSeconds < 1) {
    return fail(ErrorCode::Usage, "-j and --timeout are positive numbers");
  }
  return {};
}

Result<std::optional<Error>> runCases(RunRecord& record, conformance::Plan plan,
                                      const Options& options, const opdb::Database& database) {
  if (!options.keyword.empty()) {
    std::erase_if(plan.cases, [&](const conformance::PlannedCase& planned) {
      return planned.text.find(options.keyword) == std::string::npos;
    });
  }
  record.device = options.device.value_or("none");
  record.simulated = record.device.starts_with("sim");
  record.seed = options.seed;
  record.notRun = plan.notChecked;
  record.finished.clear();
  record.outcomes.clear();
  NEURONCHECK_TRY(std::string profile, profileOf(options, database, record.target, plan));
  record.profile = record.simulated ? fmt::format("{:016x}", contentHash(profile)) : std::string();
  const auto nothing =
      fail(ErrorCode::Nothing, "no case is left to run: nothing was checked on the device");
  if (plan.cases.empty()) {
    return nothing;
  }
  NEURONCHECK_TRY_VOID(takeShard(record, plan, options));
  NEURONCHECK_TRY(const auto workers, RunWorkers::start(options));
  workers->describe(record);
  if (plan.cases.empty()) {
    record.finished = utcNow();
    if (!options.runFile.empty()) {
      NEURONCHECK_TRY_VOID(runstore::save(record, options.runFile));  // for merge to find
    }
    return nothing;
  }
  std::ranges::transform(plan.cases, std::back_inserter(record.outcomes), conformance::outcomeOf);
  NEURONCHECK_TRY(auto writer, openRunFile(record, options));
  NEURONCHECK_TRY_VOID(runLeft(record, leftOf(plan, record.outcomes),
                               settingsOf(options, workers, database, std::move(profile)),
                               writer ? &*writer : nullptr, options.quiet));
  record.finished = utcNow();
  if (writer) {
    if (auto kept = writer->finish(record); !kept) {
      return std::move(kept).error();
    }
  }
  return std::nullopt;
}

}  // namespace neuroncheck::cli
