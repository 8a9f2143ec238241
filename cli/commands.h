// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options.h"
#include "report/reporter.h"

namespace neuroncheck::cli {

/// What the chosen command does once the command line is parsed; returns the exit code.
using Action = std::function<int()>;

/// Each function adds one command to the parser and, when the user chose it, sets `action`. `argv`
/// is the command line as given, kept in reports.
struct CommandLine {
  Options options;
  std::vector<std::string> argv;
  Action action;
};

void addCheckCommand(CLI::App& app, CommandLine& line);
void addCompareCommand(CLI::App& app, CommandLine& line);
void addInventoryCommand(CLI::App& app, CommandLine& line);
void addDbCommand(CLI::App& app, CommandLine& line);
void addDiffCommand(CLI::App& app, CommandLine& line);
void addReportCommand(CLI::App& app, CommandLine& line);
void addDoctorCommand(CLI::App& app, CommandLine& line);
void addMergeCommand(CLI::App& app, CommandLine& line);
void addRunCommand(CLI::App& app, CommandLine& line);

/// Flags in the same words everywhere.
void addTargetFlags(CLI::App& app, Options& options);
void addOutputFlags(CLI::App& app, Options& options, const std::string& formats);
void addWeightsFlag(CLI::App& app, Options& options);
void addScriptFlags(CLI::App& app, Options& options);
void addTraceFlag(CLI::App& app, Options& options);
void addRunFlags(CLI::App& app, Options& options);
void addDatabaseFlag(CLI::App& app, Options& options);

/// The reporter that --format, --color, -v and -q ask for.
[[nodiscard]] Result<std::unique_ptr<report::Reporter>> reporterOf(const Options& options);

/// Applies neuron-check.toml, then runs `body`; prints an Error and turns it into its exit code.
[[nodiscard]] int runCommand(Options& options, const std::function<Result<int>()>& body);

}  // namespace neuroncheck::cli
