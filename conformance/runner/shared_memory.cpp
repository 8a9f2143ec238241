// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck::conformance {

Result<SharedMemory> SharedMemory::make(std::uint64_t bytes) {
  const auto refused = [](const char* what) {
    return fail(ErrorCode::Unavailable, fmt::format("no shared memory for the workers: {}: {}",
                                                    what, std::generic_category().message(errno)));
  };
  const int file = ::memfd_create("neuron-check-cases", MFD_CLOEXEC);
  if (file < 0) {
    return refused("memfd_create");
  }
  SharedMemory shared;
  shared.file_ = {new int(file), [](const int* held) {
                    ::close(*held);
                    delete held;
                  }};
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    return refused("ftruncate");
  }
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) {
    return refused("mmap");
  }
  shared.size_ = bytes;
  shared.memory_ = {static_cast<std::byte*>(memory),
                    [bytes](std::byte* at) { ::munmap(at, bytes); }};
  shared.path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), file);
  return shared;
}

void SharedMemory::release(std::uint64_t from, std::uint64_t bytes) const {
  ::fallocate(*file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
              static_cast<off_t>(bytes));
}

}  // namespace neuroncheck::conformance
