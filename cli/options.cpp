// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

namespace neuroncheck::cli {

int exitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
    case ErrorCode::Input:
      return kExitInput;
    case ErrorCode::Unavailable:
      return kExitUnavailable;
    case ErrorCode::Nothing:
      return kExitNothing;
    case ErrorCode::Output:
    case ErrorCode::Internal:
      break;
  }
  return kExitInternal;
}

int combineExitCodes(int a, int b) {
  static constexpr std::array kPrecedence{kExitInternal, kExitInput,    kExitUnavailable,
                                          kExitNothing,  kExitFindings, kExitOk};
  const auto rank = [](int code) {
    return std::ranges::find(kPrecedence, code) - kPrecedence.begin();
  };
  return rank(a) <= rank(b) ? a : b;
}

Result<Target> targetOf(const Options& options) {
  Target target;
  target.release = options.release.value_or("");
  target.chipDefaulted = !options.chip.has_value();
  target.chip = options.chip.value_or(target.chip);
  target.modeDefaulted = !options.mode.has_value();
  const std::string mode = options.mode.value_or("eager");
  if (mode != "eager" && mode != "compile") {
    return fail(ErrorCode::Usage,
                fmt::format("--mode '{}': the modes are eager and compile", mode));
  }
  target.mode = mode == "compile" ? ExecutionMode::Compile : ExecutionMode::Eager;
  return target;
}

Result<bool> useColor(const Options& options, bool outputIsTerminal) {
  const std::string word = options.color.value_or("auto");
  if (word == "always") {
    return true;
  }
  if (word == "never") {
    return false;
  }
  if (word != "auto") {
    return fail(ErrorCode::Usage, fmt::format("--color '{}': use auto, always or never", word));
  }
  const char* noColor =
      std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return outputIsTerminal && (noColor == nullptr || *noColor == '\0');
}

std::size_t terminalWidth() {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): ioctl has no other form
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

}  // namespace neuroncheck::cli
