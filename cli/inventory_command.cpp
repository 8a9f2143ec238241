// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "core/inventory_json.h"
#include "report/inventory_text.h"

namespace neuroncheck::cli {
namespace {

Json documentOf(const std::vector<InputResult>& inputs) {
  std::vector<Inventory> inventories;
  inventories.reserve(inputs.size());
  for (const InputResult& input : inputs) {
    inventories.push_back(input.inventory);
  }
  Json document = inventoryDocument(inventories);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].error) {
      document["inputs"][i]["error"] = inputs[i].error->text();
    }
  }
  return document;
}

Result<int> inventory(const Options& options) {
  const std::string format = options.format.value_or("terminal");
  if (format != "terminal" && format != "json") {
    return fail(ErrorCode::Usage,
                fmt::format("--format '{}': the inventory formats are terminal and json", format));
  }
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  TorchClient torch;
  NEURONCHECK_TRY(const ScanContext context, scanContext(options, database, torch));
  Progress progress(options.quiet);
  std::vector<InputResult> inputs;
  int code = kExitOk;
  for (const std::string& path : options.inputs) {
    if (signalReceived() != 0) {
      break;
    }
    progress.step(inputs.size(), options.inputs.size(), path);
    InputResult input = scanInput(path, context);
    std::size_t uses = 0;
    if (input.error) {
      code = combineExitCodes(code, exitCodeOf(input.error->code));
      printError(*input.error);
    } else {
      filterOperators(input.inventory, options.opFilter);
      for (const Model& model : input.inventory.models) {
        uses += model.uses.size();
      }
      const bool empty = uses == 0 && !input.inventory.checkpoint;
      code = combineExitCodes(code, empty ? kExitNothing : kExitOk);
    }
    inputs.push_back(std::move(input));
  }
  progress.finish();
  NEURONCHECK_TRY_VOID(checkScriptFlags(options, inputs));
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) -> Result<void> {
    if (format == "json") {
      out << dumpJson(documentOf(inputs), 1) << '\n';
    } else {
      report::writeInventoryText(inputs, out, terminalWidth());
    }
    return {};
  }));
  return withSignal(code);
}

}  // namespace

void addInventoryCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("inventory", "list the operators of models, without a verdict");
  Options& options = line.options;
  command
      ->add_option("model", options.inputs,
                   "exported programs (.pt2), TorchScript modules, checkpoints")
      ->required();
  addDatabaseFlag(*command, options);
  command->add_option("--op", options.opFilter, "operators matching this wildcard only");
  addWeightsFlag(*command, options);
  addScriptFlags(*command, options);
  addOutputFlags(*command, options, "terminal or json (default: terminal)");
  command->callback([&line]() {
    line.action = [&line]() {
      return runCommand(line.options, [&line]() { return inventory(line.options); });
    };
  });
}

}  // namespace neuroncheck::cli
