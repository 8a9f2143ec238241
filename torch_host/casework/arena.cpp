// SPDX-License-Identifier: Apache-2.0
#include "torch_host/casework/arena.h"

#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck::casework {
namespace {

constexpr std::uint64_t kAlignment = 64;

}  // namespace

Result<Arena> Arena::open(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  struct stat status{};
  const bool known = ::fstat(fd, &status) == 0;
  const auto size = static_cast<std::uint64_t>(known ? status.st_size : 0);
  void* memory =
      size == 0 ? MAP_FAILED
                : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED || begin > end || end > size) {
    return fail(ErrorCode::Unavailable, fmt::format("{}: not the memory that was promised", path));
  }
  Arena arena;
  arena.memory_ = {static_cast<std::byte*>(memory), [size](std::byte* at) { ::munmap(at, size); }};
  arena.size_ = size;
  arena.begin_ = arena.next_ = begin;
  arena.end_ = end;
  return arena;
}

Result<at::Tensor> Arena::view(std::uint64_t offset, std::uint64_t bytes,
                               c10::ScalarType type) const {
  if (offset > size_ || bytes > size_ - offset || offset % kAlignment != 0) {
    return inputError("an operand lies outside the shared memory");
  }
  const auto count = static_cast<std::int64_t>(bytes / c10::elementSize(type));
  return at::from_blob(memory_.get() + offset, {count}, at::TensorOptions(type));
}

Result<std::uint64_t> Arena::put(const at::Tensor& tensor) {
  const auto bytes = static_cast<std::uint64_t>(tensor.numel()) *
                     static_cast<std::uint64_t>(tensor.element_size());
  const std::uint64_t at = next_;
  if (at > end_ || bytes > end_ - at) {
    return inputError("the results do not fit the shared memory");
  }
  if (bytes != 0) {
    at::Tensor host = tensor.detach().resolve_conj().resolve_neg();
    host = host.is_cpu() ? host : host.cpu();
    std::memcpy(memory_.get() + at, host.contiguous().const_data_ptr(), bytes);
  }
  next_ = (at + bytes + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

}  // namespace neuroncheck::casework
