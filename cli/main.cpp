// SPDX-License-Identifier: Apache-2.0
// The front door: parses the command line and hands over to one command. No torch, clang or Qt
// here.
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/options.h"
#include "core/version.h"

namespace {

constexpr const char* kDescription =
    "Says what a PyTorch model needs from AWS Trainium through TorchNeuron: which operators,\n"
    "shapes, dtypes and modes it uses, which are native, which fall back to the CPU, which fail.\n"
    "Reads an exported program or checkpoint alone: no torch, no model code, no device, nothing "
    "is\n"
    "executed. Loading TorchScript runs code of the file: that is done in a sandbox.";

constexpr const char* kFooter =
    "Examples:\n"
    "  neuron-check model.pt2                          judge one model on the newest release, "
    "trn2, eager\n"
    "  neuron-check models/*.pt2 --chip trn3           a portfolio: one row per model, what "
    "unblocks most\n"
    "  neuron-check model.pt2 --mode compile           the same model under torch.compile\n"
    "  neuron-check model.pt2 --format json -o r.json  for a dashboard\n"
    "  neuron-check model.pt2 --fail-on blocked        in CI: fail only on what cannot run\n"
    "  neuron-check inventory model.pt2                operators alone, no verdict\n"
    "  neuron-check db show aten::gelu                 what is known of one operator, and from "
    "where\n"
    "\n"
    "Exit codes: 0 the gate holds; 1 findings; 2 usage or unreadable input; 3 a device or program "
    "is\n"
    "absent; 4 our own fault or a report that could not be written; 5 nothing to check; 130/143 "
    "interrupted.";

int run(int argc, char** argv) {
  using namespace neuroncheck::cli;
  CommandLine line;
  line.argv.assign(argv, argv + argc);
  CLI::App app(kDescription, "neuron-check");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string(neuroncheck::toolName()),
                       "print the version and leave");
  app.get_formatter()->column_width(34);
  addCheckCommand(app, line);
  addCompareCommand(app, line);
  addInventoryCommand(app, line);
  addDbCommand(app, line);
  addDiffCommand(app, line);
  addReportCommand(app, line);
  addMergeCommand(app, line);
  addRunCommand(app, line);
  addDoctorCommand(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    std::cout.flush();
    if (!std::cout) {
      return kExitInternal;
    }
    // Help that nobody asked for: an empty list of models must not pass a gate.
    return code != 0 ? kExitInput : argc == 1 ? kExitNothing : kExitOk;
  }
  watchSignals();
  return line.action ? line.action() : kExitInput;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "neuron-check: internal error: " << error.what() << '\n';
    return neuroncheck::cli::kExitInternal;
  }
}
