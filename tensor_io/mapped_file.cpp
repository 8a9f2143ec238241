// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace neuroncheck::tensor_io {

Result<std::shared_ptr<const Mapping>> Mapping::of(int descriptor, std::size_t size) {
  if (size == 0) {
    return std::make_shared<const Mapping>(std::span<const std::byte>());
  }
  // Shared, so that what another process writes into shared memory is seen.
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED) {
    return inputError(fmt::format("its {} bytes cannot be mapped: {}", size,
                                  std::generic_category().message(errno)));
  }
  return std::make_shared<const Mapping>(
      std::span<const std::byte>(static_cast<const std::byte*>(start), size));
}

Mapping::~Mapping() {
  if (!bytes_.empty()) {
    // munmap takes a pointer to what may be written.
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

void releasePages(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t from = (begin + page - 1) / page * page;
  const std::uintptr_t to = (begin + bytes.size()) / page * page;
  if (from < to) {
    // Advice: nothing depends on its being taken. madvise wants a pointer to what may be written.
    auto* start = const_cast<std::byte*>(bytes.data()) + (from - begin);
    (void)::madvise(start, to - from, MADV_DONTNEED);
  }
}

Result<FileContent> FileContent::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe nobody writes to must not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return inputError(fmt::format("cannot be opened: {}", std::generic_category().message(errno)));
  }
  return ofDescriptor(descriptor);
}

Result<FileContent> FileContent::ofDescriptor(int descriptor) {
  FileContent content;
  NEURONCHECK_TRY(content.source_, scanner::descriptorSource(descriptor));
  NEURONCHECK_TRY(const auto mapping,
                  Mapping::of(descriptor, static_cast<std::size_t>(content.source_->size())));
  content.bytes_ = mapping->bytes();
  content.owner_ = mapping;
  return content;
}

FileContent FileContent::ofMemory(std::span<const std::byte> bytes) {
  FileContent content;
  content.source_ = scanner::memorySource(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  content.bytes_ = bytes;
  return content;
}

Result<void> FileContent::stillWhole() const {
  if (source_->size() == 0) {
    return {};
  }
  char last = 0;
  return source_->read(source_->size() - 1, std::span<char>(&last, 1));
}

}  // namespace neuroncheck::tensor_io
