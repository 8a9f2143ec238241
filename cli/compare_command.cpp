// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <memory>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/io.h"
#include "conformance/compare/compare_text.h"

namespace neuroncheck::cli {
namespace {

/// The flags as texts, before they are understood.
struct CompareFlags {
  std::vector<std::string> ops;
  std::vector<std::string> maps;
  std::optional<double> reduction;
  std::string accumulate;
  std::string allclose;
  std::string opaque;
  std::string filter;
  std::optional<unsigned> threads;
};

/// "a=b" in two; Usage error without the sign or with an empty side.
Result<std::pair<std::string, std::string>> splitPair(const char* flag, const std::string& text) {
  const auto sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size()) {
    return fail(ErrorCode::Usage, fmt::format("{} {}: write EXPECTED=ACTUAL", flag, text));
  }
  return std::pair(text.substr(0, sign), text.substr(sign + 1));
}

std::optional<double> positive(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && stop == text.data() + text.size();
  return whole && value >= 0 && value < 1e300 ? std::optional(value) : std::nullopt;
}

Result<numerics::AllcloseTolerance> parseAllclose(const std::string& text) {
  const auto comma = text.find(',');
  const auto rtol = positive(text.substr(0, comma));
  const auto atol = comma == std::string::npos ? std::nullopt : positive(text.substr(comma + 1));
  if (!rtol || !atol) {
    return fail(ErrorCode::Usage,
                fmt::format("--also-allclose {}: write RTOL,ATOL, as 1e-3,1e-5", text));
  }
  return numerics::AllcloseTolerance{*rtol, *atol};
}

Result<conformance::CompareOptions> understand(const CompareFlags& flags) {
  conformance::CompareOptions options;
  options.filter = flags.filter;
  options.reduction = flags.reduction;
  options.threads = flags.threads.value_or(std::max(std::thread::hardware_concurrency(), 1U));
  if (flags.reduction && !(*flags.reduction >= 1 && *flags.reduction < 1e15)) {
    return fail(ErrorCode::Usage, "--reduction: the number of terms of a sum is 1 or more");
  }
  for (const std::string& text : flags.maps) {
    NEURONCHECK_TRY(auto pair, splitPair("--map", text));
    options.map.push_back(std::move(pair));
  }
  for (const std::string& text : flags.ops) {
    if (const auto sign = text.find('='); sign != std::string::npos) {
      NEURONCHECK_TRY(auto pair, splitPair("--op", text));
      options.opOf.insert(std::move(pair));
    } else if (options.op) {
      return fail(
          ErrorCode::Usage,
          "--op is given twice for all tensors; write --op TENSOR=OPERATOR for single ones");
    } else {
      options.op = text;
    }
  }
  if (!flags.accumulate.empty()) {
    options.accumulator = numerics::parseFormat(flags.accumulate);
  }
  if (!flags.allclose.empty()) {
    NEURONCHECK_TRY(options.allclose, parseAllclose(flags.allclose));
  }
  if (!flags.opaque.empty()) {
    options.open.opaque = parseDType(flags.opaque);
    if (!options.open.opaque) {
      return fail(ErrorCode::Usage, fmt::format("--opaque {}: this is no dtype", flags.opaque));
    }
  }
  return options;
}

int exitCode(const conformance::CompareReport& report) {
  if (report.unreadable()) {
    return kExitInput;
  }
  return report.passes() ? kExitOk : kExitFindings;
}

Result<int> compare(const Options& options, const CompareFlags& flags) {
  const std::string format = options.format.value_or("terminal");
  if (format != "terminal" && format != "json") {
    return fail(ErrorCode::Usage,
                fmt::format("--format {}: compare writes terminal or json", format));
  }
  NEURONCHECK_TRY(conformance::CompareOptions chosen, understand(flags));
  watchSignals();
  Progress progress(options.quiet);
  chosen.progress = [&](std::int64_t done, std::int64_t total, const std::string& name) {
    progress.step(static_cast<std::size_t>(done), static_cast<std::size_t>(total), name);
    return signalReceived() != 0;
  };
  auto report = conformance::compareFiles(options.inputs[0], options.inputs[1], chosen);
  progress.finish();
  if (!report) {
    return tl::unexpected(std::move(report).error());
  }
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) -> Result<void> {
    if (format == "json") {
      writeCompareJson(*report, out);
    } else {
      writeCompareText(*report, options.verbosity, out);
    }
    return {};
  }));
  return report->stopped ? 128 + signalReceived() : exitCode(*report);
}

}  // namespace

void addCompareCommand(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "compare",
      "judge the tensors of one file against the truth in another (safetensors, npy, npz)");
  Options& options = line.options;
  auto flags = std::make_shared<CompareFlags>();
  command
      ->add_option(
          "files", options.inputs,
          "EXPECTED, best in a wider dtype than the result, and ACTUAL: safetensors, an index "
          "or a folder of them, npy or npz")
      ->required()
      ->expected(2);
  command->add_option(
      "--op", flags->ops,
      "operator that made the tensors (aten::mm, mm; max.dim#1 is its second output), "
      "or TENSOR=OPERATOR for single ones");
  command->add_option("--reduction", flags->reduction,
                      "terms of the sum behind one element: k of a matrix product, taps times "
                      "channels of a convolution");
  command
      ->add_option("--accumulate", flags->accumulate,
                   "arithmetic of the device's sums (default: fp32)")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16", "fp64", "tf32"}));
  command->add_option("--map", flags->maps, "EXPECTED=ACTUAL: names that differ");
  command->add_option("--also-allclose", flags->allclose,
                      "RTOL,ATOL: a plain tolerance that has to hold too, reported apart");
  command->add_option("--opaque", flags->opaque,
                      "dtype of bytes a numpy file leaves open ('V2' of bfloat16, 'V1' of float8)");
  command->add_option("-k", flags->filter, "only tensors whose name contains this");
  command
      ->add_option("-j", flags->threads,
                   "threads for large tensors (default: one for each core); the report is the same "
                   "for any number")
      ->check(CLI::Range(1U, 1024U));
  addOutputFlags(*command, options, "terminal or json (default: terminal)");
  command->footer(
      "The bound of each element follows from the operator's class, the length of its sums and the "
      "dtype: docs/verdicts.md.\nWithout --op and --reduction every tensor is taken for one "
      "evaluation, rounded once.\n\nExit code 0 when every tensor agrees, 1 when one does not, is "
      "missing or cannot be trusted,\n2 for files that cannot be read, 5 when there is nothing to "
      "compare.\n\nExamples:\n  neuron-check compare cpu_f64.safetensors device_bf16.safetensors "
      "--op mm --reduction 2048\n  neuron-check compare a.npz b.npz --map y=out --also-allclose "
      "1e-3,1e-5 --format json");
  command->callback([&line, flags]() {
    line.action = [&line, flags]() {
      return runCommand(line.options, [&line, flags]() { return compare(line.options, *flags); });
    };
  });
}

}  // namespace neuroncheck::cli
