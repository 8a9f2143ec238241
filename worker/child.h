// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/result.h"

namespace neuroncheck::worker {

/// A started program whose standard input and output are pipes to us, in a process group of its
/// own. Its standard error goes to an unnamed file, of which the end can be asked for. Destruction
/// kills the group and waits for the program. Movable, owned by one thread.
class Child {
 public:
  /// Starts `argv[0]` (a path; nothing is searched for) with our environment. Unavailable error
  /// when it cannot be started.
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& argv);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] int input() const { return input_; }    ///< we write here
  [[nodiscard]] int output() const { return output_; }  ///< we read here

  /// Ends the program (SIGKILL to its group) and says how it ended, as describeExit does. What it
  /// did by itself before counts.
  [[nodiscard]] std::string finish();

  /// The last `bytes` of what the program wrote to standard error.
  [[nodiscard]] std::string errorTail(std::size_t bytes = 2000) const;

 private:
  Child() = default;
  void reset() noexcept;

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
};

/// "exit code 3" or "signal 11 (Segmentation fault)", from a status of waitpid.
[[nodiscard]] std::string describeExit(int status);

}  // namespace neuroncheck::worker
