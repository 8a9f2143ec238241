// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/raw_records.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "tensor_io/extent.h"
#include "tensor_io/readers.h"

namespace neuroncheck::tensor_io {
namespace {

/// Bytes from the first element to the end of the last one.
Result<std::uint64_t> reachOf(const RawRecord& record) {
  const std::int64_t item = itemSize(record.dtype);
  if (item == 0) {
    return inputError("its dtype has no fixed size");
  }
  NEURONCHECK_TRY(const std::uint64_t dense, byteCountOf(item, record.sizes));
  if (!record.strides || dense == 0) {
    return dense;
  }
  if (record.strides->size() != record.sizes.size()) {
    return inputError(
        fmt::format("it has {} sizes and {} strides", record.sizes.size(), record.strides->size()));
  }
  std::int64_t last = 0;
  for (std::size_t d = 0; d < record.sizes.size(); ++d) {
    const std::int64_t stride = (*record.strides)[d];
    std::int64_t step = 0;
    if (stride < 0) {
      return inputError(fmt::format("a stride is negative: {}", stride));
    }
    if (__builtin_mul_overflow(record.sizes[d] - 1, stride, &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return inputError("its strides reach beyond 2^63 elements");
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, item, &bytes)) {
    return inputError("its strides reach beyond 2^63 bytes");
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<void> checkRecord(const RawRecord& record, std::uint64_t fileSize) {
  NEURONCHECK_TRY(const std::uint64_t reach, reachOf(record));
  if (record.offset > fileSize || record.byteCount > fileSize - record.offset) {
    return inputError(fmt::format("its {} bytes from byte {} are not within the file of {}",
                                  record.byteCount, record.offset, fileSize));
  }
  if (reach > record.byteCount || (!record.strides && reach != record.byteCount)) {
    return inputError(fmt::format("its shape needs {} bytes, it has {}", reach, record.byteCount));
  }
  return {};
}

class RawFile final : public TensorFile {
 public:
  RawFile(FileContent content, std::vector<std::string> names, std::vector<RawRecord> records)
      : TensorFile(TensorFileKind::Raw, {}, std::move(names)),
        content_(std::move(content)),
        records_(std::move(records)) {}

 private:
  [[nodiscard]] Result<TensorHead> headAt(std::size_t index) const override {
    const RawRecord& record = records_[index];
    TensorHead head;
    head.name = record.name;
    head.dtype = record.dtype;
    head.sizes = record.sizes;
    head.strides = record.strides.value_or(rowMajor(record.sizes));
    head.byteCount = record.byteCount;
    return head;
  }
  [[nodiscard]] Result<TensorEntry> entryAt(std::size_t index) const override {
    NEURONCHECK_TRY(TensorHead head, headAt(index));
    NEURONCHECK_TRY_VOID(content_.stillWhole());
    const auto bytes = content_.bytes().subspan(static_cast<std::size_t>(records_[index].offset),
                                                static_cast<std::size_t>(head.byteCount));
    return TensorEntry{std::move(head), bytes, content_.owner(), content_.isMapped()};
  }

  FileContent content_;
  std::vector<RawRecord> records_;
};

Opened openRaw(FileContent content, std::vector<RawRecord> records) {
  std::vector<std::string> names;
  for (const RawRecord& record : records) {
    if (auto checked = checkRecord(record, content.bytes().size()); !checked) {
      return tl::unexpected(std::move(checked).error().within(
          fmt::format("record '{}'", scanner::printable(record.name, 120))));
    }
    names.push_back(record.name);
  }
  NEURONCHECK_TRY_VOID(checkUnique(names));
  return std::make_unique<RawFile>(std::move(content), std::move(names), std::move(records));
}

}  // namespace

Result<std::unique_ptr<TensorFile>> mapRawRecords(int descriptor, std::vector<RawRecord> records) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    return inputError(
        fmt::format("the descriptor cannot be used: {}", std::generic_category().message(errno)));
  }
  NEURONCHECK_TRY(FileContent content, FileContent::ofDescriptor(own));
  return openRaw(std::move(content), std::move(records));
}

Result<std::unique_ptr<TensorFile>> openRawRecords(const std::string& path,
                                                   std::vector<RawRecord> records) {
  const auto body = [&]() -> Opened {
    NEURONCHECK_TRY(FileContent content, FileContent::open(path));
    return openRaw(std::move(content), std::move(records));
  };
  return within(body(), path);
}

}  // namespace neuroncheck::tensor_io
