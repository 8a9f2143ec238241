// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "core/model_diff.h"
#include "core/run_diff.h"
#include "report/diff_report.h"
#include "report/run_diff_report.h"
#include "runstore/run_file.h"

namespace neuroncheck::cli {
namespace {

std::string labelOf(const InputResult& input, std::size_t model) {
  const Inventory& inventory = input.inventory;
  return inventory.models.size() == 1
             ? inventory.path
             : fmt::format("{}: {}", inventory.path, inventory.models[model].name);
}

ModelDiff diffAt(const InputResult& before, std::size_t i, const InputResult& after,
                 std::size_t j) {
  ModelDiff diff = diffModels(before.inventory.models[i], before.assessment.models[i],
                              after.inventory.models[j], after.assessment.models[j]);
  diff.before = labelOf(before, i);
  diff.after = labelOf(after, j);
  return diff;
}

// Models of two archives are paired by name; a single model on each side is a pair whatever the
// names.
Result<std::vector<ModelDiff>> pairUp(const InputResult& before, const InputResult& after) {
  const auto& a = before.inventory.models;
  const auto& b = after.inventory.models;
  if (a.size() == 1 && b.size() == 1) {
    return std::vector{diffAt(before, 0, after, 0)};
  }
  std::vector<ModelDiff> diffs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (a[i].name == b[j].name) {
        diffs.push_back(diffAt(before, i, after, j));
      }
    }
  }
  if (diffs.empty()) {
    return fail(ErrorCode::Nothing, fmt::format("no model of {} has the name of a model of {}",
                                                before.inventory.path, after.inventory.path));
  }
  return diffs;
}

// A diff prints no notes: what a flag could not do must not pass unseen.
Result<void> checkFlagsUsed(const Options& options, const InputResult& input) {
  const char* flag = !options.inputShapes.empty() ? "--input-shape"
                     : !options.libraries.empty() ? "--load-library"
                     : options.trace              ? "--trace"
                                                  : nullptr;
  for (const Model& model : input.inventory.models) {
    if (flag != nullptr && model.approximate) {
      return inputError(fmt::format(
          "{}: {} needs the file as libtorch reads it; {}", input.inventory.path, flag,
          model.notes.empty() ? "only names of operators are known" : model.notes.front()));
    }
  }
  return {};
}

Result<int> diffRunFiles(const Options& options) {
  NEURONCHECK_TRY(const RunRecord before, runstore::load(options.inputs[0]));
  NEURONCHECK_TRY(const RunRecord after, runstore::load(options.inputs[1]));
  if (before.outcomes.empty() || after.outcomes.empty()) {
    return fail(ErrorCode::Nothing,
                fmt::format("{}: no case was run, so there is nothing to compare",
                            options.inputs[before.outcomes.empty() ? 0 : 1]));
  }
  const RunDiff found = diffRuns(before, after);
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) {
    return report::writeRunDiff(found, before.simulated || after.simulated,
                                options.format.value_or("terminal"), out);
  }));
  return found.nothingChanged() ? kExitOk : kExitFindings;
}

Result<int> diff(Options& options) {
  const auto runs = std::ranges::count_if(options.inputs, runstore::isRunFile);
  if (runs == 2) {
    return diffRunFiles(options);
  }
  if (runs == 1) {
    return fail(ErrorCode::Usage, "a run file is compared with another run file");
  }
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  NEURONCHECK_TRY(const RunRecord record, runCheck(options, database, {}));
  for (const InputResult& input : record.inputs) {
    if (input.error) {
      return tl::unexpected(*input.error);
    }
    NEURONCHECK_TRY_VOID(checkFlagsUsed(options, input));
  }
  NEURONCHECK_TRY(const std::vector<ModelDiff> diffs, pairUp(record.inputs[0], record.inputs[1]));
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) {
    return report::writeDiff(diffs, record.target, options.format.value_or("terminal"), out);
  }));
  for (const ModelDiff& each : diffs) {
    if (!each.same()) {
      return kExitFindings;
    }
  }
  return kExitOk;
}

}  // namespace

void addDiffCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "diff",
      "what changed between two models: operators gained, lost or changed, claims, findings");
  Options& options = line.options;
  command
      ->add_option(
          "models", options.inputs,
          "two exported programs or TorchScript modules, or two run files, before and after")
      ->required()
      ->expected(2);
  addTargetFlags(*command, options);
  addDatabaseFlag(*command, options);
  addScriptFlags(*command, options);
  addTraceFlag(*command, options);
  addOutputFlags(*command, options, "terminal, json or md (default: terminal)");
  command->footer("Exit code 0 when nothing differs, 1 when something does.");
  command->callback([&line]() {
    line.action = [&line]() {
      return runCommand(line.options, [&line]() { return diff(line.options); });
    };
  });
}

}  // namespace neuroncheck::cli
