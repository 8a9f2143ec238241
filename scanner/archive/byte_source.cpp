// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

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
  explicit MemorySource(PaddedBytes bytes) : owned_(std::move(bytes)), bytes_(owned_.view()) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> out) const override {
    NEURONCHECK_TRY_VOID(checkRange(bytes_.size(), offset, out.size()));
    std::copy_n(bytes_.data() + offset, out.size(), out.data());
    return {};
  }

 private:
  PaddedBytes owned_;
  std::string_view bytes_;
};

class PartSource final : public ByteSource {
 public:
  PartSource(std::shared_ptr<const ByteSource> source, std::uint64_t offset, std::uint64_t size)
      : source_(std::move(source)), offset_(offset), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<char> out) const override {
    NEURONCHECK_TRY_VOID(checkRange(size_, offset, out.size()));
    return source_->read(offset_ + offset, out);
  }

 private:
  std::shared_ptr<const ByteSource> source_;
  std::uint64_t offset_;
  std::uint64_t size_;
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

std::unique_ptr<ByteSource> memorySource(PaddedBytes bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

std::unique_ptr<ByteSource> partOf(std::shared_ptr<const ByteSource> source, std::uint64_t offset,
                                   std::uint64_t size) {
  return std::make_unique<PartSource>(std::move(source), offset, size);
}

}  // namespace neuroncheck::scanner
