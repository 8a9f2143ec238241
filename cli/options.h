// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/result.h"

namespace neuroncheck::cli {

/// Exit codes of every command (docs/cli.md).
inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;
inline constexpr int kExitInput = 2;
inline constexpr int kExitUnavailable = 3;
inline constexpr int kExitInternal = 4;
inline constexpr int kExitNothing = 5;

/// The exit code an Error stands for.
[[nodiscard]] int exitCodeOf(ErrorCode code);
/// The code of a run over several inputs: the first of 4, 2, 3, 5, 1, 0 that occurred.
[[nodiscard]] int combineExitCodes(int a, int b);

enum class ColorMode : std::uint8_t { Auto, Always, Never };

/// Flags several commands share. Values not given on the command line are filled from
/// neuron-check.toml, then from the defaults below.
struct Options {
  std::optional<std::string> database;
  std::optional<std::string> release;
  std::optional<std::string> chip;
  std::optional<std::string> mode;
  std::optional<std::string> failOn;
  std::optional<std::string> format;
  std::optional<std::string> color;
  std::string output;
  std::string runFile;
  std::string opFilter;
  int verbosity = 0;
  bool quiet = false;
  std::vector<std::string> inputShapes;  ///< --input-shape texts
  std::vector<std::string> libraries;    ///< --load-library paths
  bool trace = false;                    ///< dispatch the model's cases on a recorder
  bool weightsOnly = false;  ///< a file of tensors without a program is an input like any other
  bool run = false;          ///< also run every distinct case on the device
  std::optional<std::string> device;  ///< "cpu", "sim", "plugin:PATH", "python:MODULE", a type
  std::string python = "python3";     ///< interpreter of a device "python:MODULE"
  int jobs = 1;                       ///< pairs of workers side by side
  int caseSeconds = 60;               ///< longest time of one case
  std::uint64_t seed = 0;             ///< of the run
  std::string profile;                ///< file with a profile of the simulated device
  bool isolate = false;               ///< a process for every case
  std::vector<std::string> cases;     ///< --case texts
  std::string keyword;                ///< cases whose text contains this
  std::string shard;                  ///< "2/8": the part of the plan to run
  bool resume = false;                ///< go on with the run in runFile
  std::vector<std::string> inputs;
};

/// The target the flags ask for; Usage error for a mode that does not exist.
[[nodiscard]] Result<Target> targetOf(const Options& options);
/// Whether to colour, from --color, NO_COLOR and whether the stream is a terminal.
[[nodiscard]] Result<bool> useColor(const Options& options, bool outputIsTerminal);
/// Columns of the terminal on standard output; 80 when it is none.
[[nodiscard]] std::size_t terminalWidth();

}  // namespace neuroncheck::cli
