// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sandbox/sandbox.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "torch_host/sandbox/syscall_filter.h"

namespace neuroncheck::sandbox {
namespace {

// Headers of an older kernel lack the later rights; the numbers are the kernel's ABI.
constexpr std::uint64_t kFileRightsV1 = (std::uint64_t{1} << 13) - 1;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;
constexpr std::uint64_t kIoctlDevice = std::uint64_t{1} << 15;
constexpr std::uint64_t kBindAndConnectTcp = 3;
constexpr std::uint64_t kAllScopes = 3;

struct RulesetAttributes {
  std::uint64_t fileRights = 0;
  std::uint64_t networkRights = 0;
  std::uint64_t scopes = 0;
};

std::uint64_t fileRights(int abi) {
  return kFileRightsV1 | (abi >= 2 ? kRefer : 0) | (abi >= 3 ? kTruncate : 0) |
         (abi >= 5 ? kIoctlDevice : 0);
}

}  // namespace

int restrictFiles() {
  const int abi = landlockVersion();
  if (abi <= 0) {
    return 0;
  }
  const RulesetAttributes attributes{.fileRights = fileRights(abi),
                                     .networkRights = abi >= 4 ? kBindAndConnectTcp : 0,
                                     .scopes = abi >= 6 ? kAllScopes : 0};
  const std::size_t size = abi >= 6   ? sizeof attributes
                           : abi >= 4 ? 2 * sizeof(std::uint64_t)
                                      : sizeof(std::uint64_t);
  const long ruleset = ::syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
  if (ruleset < 0) {
    return 0;
  }
  const bool entered = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(static_cast<int>(ruleset));
  return entered ? abi : 0;
}

int landlockVersion() {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

SandboxState enterSandbox(const SandboxOptions& options) {
  SandboxState state;
  state.noNewPrivileges = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  state.landlockAbi = restrictFiles();
  state.syscallFilter = installSyscallFilter(options);
  return state;
}

std::string SandboxState::text() const {
  if (complete()) {
    return "complete";
  }
  std::string missing;
  const auto add = [&missing](const char* what) {
    missing += missing.empty() ? what : fmt::format(", {}", what);
  };
  if (!noNewPrivileges) {
    add("no_new_privs");
  }
  if (!syscallFilter) {
    add("the system call filter (seccomp)");
  }
  if (landlockAbi == 0) {
    add("file rules (Landlock)");
  }
  return "without " + missing;
}

}  // namespace neuroncheck::sandbox
