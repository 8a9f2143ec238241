// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "cli/run_step.h"
#include "core/version.h"
#include "opdb/assess.h"
#include "report/reporter.h"

namespace neuroncheck::cli {
namespace {

Result<std::string> readCases(const std::string& path) {
  constexpr std::uintmax_t kMost = std::uintmax_t{64} << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return inputError(fmt::format("{}: no such file of cases", path));
  }
  if (std::filesystem::file_size(path, error) > kMost) {
    return inputError(fmt::format("{}: a file of cases has at most 64 MiB", path));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return inputError(fmt::format("{}: cannot be read", path));
  }
  return text.str();
}

Result<int> run(const CommandLine& line) {
  Options options = line.options;
  options.run = true;
  NEURONCHECK_TRY_VOID(checkRunFlags(options));
  NEURONCHECK_TRY(const std::set<std::string> failOn,
                  parseFailOn(options.failOn.value_or(std::string(kDefaultFailOn))));
  NEURONCHECK_TRY(const auto reporter, reporterOf(options));
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  NEURONCHECK_TRY(const Target wanted, targetOf(options));
  RunRecord record;
  NEURONCHECK_TRY(record.target, opdb::resolveTarget(database, wanted));
  record.tool = toolName();
  record.command = line.argv;
  record.started = utcNow();
  record.environment.host = hostName();
  record.database = fmt::format("{} ({})", database.path(), database.catalogueVersion());
  std::string all;
  for (const std::string& path : options.inputs) {
    NEURONCHECK_TRY(const std::string text, readCases(path));
    auto alone = conformance::planOfText(text);
    if (!alone) {
      return tl::unexpected(std::move(alone).error().within(path));
    }
    all += text + "\n";
  }
  for (const std::string& text : options.cases) {
    auto alone = conformance::planOfText(text);
    if (!alone) {
      return fail(ErrorCode::Usage, fmt::format("--case: {}", alone.error().text()));
    }
    all += text + "\n";
  }
  if (all.empty()) {
    return fail(ErrorCode::Usage, "no case is given: name a file of cases, or --case TEXT");
  }
  NEURONCHECK_TRY(conformance::Plan plan, conformance::planOfText(all));
  NEURONCHECK_TRY(const std::optional<Error> notKept,
                  runCases(record, std::move(plan), options, database));
  NEURONCHECK_TRY_VOID(
      writeOutput(options.output, [&](std::ostream& out) { return reporter->write(record, out); }));
  if (notKept) {
    return tl::unexpected(*notKept);
  }
  return withSignal(exitCodeOfRun(record, failOn));
}

}  // namespace

void addRunFlags(CLI::App& app, Options& options) {
  app.add_option(
      "--device", options.device,
      "where cases run: cpu (a check of the tool itself), sim (the simulated device), "
      "plugin:LIBRARY (any PrivateUse1 library), python:MODULE (a backend that registers "
      "when Python imports it) or a device type of libtorch");
  app.add_option("--python", options.python,
                 "the interpreter that has the module and the torch of --device python:MODULE "
                 "(default: python3)");
  app.add_option("-j,--jobs", options.jobs, "pairs of workers side by side (default: 1)");
  app.add_option("--timeout", options.caseSeconds,
                 "seconds that one case may take; what it prints does not count (default: 60)");
  app.add_option("--seed", options.seed, "seed of the run; equal seeds give equal operands");
  app.add_option("--profile", options.profile,
                 "a profile of the simulated device (default: made from the operator database)");
  app.add_flag("--isolate", options.isolate, "a process of its own for every case");
  app.add_option("--shard", options.shard,
                 "i/n: only the i-th of n parts of the cases, by their identity (default: that of "
                 "the array job of Slurm, AWS Batch, Kubernetes or Bazel this runs in)");
  app.add_flag("--resume", options.resume,
               "go on with the run in --run-file: what has ended is kept, the rest is run");
  app.add_option("-k", options.keyword, "only cases whose text contains this");
}

void addRunCommand(CLI::App& app, CommandLine& line) {
  Options& options = line.options;
  CLI::App* command =
      app.add_subcommand("run", "run cases on a device and compare every result with references");
  command->add_option("cases", options.inputs, "files of cases, one a line (docs/case-grammar.md)");
  command
      ->add_option("--case", options.cases,
                   "one case as text, as reports print it; repeat it for more")
      ->allow_extra_args(false);
  addRunFlags(*command, options);
  addTargetFlags(*command, options);
  addDatabaseFlag(*command, options);
  command->add_option("--fail-on", options.failOn,
                      "states that make exit code 1, joined by commas, or none (default: every "
                      "state that is no pass)");
  command->add_option(
      "--run-file", options.runFile,
      "also keep the run in this file, while it runs, for `neuron-check report` and "
      "--resume");
  addOutputFlags(*command, options, "terminal, json, jsonl or md (default: terminal)");
  command->callback([&line]() {
    line.action = [&line]() { return runCommand(line.options, [&line]() { return run(line); }); };
  });
}

}  // namespace neuroncheck::cli
