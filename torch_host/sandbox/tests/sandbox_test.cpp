// SPDX-License-Identifier: Apache-2.0
// Each forbidden thing is tried twice: inside the sandbox, where it must fail and be noted, and in
// a plain child, where it must work, so that a test which proves nothing is found out.
#include "torch_host/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "torch_host/sandbox/isolated.h"

namespace neuroncheck::sandbox {
namespace {

namespace fs = std::filesystem;

/// True when it was done; else errno says why not.
using Deed = std::function<bool()>;

struct Forbidden {
  const char* name;
  Deed deed;
  const char* noted;  ///< part of describe() of the attempt
};

std::string inSandbox(const Deed& deed, Isolated& isolated, const Bounds& bounds = {}) {
  isolated = runIsolated(
      [&deed]() { return deed() ? std::string("done") : std::string(::strerrorname_np(errno)); },
      bounds);
  return isolated.output.value_or(isolated.ending);
}

bool inPlainChild(const Deed& deed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(deed() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string scratchFile(const char* name) {
  return (fs::temp_directory_path() /
          (std::string("sandbox_test_") + std::to_string(::getpid()) + name))
      .string();
}

/// Opens with the raw call, as code that does not go through the C library would.
long rawOpen(const char* path, int flags) {
  return ::syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

bool startThread() {
  try {
    std::thread([]() {}).join();
    return true;
  } catch (const std::system_error& error) {
    errno = error.code().value();
    return false;
  }
}

bool startProgram() {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

bool becomeProgram() {
  ::execl("/bin/true", "true", nullptr);
  return false;
}

bool makeExecutable() {
  return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
         MAP_FAILED;
}

bool raiseLimit() {
  const rlimit limit{.rlim_cur = 10, .rlim_max = 10};
  return ::setrlimit(RLIMIT_CPU, &limit) == 0;
}

std::vector<Forbidden> forbiddenDeeds(const std::string& scratch, const std::string& folder) {
  return {
      {"read", []() { return ::open("/etc/passwd", O_RDONLY) >= 0; }, "'/etc/passwd'"},
      {"raw read", []() { return rawOpen("/etc/passwd", O_RDONLY) >= 0; }, "'/etc/passwd'"},
      {"create", [=]() { return ::open(scratch.c_str(), O_CREAT | O_RDWR, 0600) >= 0; }, "open"},
      {"remove", [=]() { return ::unlink(scratch.c_str()) == 0; }, "remove"},
      {"folder",
       [=]() { return ::mkdir(folder.c_str(), 0700) == 0 && ::rmdir(folder.c_str()) == 0; },
       "folder"},
      {"look",
       []() {
         struct stat s{};
         return ::stat("/etc/passwd", &s) == 0;
       },
       "look at"},
      {"link",
       [=]() {
         return ::symlink("/etc/passwd", (scratch + "l").c_str()) == 0 &&
                ::unlink((scratch + "l").c_str()) == 0;
       },
       "system call"},
      {"socket", []() { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }, "network"},
      {"unix socket", []() { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }, "network"},
      {"program", startProgram, "start a process"},
      {"become", becomeProgram, "start the program '/bin/true'"},
      {"fork",
       []() {
         const pid_t p = ::fork();
         if (p == 0) {
           ::_exit(0);
         }
         return p > 0;
       },
       "start a process"},
      {"signal", []() { return ::kill(::getppid(), 0) == 0; }, "signal"},
      {"trace", []() { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }, "system call"},
      {"limit", raiseLimit, "system call"},
      {"memory file", []() { return ::memfd_create("x", 0) >= 0; }, "system call"},
      {"own memory", []() { return ::open("/proc/self/mem", O_RDWR) >= 0; }, "'/proc/self/mem'"},
  };
}

TEST(Sandbox, RefusesEachForbiddenThingAndNotesIt) {
  const std::string scratch = scratchFile("f");
  const std::string folder = scratchFile("d");
  for (const Forbidden& forbidden : forbiddenDeeds(scratch, folder)) {
    SCOPED_TRACE(forbidden.name);
    const bool outside = inPlainChild(forbidden.deed);
    Isolated isolated;
    const std::string said = inSandbox(forbidden.deed, isolated);
    EXPECT_TRUE(outside || std::string_view(forbidden.name) == "become") << "proves nothing here";
    EXPECT_TRUE(said == "EPERM" || said == "EACCES") << said;
    const bool noted = std::ranges::any_of(isolated.attempts, [&](const Attempt& attempt) {
      return describe(attempt).find(forbidden.noted) != std::string::npos;
    });
    EXPECT_TRUE(noted) << (isolated.attempts.empty() ? "nothing" : describe(isolated.attempts[0]));
  }
  ::unlink(scratch.c_str());
}

TEST(Sandbox, RefusesWithoutANoteWhatLibrariesTryByThemselves) {
  for (const Deed& deed : {Deed(startThread), Deed(makeExecutable)}) {
    Isolated isolated;
    EXPECT_TRUE(inPlainChild(deed)) << "proves nothing here";
    EXPECT_EQ(inSandbox(deed, isolated), "EPERM");
    EXPECT_EQ(isolated.attemptCount, 0U);
  }
}

TEST(Sandbox, ExecutableMemoryCanBeAllowed) {
  Isolated isolated;
  Bounds bounds;
  bounds.allowExecutableMemory = true;
  EXPECT_EQ(inSandbox(makeExecutable, isolated, bounds), "done");
}

TEST(Sandbox, IsCompleteOrSaysWhatIsMissing) {
  Isolated isolated;
  ASSERT_EQ(inSandbox([]() { return true; }, isolated), "done");
  EXPECT_TRUE(isolated.state.noNewPrivileges);
  EXPECT_TRUE(isolated.state.syscallFilter);
  EXPECT_EQ(isolated.state.landlockAbi, landlockVersion());
  EXPECT_EQ(isolated.state.text() == "complete", landlockVersion() > 0);
  EXPECT_EQ(SandboxState{}.text(),
            "without no_new_privs, the system call filter (seccomp), file rules (Landlock)");
}

TEST(Sandbox, LandlockAloneRefusesFiles) {
  if (landlockVersion() == 0) {
    GTEST_SKIP() << "this kernel has no Landlock";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    // The filter cannot be taken away again, so this child only has the file rules.
    ::_exit(restrictFiles() > 0 && ::open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Sandbox, ComputesAllocatesAndReadsWhatIsOpen) {
  const int file = ::open("/etc/hostname", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  Isolated isolated;
  const std::string said = inSandbox(
      [file]() {
        std::vector<char> memory(std::size_t{64} << 20, 'x');
        char byte = 0;
        return memory[12345] == 'x' && ::pread(file, &byte, 1, 0) == 1;
      },
      isolated, Bounds{.keepOpen = {file}});
  ::close(file);
  EXPECT_EQ(said, "done");
  EXPECT_EQ(isolated.attemptCount, 0U);
}

TEST(Sandbox, ClosesWhatWasNotNamed) {
  const int file = ::open("/etc/hostname", O_RDONLY);
  ASSERT_GE(file, 0);
  Isolated isolated;
  const std::string said = inSandbox(
      [file]() {
        char byte = 0;
        return ::pread(file, &byte, 1, 0) == 1;
      },
      isolated);
  ::close(file);
  EXPECT_EQ(said, "EBADF");
}

TEST(Sandbox, BoundsMemory) {
  Isolated isolated;
  const std::string said = inSandbox(
      []() {
        try {
          std::vector<char> memory(std::size_t{2} << 30, 'x');
          return memory.back() == 'x';
        } catch (const std::bad_alloc&) {
          errno = ENOMEM;
          return false;
        }
      },
      isolated, Bounds{.memory = std::uint64_t{256} << 20});
  EXPECT_EQ(said, "ENOMEM");
}

TEST(Sandbox, BoundsProcessorTime) {
  Isolated isolated;
  const std::string said = inSandbox(
      []() {
        volatile unsigned turns = 0;
        while (true) {
          turns = turns + 1;
        }
        return true;
      },
      isolated, Bounds{.cpu = std::chrono::seconds(1)});
  EXPECT_EQ(said, "it used 1 s of processor time");
}

TEST(Sandbox, BoundsWaiting) {
  Isolated isolated;
  const std::string said = inSandbox(
      []() {
        ::sleep(1000);
        return true;
      },
      isolated, Bounds{.wall = std::chrono::seconds(1)});
  EXPECT_EQ(said, "no answer in 1 s");
}

TEST(Sandbox, MessagesComeBeforeTheEnd) {
  std::vector<std::string> received;
  const auto keep = [&received](std::string message) { received.push_back(std::move(message)); };
  const Isolated crashed = runIsolated(
      [](const Send& send) {
        send("one");
        send("two");
        std::raise(SIGSEGV);
        send("three");
      },
      keep, Bounds{});
  EXPECT_EQ(received, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(crashed.ending, "signal 11 (Segmentation fault)");
  const Isolated ended = runIsolated([](const Send& send) { send("four"); }, keep, Bounds{});
  EXPECT_EQ(received.back(), "four");
  EXPECT_EQ(ended.ending, "");
  const Isolated late = runIsolated(
      [](const Send& send) {
        send("five");
        ::sleep(1000);
      },
      keep, Bounds{.wall = std::chrono::seconds(1)});
  EXPECT_EQ(received.back(), "five");
  EXPECT_EQ(late.ending, "no answer in 1 s");
}

TEST(Sandbox, MemoryIsGivenWhenItIsAskedForOnly) {
  const auto canHave = [](std::size_t megabytes) {
    try {
      const std::vector<char> memory(megabytes << 20, 'x');
      return memory.back() == 'x';
    } catch (const std::bad_alloc&) {
      return false;
    }
  };
  const Bounds bounds{.memory = std::uint64_t{512} << 20,
                      .memoryAtFirst = std::uint64_t{128} << 20};
  const Isolated isolated = runIsolated(
      [&](const TakeMemory& takeMemory) {
        std::string out = canHave(64) && !canHave(256) ? "little, " : "wrong at first, ";
        // Nor can it take more by itself.
        rlimit wanted{};
        ::getrlimit(RLIMIT_AS, &wanted);
        wanted.rlim_cur = wanted.rlim_max;
        out += ::setrlimit(RLIMIT_AS, &wanted) != 0 ? "no more by itself, " : "more by itself, ";
        takeMemory();
        return out + (canHave(256) && !canHave(1024) ? "then all" : "wrong then");
      },
      bounds);
  EXPECT_EQ(isolated.output.value_or(isolated.ending), "little, no more by itself, then all");
}

TEST(Sandbox, AWarningToAFileIsNoReasonToDie) {
  // A file of our own in place of standard error, as neuron-check gives its workers.
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  Isolated isolated;
  const std::string said = inSandbox(
      []() {
        const bool kept = ::write(STDERR_FILENO, "warning", 7) == 7;
        const std::string endless(std::size_t{4} << 20, 'x');
        while (::write(STDERR_FILENO, endless.data(), endless.size()) > 0) {
        }
        return kept && errno == EFBIG;
      },
      isolated, Bounds{});
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::fclose(file);
  EXPECT_EQ(said, "done");
}

TEST(Sandbox, CrashesAndExceptionsAreTold) {
  Isolated isolated;
  EXPECT_EQ(inSandbox(
                []() {
                  std::raise(SIGSEGV);
                  return true;
                },
                isolated),
            "signal 11 (Segmentation fault)");
  EXPECT_EQ(inSandbox([]() -> bool { throw std::runtime_error("x"); }, isolated),
            "it failed in an unexpected way");
  EXPECT_EQ(inSandbox([]() -> bool { ::_exit(3); }, isolated), "exit code 3");
  EXPECT_EQ(inSandbox([]() -> bool { std::abort(); }, isolated), "signal 6 (Aborted)");
}

TEST(Sandbox, ManyAttemptsAreCountedAndTheFirstKept) {
  Isolated isolated;
  (void)inSandbox(
      []() {
        for (int i = 0; i < 1000; ++i) {
          ::open("/etc/passwd", O_RDONLY);
        }
        return true;
      },
      isolated);
  EXPECT_EQ(isolated.attemptCount, 1000U);
  EXPECT_EQ(isolated.attempts.size(), AttemptLog::kSlots);
}

}  // namespace
}  // namespace neuroncheck::sandbox
