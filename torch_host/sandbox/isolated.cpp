// SPDX-License-Identifier: Apache-2.0
#include "torch_host/sandbox/isolated.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "worker/child.h"
#include "worker/frame.h"

namespace neuroncheck::sandbox {
namespace {

constexpr int kWorkFailed = 70;  // EX_SOFTWARE: an exception left the work
constexpr std::uint32_t kMaxOutput = std::uint32_t{256} << 20;
constexpr rlim_t kMostErrorText = rlim_t{1} << 20;
constexpr std::chrono::seconds kGoingTime{5};  // from the end of its output to its end

/// What child and parent both see.
struct Shared {
  AttemptLog log;
  SandboxState state;
};

std::uint64_t mappedBytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{.rlim_cur = value, .rlim_max = value};
  ::setrlimit(resource, &both);
}

/// Standard input and output become /dev/null, and everything else that is not named is closed.
void closeOthers(int pipe, const std::vector<int>& keep) {
  if (const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  } else {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
  }
  std::vector<int> kept(keep);
  kept.push_back(pipe);
  std::ranges::sort(kept);
  unsigned next = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (fd >= static_cast<int>(next)) {
      if (fd > static_cast<int>(next)) {
        ::close_range(next, static_cast<unsigned>(fd) - 1, 0);
      }
      next = static_cast<unsigned>(fd) + 1;
    }
  }
  ::close_range(next, ~0U, 0);
}

void enterBounds(const Bounds& bounds, Shared& shared) {
  const auto cpu = static_cast<rlim_t>(bounds.cpu.count());
  const rlimit time{.rlim_cur = cpu, .rlim_max = cpu + 1};
  ::setrlimit(RLIMIT_CPU, &time);
  const rlim_t mapped = mappedBytes();
  const rlimit memory{
      .rlim_cur = mapped + (bounds.memoryAtFirst == 0 ? bounds.memory : bounds.memoryAtFirst),
      .rlim_max = mapped + std::max(bounds.memory, bounds.memoryAtFirst)};
  ::setrlimit(RLIMIT_AS, &memory);
  // Standard error may be a file: what libraries print there is kept, up to here.
  limit(RLIMIT_FSIZE, kMostErrorText);
  std::signal(SIGXFSZ, SIG_IGN);
  limit(RLIMIT_CORE, 0);
  shared.state = enterSandbox(
      {.attempts = &shared.log, .allowExecutableMemory = bounds.allowExecutableMemory});
}

[[noreturn]] void runChild(const std::function<void(const Send&)>& work, const Bounds& bounds,
                           int pipe, int errors, Shared& shared) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (errors >= 0) {
    ::dup2(errors, STDERR_FILENO);
  }
  if (bounds.sandboxed) {
    closeOthers(pipe, bounds.keepOpen);
    enterBounds(bounds, shared);
  } else {
    // Of its own group, so that what it starts ends with it.
    ::setpgid(0, 0);
    limit(RLIMIT_CORE, 0);
    if (bounds.memory != 0) {
      limit(RLIMIT_AS, mappedBytes() + bounds.memory);
    }
  }
  int code = 0;
  try {
    work([&](std::string_view message) {
      const bool sent = worker::writeFrame(pipe, message).has_value();
      code = sent ? code : kWorkFailed;
      return sent;
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = kWorkFailed;
  } catch (...) {
    code = kWorkFailed;
  }
  ::_exit(code);
}

/// Waits for a child that has closed its output, and kills it when it is late or does not go.
int reap(pid_t child, bool late) {
  const auto patience = worker::Clock::now() + (late ? std::chrono::seconds(0) : kGoingTime);
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) {
      return status;
    }
    if (worker::Clock::now() >= patience) {
      ::kill(-child, SIGKILL);  // the group, where it has one
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Why a child gave no output, in words.
std::string endingOf(int status, const Bounds& bounds) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    return fmt::format("it used {} s of processor time", bounds.cpu.count());
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kWorkFailed) {
    return "it failed in an unexpected way";
  }
  return worker::describeExit(status);
}

