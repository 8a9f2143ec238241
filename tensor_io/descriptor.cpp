// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::tensor_io {
namespace {

std::string systemMessage(int code) { return std::generic_category().message(code); }

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

Result<Descriptor> Descriptor::unnamed(const std::string& folder, ErrorCode code) {
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (file.number() >= 0) {
    return file;
  }
  // Not every file system can make a file without a name: take the name away at once then.
  std::string path = folder + "/neuron-check-XXXXXX";
  Descriptor named(::mkostemp(path.data(), O_CLOEXEC));
  if (named.number() < 0) {
    return fail(
        code, fmt::format("no temporary file can be made in {}: {}", folder, systemMessage(errno)));
  }
  ::unlink(path.c_str());
  return named;
}

Result<Descriptor> Descriptor::create(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0666));
  if (file.number() < 0) {
    return fail(ErrorCode::Output, fmt::format("cannot write {}: {}", path, systemMessage(errno)));
  }
  return file;
}

Result<void> Descriptor::write(std::span<const std::byte> bytes, std::uint64_t offset,
                               ErrorCode code) const {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return fail(code, fmt::format("writing at byte {}: {}", offset, systemMessage(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

Result<void> Descriptor::read(std::span<std::byte> out, std::uint64_t offset,
                              ErrorCode code) const {
  while (!out.empty()) {
    const ssize_t done = ::pread(number_, out.data(), out.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return fail(code, fmt::format("reading at byte {}: {}", offset,
                                    done == 0 ? "the file ends there" : systemMessage(errno)));
    }
    out = out.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

std::uint64_t Descriptor::freeSpace() const {
  struct statvfs status = {};
  if (::fstatvfs(number_, &status) != 0) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace neuroncheck::tensor_io
