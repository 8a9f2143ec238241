// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/commands.h"
#include "cli/io.h"
#include "runstore/merge.h"
#include "runstore/run_file.h"

namespace neuroncheck::cli {
namespace {

constexpr std::size_t kShownDuplicates = 20;

Result<void> checkOutput(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) {
    return fail(ErrorCode::Usage, "merge: give the file to write with -o");
  }
  if (std::filesystem::is_regular_file(path, ignored) &&
      std::filesystem::file_size(path, ignored) > 0 && !runstore::load(path)) {
    return fail(ErrorCode::Usage,
                fmt::format("-o {}: what is there is no run file; it is not replaced", path));
  }
  return {};
}

void writeDuplicates(const std::vector<runstore::Duplicate>& duplicates, std::ostream& out) {
  std::size_t same = 0;
  std::size_t shown = 0;
  for (const runstore::Duplicate& each : duplicates) {
    if (each.same) {
      ++same;
    } else if (shown++ < kShownDuplicates) {
      fmt::print(out, "  unlike results for {}: {}, {} is kept\n", harmless(each.text),
                 each.kept == each.dropped
                     ? fmt::format("{} in both, with other numbers", name(each.kept))
                     : fmt::format("{} and {}", name(each.kept), name(each.dropped)),
                 each.kept == each.dropped ? "one" : name(each.kept));
    }
  }
  if (shown > kShownDuplicates) {
    fmt::print(out, "  +{} more with unlike results\n", shown - kShownDuplicates);
  }
  if (same > 0) {
    fmt::print(out, "  {} ran more than once with the same result\n", same);
  }
}

void writeSummary(const Options& options, const RunRecord& record,
                  const std::vector<runstore::Duplicate>& duplicates, std::ostream& out) {
  std::map<CaseState, std::size_t> counts;
  for (const Outcome& outcome : record.outcomes) {
    ++counts[outcome.state];
  }
  fmt::print(out, "{}: {} cases of {} runs on {}{}\n", harmless(options.output),
             record.outcomes.size(), options.inputs.size(), harmless(record.device),
             record.simulated ? ", simulated: no hardware ran anything" : "");
  for (const auto& [state, count] : counts) {
    fmt::print(out, "  {:>6} {}\n", count, name(state));
  }
  writeDuplicates(duplicates, out);
}

Result<int> mergeRuns(const Options& options) {
  NEURONCHECK_TRY_VOID(checkOutput(options.output));
  NEURONCHECK_TRY(RunRecord record, runstore::load(options.inputs.front()));
  std::vector<runstore::Duplicate> duplicates;
  std::vector<std::string> warnings;
  // The first run is merged with itself: one run alone takes the same order as many.
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    NEURONCHECK_TRY(const RunRecord next, runstore::load(options.inputs[i]));
    auto merged = runstore::merge(record, next);
    if (!merged) {
      return tl::unexpected(std::move(merged).error().within(options.inputs[i]));
    }
    record = std::move(merged->record);
    if (i > 0) {
      std::ranges::move(merged->duplicates, std::back_inserter(duplicates));
    }
    for (std::string& warning : merged->warnings) {
      warnings.push_back(fmt::format("{}: {}", options.inputs[i], warning));
    }
  }
  for (const std::string& missing : runstore::missingShards(record.shard)) {
    warnings.push_back(fmt::format("shard {} is not there: the run is not whole", missing));
  }
  const auto open = std::ranges::count_if(record.outcomes, isUnfinished);
  if (open > 0) {
    warnings.push_back(fmt::format("{} cases were never ended: go on with --resume", open));
  }
  for (const std::string& warning : warnings) {
    printWarning(warning);
  }
  NEURONCHECK_TRY_VOID(runstore::save(record, options.output));
  NEURONCHECK_TRY_VOID(writeOutput("", [&](std::ostream& out) -> Result<void> {
    writeSummary(options, record, duplicates, out);
    return {};
  }));
  return kExitOk;
}

}  // namespace

void addMergeCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("merge", "run files of shards, or of one run's parts, as one");
  Options& options = line.options;
  command->add_option("runs", options.inputs, "run files that --run-file wrote")->required();
  command->add_option("-o,--output", options.output, "the run file to write");
  command->callback([&line]() {
    line.action = [&line]() {
      return runCommand(line.options, [&line]() { return mergeRuns(line.options); });
    };
  });
}

}  // namespace neuroncheck::cli
