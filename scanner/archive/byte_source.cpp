// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "scanner/archive/bytes.h"

namespace neuroncheck::scanner {
namespace {

std::string systemMessage(int code) { return std::generic_category().message(code); }

Result<void> checkRange(std::uint64_t size, std::uint64_t offset, std::size_t count) {
  if (offset > size || count > size - offset) {
    return inputError(fmt::format("bytes {} to {} lie outside the file of {} bytes", offset,
                                  offset + count, size));
  }
  return {};
}

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  FileSource(FileSource&&) = delete;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override { ::close(descriptor_); }

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> out) const override {
    NEURONCHECK_TRY_VOID(checkRange(size_, offset, out.size()));
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return inputError(
            fmt::format("reading at byte {}: {}", offset + done, systemMessage(errno)));
      }
      if (got == 0) {
        return inputError(fmt::format("the file ends at byte {} while it is read", offset + done));
      }
      done += static_cast<std::size_t>(got);
    }
    return {};
  }

 private:
  int descriptor_;
  std::uint64_t size_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> out) const override {
    NEURONCHECK_TRY_VOID(checkRange(bytes_.size(), offset, out.size()));
    std::copy_n(bytes_.data() + offset, out.size(), out.data());
    return {};
  }

 private:
  std::string_view bytes_;
};

}  // namespace

PaddedBytes::PaddedBytes(std::size_t size) : data_(new char[size + kPadding]), size_(size) {
  std::memset(data_.get() + size, 0, kPadding);
}

PaddedBytes::PaddedBytes(std::string_view text) : PaddedBytes(text.size()) {
  std::copy(text.begin(), text.end(), data_.get());
}

Result<std::string> ByteSource::readUpTo(std::uint64_t offset, std::size_t count) const {
  const std::uint64_t left = offset < size() ? size() - offset : 0;
  std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(left, count)), '\0');
  NEURONCHECK_TRY_VOID(read(offset, out));
  return out;
}

Result<std::unique_ptr<ByteSource>> openFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe nobody writes to must not wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return inputError(fmt::format("cannot be opened: {}", systemMessage(errno)));
  }
  return descriptorSource(descriptor);
}

Result<std::unique_ptr<ByteSource>> descriptorSource(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return inputError("is not a regular file");
  }
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(descriptor, static_cast<std::uint64_t>(status.st_size)));
}

std::unique_ptr<ByteSource> memorySource(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace neuroncheck::scanner
