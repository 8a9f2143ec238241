// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace neuroncheck::sandbox {

/// Something a sandboxed process asked the kernel for and was refused.
struct Attempt {
  std::int64_t syscall = 0;
  std::array<char, 256> path{};  ///< the file named, when the call names one; cut, zero-ended
};

/// Refused calls, in memory that parent and child share. `count` goes on beyond what fits.
struct AttemptLog {
  static constexpr std::size_t kSlots = 32;
  std::uint32_t count = 0;
  std::array<Attempt, kSlots> slots{};
};

/// What the kernel took of the sandbox. A missing piece is no reason to stop (older kernels lack
/// Landlock), but has to be said.
struct SandboxState {
  bool noNewPrivileges = false;
  bool syscallFilter = false;  ///< seccomp: everything outside a short list of calls is refused
  int landlockAbi = 0;         ///< 0: the kernel has no Landlock
  bool complete() const { return noNewPrivileges && syscallFilter && landlockAbi > 0; }
  /// "complete", or what is missing in words.
  [[nodiscard]] std::string text() const;
};

struct SandboxOptions {
  AttemptLog* attempts = nullptr;      ///< refused calls are noted here when given
  bool allowExecutableMemory = false;  ///< for kernels that are compiled at run time (oneDNN)
};

/// Takes from this process, for good: gaining privileges, opening or creating any file, sockets,
/// starting programs, processes and threads, signals to others, and every other system call that
/// computing and writing to open descriptors does not need. Refused calls return EPERM. What is
/// open stays usable. Call it in a single-threaded process that has closed what it must not use.
///
/// Sources: Linux Documentation/userspace-api/{seccomp_filter,landlock,no_new_privs}.rst.
SandboxState enterSandbox(const SandboxOptions& options);

/// The file rules of enterSandbox alone: Landlock with every right handled and none granted.
/// Returns the ABI version in force, 0 where the kernel has none.
int restrictFiles();

/// The Landlock version of this kernel, 0 when it has none.
[[nodiscard]] int landlockVersion();

/// What a refused call means to people: "open the file '/etc/passwd'", "make a socket", ...
[[nodiscard]] std::string describe(const Attempt& attempt);

}  // namespace neuroncheck::sandbox
