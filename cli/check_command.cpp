// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/config.h"
#include "cli/gate.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "cli/run_step.h"
#include "report/reporter.h"
#include "runstore/run_file.h"

namespace neuroncheck::cli {
namespace {

bool isSqlite(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string start(kMagic.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kMagic;
}

/// A report must never take the place of what it was made from.
Result<void> keepInputs(const Options& options) {
  namespace fs = std::filesystem;
  std::vector<std::string> read = options.inputs;
  read.push_back(options.database.value_or(""));
  for (const std::string& output : {options.output, options.runFile}) {
    for (const std::string& input : read) {
      std::error_code ignored;
      if (!output.empty() && fs::is_regular_file(output, ignored) &&
          fs::equivalent(output, input, ignored)) {
        return fail(ErrorCode::Usage,
                    fmt::format("{}: would be replaced by the report on it", output));
      }
    }
  }
  std::error_code ignored;
  if (!options.runFile.empty() && fs::is_regular_file(options.runFile, ignored) &&
      fs::file_size(options.runFile, ignored) > 0 && !isSqlite(options.runFile)) {
    return fail(ErrorCode::Usage,
                fmt::format("--run-file {}: a file of another kind is there; it is not replaced",
                            options.runFile));
  }
  return {};
}

Result<int> check(const CommandLine& line) {
  const Options& options = line.options;
  if (options.inputs.empty()) {
    return fail(ErrorCode::Usage, "no model is given: nothing was checked");
  }
  NEURONCHECK_TRY_VOID(keepInputs(options));
  NEURONCHECK_TRY(const std::set<std::string> failOn,
                  parseFailOn(options.failOn.value_or(std::string(kDefaultFailOn))));
  NEURONCHECK_TRY(const auto reporter, reporterOf(options));
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  NEURONCHECK_TRY_VOID(checkRunFlags(options));
  NEURONCHECK_TRY(RunRecord record, runCheck(options, database, line.argv));
  std::optional<Error> notKept;
  if (options.run) {
    NEURONCHECK_TRY(notKept, runCases(record, conformance::planOf(record), options, database));
  }
  NEURONCHECK_TRY_VOID(
      writeOutput(options.output, [&](std::ostream& out) { return reporter->write(record, out); }));
  if (notKept) {
    return tl::unexpected(*notKept);
  }
  if (!options.run && !options.runFile.empty()) {
    NEURONCHECK_TRY_VOID(runstore::save(record, options.runFile));
  }
  const int ran = options.run ? exitCodeOfRun(record, failOn) : kExitOk;
  return withSignal(combineExitCodes(exitCodeOf(record, failOn), ran));
}

}  // namespace

Result<std::unique_ptr<report::Reporter>> reporterOf(const Options& options) {
  const bool toTerminal =
      (options.output.empty() || options.output == "-") && isatty(STDOUT_FILENO) != 0;
  report::Style style;
  style.width = terminalWidth();
  style.verbosity = options.quiet ? -1 : options.verbosity;
  NEURONCHECK_TRY(style.color, useColor(options, toTerminal));
  return report::makeReporter(options.format.value_or("terminal"), style);
}

void addTargetFlags(CLI::App& app, Options& options) {
  app.add_option("--release", options.release,
                 "TorchNeuron release to judge for (default: the newest known)");
  app.add_option("--chip", options.chip, "trn1, trn2 or trn3 (default: trn2)");
  app.add_option("--mode", options.mode, "eager or compile (default: eager)");
}

void addOutputFlags(CLI::App& app, Options& options, const std::string& formats) {
  app.add_option("--format", options.format, formats);
  app.add_option("-o,--output", options.output, "write to this file instead of standard output");
  app.add_option("--color", options.color,
                 "auto, always or never (default: auto; NO_COLOR is honoured)");
  app.add_flag("-v,--verbose", options.verbosity, "all places of every finding, every use");
  app.add_flag("-q,--quiet", options.quiet, "the verdict only, no progress");
}

void addWeightsFlag(CLI::App& app, Options& options) {
  app.add_flag(
      "--weights-only", options.weightsOnly,
      "take checkpoints, safetensors and Hugging Face folders as inputs: dtypes and memory "
      "are judged, operators are not");
}

void addScriptFlags(CLI::App& app, Options& options) {
  app.add_option(
         "--input-shape", options.inputShapes,
         "TorchScript: sizes and dtype of the next tensor that forward takes, to know shapes "
         "within; repeat it for each, in order. 1x3x224x224 is float32, 1x128:int64 another "
         "dtype by torch's name, :int64 a tensor of no dimension")
      ->allow_extra_args(false);
  app.add_option("--load-library", options.libraries,
                 "TorchScript: a library that registers the model's custom operators; it is loaded "
                 "and runs")
      ->allow_extra_args(false);
}

void addTraceFlag(CLI::App& app, Options& options) {
  app.add_flag(
      "--trace", options.trace,
      "dispatch each distinct operator call on a recording backend that registers what the "
      "release does, to see exactly what the device is asked for (needs "
      "neuron-check-torch; eager mode)");
}

void addDatabaseFlag(CLI::App& app, Options& options) {
  app.add_option("--db", options.database, "operator database to use instead of the embedded one");
}

int runCommand(Options& options, const std::function<Result<int>()>& body) {
  auto code = applyConfig(kConfigFile, options).and_then(body);
  if (!code) {
    printError(code.error());
    return withSignal(exitCodeOf(code.error().code));
  }
  return *code;
}

void addCheckCommand(CLI::App& app, CommandLine& line) {
  Options& options = line.options;
  app.add_option("model", options.inputs,
                 "exported programs (.pt2) and TorchScript modules to check; any other file is "
                 "named for what it is");
  addTargetFlags(app, options);
  addDatabaseFlag(app, options);
  app.add_option("--fail-on", options.failOn,
                 fmt::format("words that make exit code 1, joined by commas, or none (default: {})",
                             kDefaultFailOn));
  app.add_option("--op", options.opFilter,
                 "look at operators matching this wildcard only, e.g. 'aten::*conv*'");
  addWeightsFlag(app, options);
  addScriptFlags(app, options);
  addTraceFlag(app, options);
  app.add_flag("--run", options.run,
               "also run every distinct operator case on the device of --device");
  addRunFlags(app, options);
  app.add_option("--run-file", options.runFile,
                 "also keep the run in this file, for `neuron-check report`");
  addOutputFlags(app, options, "terminal, json, jsonl or md (default: terminal)");
  app.callback([&app, &line]() {
    if (!app.get_subcommands().empty()) {
      return;
    }
    if (line.options.inputs.empty() && line.argv.size() == 1) {
      throw CLI::CallForHelp();
    }
    line.action = [&line]() { return runCommand(line.options, [&line]() { return check(line); }); };
  });
}

}  // namespace neuroncheck::cli
