// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/gate.h"
#include "cli/io.h"
#include "report/reporter.h"
#include "runstore/run_file.h"

namespace neuroncheck::cli {
namespace {

Result<int> rebuild(const Options& options) {
  NEURONCHECK_TRY(const std::set<std::string> failOn,
                  parseFailOn(options.failOn.value_or(std::string(kDefaultFailOn))));
  NEURONCHECK_TRY(const auto reporter, reporterOf(options));
  NEURONCHECK_TRY(const RunRecord record, runstore::load(options.runFile));
  NEURONCHECK_TRY_VOID(
      writeOutput(options.output, [&](std::ostream& out) { return reporter->write(record, out); }));
  const int ran = record.device != "none" ? exitCodeOfRun(record, failOn) : kExitOk;
  return combineExitCodes(exitCodeOf(record, failOn), ran);
}

}  // namespace

void addReportCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("report", "rebuild any report from a run file");
  Options& options = line.options;
  command->add_option("run", options.runFile, "run file that --run-file wrote")->required();
  command->add_option("--fail-on", options.failOn, "as for the check itself");
  addOutputFlags(*command, options, "terminal, json, jsonl or md (default: terminal)");
  command->callback([&line]() {
    line.action = [&line]() {
      return runCommand(line.options, [&line]() { return rebuild(line.options); });
    };
  });
}

}  // namespace neuroncheck::cli
