// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sandbox/syscall_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace neuroncheck::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the sandbox knows the system calls of x86_64 and aarch64"
#endif

// Numbers from here on are the x32 calls of x86_64, which the list does not describe.
constexpr std::uint32_t kFirstX32 = 0x40000000;

/// Memory, time, the own thread, and descriptors that are open already.
constexpr auto kAllowed = std::to_array<std::uint32_t>({
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_lseek,
    SYS_fstat,
    SYS_close,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getpid,
    SYS_gettid,
    SYS_getrusage,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_membarrier,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    SYS_uname,
    SYS_sysinfo,
    SYS_getcpu,
});

constexpr sock_filter statement(std::uint16_t code, std::uint32_t operand) {
  return {.code = code, .jt = 0, .jf = 0, .k = operand};
}
constexpr sock_filter jumpUnless(std::uint16_t condition, std::uint32_t operand,
                                 std::uint8_t skip) {
  return {.code = static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K),
          .jt = 0,
          .jf = skip,
          .k = operand};
}
constexpr sock_filter answer(std::uint32_t action) { return statement(BPF_RET | BPF_K, action); }
constexpr sock_filter load(std::size_t offset) {
  return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
/// Both target architectures are little-endian: the low half of an argument comes first.
constexpr std::size_t lowHalf(std::size_t argument) {
  return offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t);
}

using Program = std::vector<sock_filter>;

