// SPDX-License-Identifier: Apache-2.0
#include "worker/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

extern char** environ;

namespace neuroncheck::worker {
namespace {

/// File descriptors that are closed unless released.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (const int fd : all_) {
      if (fd >= 0) {
        ::close(fd);
      }
    }
  }
  int& at(std::size_t index) { return all_.at(index); }
  int release(std::size_t index) { return std::exchange(all_.at(index), -1); }

 private:
  std::array<int, 5> all_{-1, -1, -1, -1, -1};
};

// Positions in Descriptors: the two ends of both pipes, and the file for standard error.
constexpr std::size_t kTheirInput = 0;
constexpr std::size_t kOurInput = 1;
constexpr std::size_t kOurOutput = 2;
constexpr std::size_t kTheirOutput = 3;
constexpr std::size_t kErrors = 4;

bool openAll(Descriptors& fds) {
  std::array<int, 2> toChild{};
  std::array<int, 2> fromChild{};
  if (::pipe2(toChild.data(), O_CLOEXEC) != 0) {
    return false;
  }
  fds.at(kTheirInput) = toChild[0];
  fds.at(kOurInput) = toChild[1];
  if (::pipe2(fromChild.data(), O_CLOEXEC) != 0) {
    return false;
  }
  fds.at(kOurOutput) = fromChild[0];
  fds.at(kTheirOutput) = fromChild[1];
  fds.at(kErrors) = ::memfd_create("stderr", MFD_CLOEXEC);
  return fds.at(kErrors) >= 0;
}

/// Starts the program; an errno when it cannot be.
int spawn(pid_t& pid, const std::vector<std::string>& argv, Descriptors& fds) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, fds.at(kTheirInput), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds.at(kTheirOutput), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds.at(kErrors), STDERR_FILENO);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) {
    // posix_spawn takes char* for historical reasons and does not write through it.
    arguments.push_back(const_cast<char*>(argument.c_str()));  // NOLINT
  }
  arguments.push_back(nullptr);
  const int code =
      posix_spawn(&pid, argv.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& argv) {
  NEURONCHECK_CHECK(!argv.empty(), "a program to start");
  Descriptors fds;
  Child child;
  int code = openAll(fds) ? 0 : errno;
  if (code == 0) {
    code = spawn(child.pid_, argv, fds);
  }
  if (code != 0) {
    child.pid_ = -1;
    return fail(ErrorCode::Unavailable, fmt::format("cannot start {}: {}", argv.front(),
                                                    std::generic_category().message(code)));
  }
  child.input_ = fds.release(kOurInput);
  child.output_ = fds.release(kOurOutput);
  child.error_ = fds.release(kErrors);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      error_(std::exchange(other.error_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(error_, other.error_);
  return *this;
}

Child::~Child() { reset(); }

std::string Child::finish() {
  if (pid_ < 0) {
    return "ended before";
  }
  int status = 0;
  // A program that ended by itself is asked first: the signal below must not change its story.
  pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  ::kill(-pid_, SIGKILL);
  while (ended == 0 || (ended < 0 && errno == EINTR)) {
    ended = ::waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  return describeExit(status);
}

std::string Child::errorTail(std::size_t bytes) const {
  const off_t size = error_ < 0 ? 0 : ::lseek(error_, 0, SEEK_END);
  const auto wanted = static_cast<off_t>(bytes);
  const off_t start = std::max<off_t>(0, size - wanted);
  std::string out(static_cast<std::size_t>(std::max<off_t>(0, size - start)), '\0');
  const ssize_t got = out.empty() ? 0 : ::pread(error_, out.data(), out.size(), start);
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return out;
}

void Child::reset() noexcept {
  if (pid_ >= 0) {
    std::ignore = finish();
  }
  for (const int fd : {input_, output_, error_}) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
}

std::string describeExit(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("signal {} ({})", signal, ::sigdescr_np(signal));
  }
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace neuroncheck::worker
