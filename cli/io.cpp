// SPDX-License-Identifier: Apache-2.0
#include "cli/io.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/replace_file.h"
#include "report/text.h"

namespace neuroncheck::cli {
namespace {

volatile std::sig_atomic_t receivedSignal = 0;

extern "C" void noteSignal(int number) { receivedSignal = number; }

std::string errnoText() { return std::generic_category().message(errno); }

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format(fmt::runtime(format), parts);
}

Result<void> writeFile(const std::string& path, const std::string& shown,
                       const std::function<Result<void>(std::ostream&)>& produce) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) {
    return fail(ErrorCode::Output, fmt::format("cannot write {}: {}", shown, errnoText()));
  }
  NEURONCHECK_TRY_VOID(produce(file));
  file.close();
  if (!file) {
    return fail(ErrorCode::Output, fmt::format("cannot write {}: {}", shown, errnoText()));
  }
  return {};
}

}  // namespace

Result<void> writeOutput(const std::string& path,
                         const std::function<Result<void>(std::ostream&)>& produce) {
  if (!path.empty() && path != "-") {
    // A device or pipe (/dev/null, /dev/stderr) is written to, never replaced.
    if (isSpecialFile(path)) {
      return writeFile(path, path, produce);
    }
    return replaceFile(
        path, [&](const std::string& partial) { return writeFile(partial, path, produce); });
  }
  NEURONCHECK_TRY_VOID(produce(std::cout));
  std::cout.flush();
  if (!std::cout) {
    return fail(ErrorCode::Output, "cannot write to standard output");
  }
  return {};
}

std::string harmless(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += report::printable(text.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

void printError(const Error& error) {
  std::cerr << "neuron-check: " << harmless(error.text()) << '\n';
}

void printWarning(const std::string& text) {
  std::cerr << "neuron-check: warning: " << harmless(text) << '\n';
}

std::string utcNow() { return utc("{:%Y-%m-%dT%H:%M:%SZ}"); }
std::string utcToday() { return utc("{:%Y-%m-%d}"); }

void Progress::step(std::size_t done, std::size_t total, const std::string& what) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (quiet_ || now - start_ < 2s || now - last_ < (terminal ? 200ms : 5s)) {
    return;
  }
  last_ = now;
  const std::string line = fmt::format("[{}/{}] {}", done, total, what);
  std::cerr << (terminal ? fmt::format("\r\033[K{:.110}", harmless(line)) : harmless(line) + "\n")
            << std::flush;
  shown_ = terminal;
}

void Progress::finish() {
  if (shown_) {
    std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
  }
}

void watchSignals() {
  struct sigaction action{};
  action.sa_handler = noteSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that closes the pipe early must become an Output error, not a silent death.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

int signalReceived() { return receivedSignal; }

}  // namespace neuroncheck::cli
