// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::runstore {

Result<RunLock> RunLock::take(const std::string& path) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form
  RunLock lock(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (lock.file_ < 0) {
    return fail(ErrorCode::Output, fmt::format("cannot write the run file {}: {}", path,
                                               std::generic_category().message(errno)));
  }
  struct stat held{};
  struct stat there{};
  // flock, because SQLite's own locks are of the other kind and would end with any close of the
  // file. A file that was replaced between open and lock is another run's.
  if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0 || fstat(lock.file_, &held) != 0 ||
      stat(path.c_str(), &there) != 0 || held.st_ino != there.st_ino) {
    return fail(
        ErrorCode::Output,
        fmt::format("{}: another run is writing this run file; give each run its own", path));
  }
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

RunLock::~RunLock() {
  if (file_ >= 0) {
    close(file_);
  }
}

}  // namespace neuroncheck::runstore