/// The child's side of TakeMemory: a message without content, which the parent answers by raising
/// the limit. Without an answer the work goes on with what it has.
void takeMemory(const Send& send) {
  constexpr int kMostWaits = 5000;
  if (!send("")) {
    return;
  }
  for (int i = 0; i < kMostWaits; ++i) {
    rlimit now{};
    if (::getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_cur == now.rlim_max) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The parent's side.
void giveMemory(pid_t child) {
  rlimit now{};
  if (::prlimit(child, RLIMIT_AS, nullptr, &now) == 0) {
    now.rlim_cur = now.rlim_max;
    ::prlimit(child, RLIMIT_AS, &now, nullptr);
  }
}

/// Takes one message of the child; false when no more are wanted.
using Receive = std::function<bool(pid_t child, std::string)>;

/// Reads messages until the child closes its output. True when it was late.
bool receiveAll(int pipe, pid_t child, const Receive& received, const Bounds& bounds) {
  while (true) {
    const auto deadline = worker::Clock::now() + bounds.wall;
    auto frame = worker::readFrame(pipe, deadline, kMaxOutput);
    if (!frame || !*frame) {
      return worker::Clock::now() >= deadline;
    }
    if (!received(child, **std::move(frame))) {
      return false;
    }
  }
}

/// A file without a name for what a child prints; -1 when there is none.
int errorFile(const Bounds& bounds) {
  return bounds.keepErrors ? ::memfd_create("errors", MFD_CLOEXEC) : -1;
}

std::string tailOf(int file) {
  constexpr off_t kTail = 2000;
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0) {
    return {};
  }
  const off_t from = std::max<off_t>(0, status.st_size - kTail);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

Isolated runInChild(const std::function<void(const Send&)>& work, const Receive& received,
                    const Bounds& bounds) {
  Isolated result;
  std::array<int, 2> pipe{};
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || ::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    result.ending = "no child: " + std::generic_category().message(errno);
    return result;
  }
  auto* shared = new (memory) Shared;
  const int errors = errorFile(bounds);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    runChild(work, bounds, pipe[1], errors, *shared);
  }
  ::close(pipe[1]);
  if (child > 0) {
    const bool late = receiveAll(pipe[0], child, received, bounds);
    const int status = reap(child, late);
    if (late) {
      result.ending = fmt::format("no answer in {} s", bounds.wall.count());
    } else if (status != 0) {
      result.ending = endingOf(status, bounds);
    }
  } else {
    result.ending = "no child: " + std::generic_category().message(errno);
  }
  ::close(pipe[0]);
  result.errorTail = tailOf(errors);
  if (errors >= 0) {
    ::close(errors);
  }
  result.state = shared->state;
  result.attemptCount = shared->log.count;
  const std::size_t noted = std::min<std::size_t>(shared->log.count, AttemptLog::kSlots);
  result.attempts.assign(shared->log.slots.begin(),
                         shared->log.slots.begin() + static_cast<std::ptrdiff_t>(noted));
  ::munmap(memory, sizeof(Shared));
  return result;
}

}  // namespace

Isolated runIsolated(const std::function<void(const Send&)>& work,
                     const std::function<void(std::string)>& received, const Bounds& bounds) {
  return runInChild(
      work,
      [&received](pid_t, std::string message) {
        received(std::move(message));
        return true;
      },
      bounds);
}

Isolated runIsolated(const std::function<std::string(const TakeMemory&)>& work,
                     const Bounds& bounds) {
  std::optional<std::string> output;
  Isolated result =
      runInChild([&work](const Send& send) { send(work([&send]() { takeMemory(send); })); },
                 [&output](pid_t child, std::string message) {
                   if (message.empty()) {
                     giveMemory(child);
                     return true;
                   }
                   output = std::move(message);
                   return false;
                 },
                 bounds);
  result.output = std::move(output);
  if (result.output) {
    result.ending.clear();
  } else if (result.ending.empty()) {
    result.ending = worker::describeExit(0);
  }
  return result;
}

Isolated runIsolated(const std::function<std::string()>& work, const Bounds& bounds) {
  return runIsolated([&work](const TakeMemory&) { return work(); }, bounds);
}

}  // namespace neuroncheck::sandbox
