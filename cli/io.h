// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "core/result.h"

namespace neuroncheck::cli {

/// Writes what `produce` prints to `path`, or to standard output when `path` is empty or "-". A
/// file appears whole or not at all (written beside itself, then renamed). A full disk or closed
/// pipe is an Output error.
[[nodiscard]] Result<void> writeOutput(const std::string& path,
                                       const std::function<Result<void>(std::ostream&)>& produce);

/// Text for a terminal: control and direction characters of names from files become escapes, line
/// breaks stay.
[[nodiscard]] std::string harmless(std::string_view text);

/// Prints an error to standard error as "neuron-check: ...".
void printError(const Error& error);
/// Prints a line to standard error as "neuron-check: warning: ...".
void printWarning(const std::string& text);

/// UTC now as "2026-12-01T09:30:00Z", and its date alone.
[[nodiscard]] std::string utcNow();
[[nodiscard]] std::string utcToday();

/// Says on standard error what a long run is doing, from its third second on; silent before, and
/// with `quiet`.
class Progress {
 public:
  explicit Progress(bool quiet) : quiet_(quiet) {}
  /// `done` of `total` inputs are finished and `what` is next.
  void step(std::size_t done, std::size_t total, const std::string& what);
  /// Removes the line from a terminal.
  void finish();

 private:
  bool quiet_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_;
};

/// Installs handlers for SIGINT and SIGTERM that only note the signal. 0 while none arrived.
void watchSignals();
[[nodiscard]] int signalReceived();

}  // namespace neuroncheck::cli
