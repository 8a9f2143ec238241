// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"

namespace neuroncheck::runstore {

/// The right to write a run file, held by one process at a time and given back when it ends,
/// however it ends. Advisory: between our own programs, on a local disk.
class RunLock {
 public:
  /// Output error when another run has it, or the file cannot be opened for writing.
  [[nodiscard]] static Result<RunLock> take(const std::string& path);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  explicit RunLock(int file) : file_(file) {}
  int file_;
};

}  // namespace neuroncheck::runstore