void allow(Program& program, std::uint32_t number) {
  program.push_back(jumpUnless(BPF_JEQ, number, 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
}

/// Allows a call whose argument has none of the bits of `forbidden`. Refused without a note:
/// numeric libraries try it by themselves, whatever the file is.
void allowWithoutBits(Program& program, std::uint32_t number, std::size_t argument,
                      std::uint32_t forbidden) {
  program.push_back(jumpUnless(BPF_JEQ, number, 4));
  program.push_back(load(lowHalf(argument)));
  program.push_back(jumpUnless(BPF_JSET, forbidden, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  program.push_back(answer(SECCOMP_RET_ALLOW));
}

/// Allows a call whose argument, as 64 bits, is `value`.
void allowWithValue(Program& program, std::uint32_t number, std::size_t argument,
                    std::uint64_t value) {
  program.push_back(jumpUnless(BPF_JEQ, number, 6));
  program.push_back(load(lowHalf(argument)));
  program.push_back(jumpUnless(BPF_JEQ, static_cast<std::uint32_t>(value), 3));
  program.push_back(load(lowHalf(argument) + sizeof(std::uint32_t)));
  program.push_back(jumpUnless(BPF_JEQ, static_cast<std::uint32_t>(value >> 32), 1));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(answer(SECCOMP_RET_TRAP));
}

/// The C library blocks signals while it starts a thread, so that a trap there would end the
/// process: these calls fail without a note. clone3 hides its flags; without it clone is used.
void refuseThreads(Program& program) {
  program.push_back(jumpUnless(BPF_JEQ, SYS_clone3, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  program.push_back(jumpUnless(BPF_JEQ, SYS_clone, 3));
  program.push_back(load(lowHalf(0)));
  program.push_back(jumpUnless(BPF_JSET, CLONE_THREAD, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  // Any other clone goes on to the trap: the accumulator no longer holds the number, and need not.
}

Program makeProgram(bool allowExecutableMemory) {
  Program program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back({.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 1, .jf = 0, .k = kArchitecture});
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(offsetof(seccomp_data, nr)));
  program.push_back(jumpUnless(BPF_JGE, kFirstX32, 1));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  for (const std::uint32_t number : kAllowed) {
    allow(program, number);
  }
  const std::uint32_t executable = allowExecutableMemory ? 0 : PROT_EXEC;
  allowWithoutBits(program, SYS_mmap, 2, executable);
  allowWithoutBits(program, SYS_mprotect, 2, executable);
  // abort() signals its own thread; signals to anybody else are refused.
  allowWithValue(program, SYS_tgkill, 0, static_cast<std::uint64_t>(::getpid()));
  // Asking for a limit is harmless, setting one is not.
  allowWithValue(program, SYS_prlimit64, 2, 0);
  refuseThreads(program);
  // Asked by numeric libraries that look at processors.
  program.push_back(jumpUnless(BPF_JEQ, SYS_sched_setaffinity, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
#if defined(__x86_64__)
  program.push_back(jumpUnless(BPF_JEQ, SYS_arch_prctl, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
#endif
  program.push_back(answer(SECCOMP_RET_TRAP));
  return program;
}

AttemptLog* attemptLog = nullptr;

/// Which argument of a call names a file; -1 for none.
int pathArgument(std::int64_t number) {
  switch (number) {
    case SYS_openat:
    case SYS_openat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_renameat2:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_readlinkat:
    case SYS_fchmodat:
    case SYS_execveat:
      return 1;
#if defined(__x86_64__)
    case SYS_open:
    case SYS_creat:
    case SYS_unlink:
    case SYS_mkdir:
    case SYS_rename:
    case SYS_stat:
    case SYS_access:
    case SYS_readlink:
    case SYS_chmod:
#endif
    case SYS_execve:
    case SYS_truncate:
      return 0;
    default:
      return -1;
  }
}

std::uint64_t argumentOf(const ucontext_t& context, int index) {
#if defined(__x86_64__)
  constexpr std::array<int, 2> kRegisters{REG_RDI, REG_RSI};
  return static_cast<std::uint64_t>(
      context.uc_mcontext.gregs[kRegisters.at(static_cast<std::size_t>(index))]);
#else
  return context.uc_mcontext.regs[index];
#endif
}

void setResult(ucontext_t& context, std::int64_t value) {
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RAX] = value;
#else
  context.uc_mcontext.regs[0] = static_cast<std::uint64_t>(value);
#endif
}

/// Runs in the refused call's place. Only this process's own memory is touched.
void onRefused(int /*signal*/, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  if (attemptLog != nullptr) {
    const std::uint32_t slot = attemptLog->count++;
    if (slot < AttemptLog::kSlots) {
      Attempt& attempt = attemptLog->slots[slot];
      attempt.syscall = info->si_syscall;
      const int index = pathArgument(info->si_syscall);
      // An address that is wrong ends the process, as it would have ended the call.
      const char* path = index < 0 ? nullptr
                                   : reinterpret_cast<const char*>(  // NOLINT: a register's value
                                         argumentOf(context, index));
      for (std::size_t i = 0; path != nullptr && path[i] != '\0' && i + 1 < attempt.path.size();
           ++i) {
        attempt.path[i] = path[i];
      }
    }
  }
  setResult(context, -EPERM);
}

/// Names of the calls that people should read as words.
std::string_view meaning(std::int64_t number) {
  switch (number) {
    case SYS_openat:
    case SYS_openat2:
      return "open the file";
    case SYS_unlinkat:
      return "remove the file";
    case SYS_mkdirat:
      return "make the folder";
    case SYS_renameat2:
      return "rename the file";
    case SYS_truncate:
      return "cut the file";
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_readlinkat:
      return "look at the file";
    case SYS_execve:
    case SYS_execveat:
      return "start the program";
#if defined(__x86_64__)
    case SYS_open:
    case SYS_creat:
      return "open the file";
    case SYS_unlink:
      return "remove the file";
    case SYS_mkdir:
      return "make the folder";
    case SYS_rename:
      return "rename the file";
    case SYS_stat:
    case SYS_access:
    case SYS_readlink:
      return "look at the file";
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_clone:
    case SYS_clone3:
      return "start a process or thread";
    case SYS_socket:
    case SYS_socketpair:
    case SYS_connect:
    case SYS_bind:
      return "use the network";
    case SYS_kill:
    case SYS_tgkill:
      return "signal a process";
    default:
      return {};
  }
}

}  // namespace

bool installSyscallFilter(const SandboxOptions& options) {
  attemptLog = options.attempts;
  struct sigaction action{};
  action.sa_sigaction = &onRefused;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (::sigaction(SIGSYS, &action, nullptr) != 0) {
    return false;
  }
  Program program = makeProgram(options.allowExecutableMemory);
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

std::string describe(const Attempt& attempt) {
  const std::string_view words = meaning(attempt.syscall);
  const std::string_view path(attempt.path.data());
  if (words.empty()) {
    return fmt::format("make system call {}", attempt.syscall);
  }
  return path.empty() ? std::string(words) : fmt::format("{} '{}'", words, path);
}

}  // namespace neuroncheck::sandbox
