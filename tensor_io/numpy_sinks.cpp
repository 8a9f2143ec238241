// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "scanner/archive/checksum.h"
#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"
#include "tensor_io/descriptor.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/sinks.h"

namespace neuroncheck::tensor_io {
namespace {

constexpr std::uint64_t kNarrow = 0x7FFFFFFF;  // where Python's zipfile turns to ZIP64
constexpr std::uint64_t kSaturated = 0xFFFFFFFF;
constexpr std::uint16_t kVersion = 45;
constexpr std::uint16_t kMadeByUnix = 0x0300;
constexpr std::uint16_t kNameIsUtf8 = 0x0800;
constexpr std::uint32_t kModeOfFile = 0600U << 16U;
constexpr std::uint32_t kDate = 0x0021'0000;  // 1 January 1980, midnight
constexpr std::uint64_t kMaxCount = 0xFFFF;
constexpr std::size_t kMaxName = 0xFFFF;
constexpr std::size_t kCrcPlace = 14;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xFFU);
  }
}

/// A file written from front to back.
class Output {
 public:
  explicit Output(Descriptor file) : file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t position() const { return position_; }
  Result<void> write(std::span<const std::byte> bytes) {
    NEURONCHECK_TRY_VOID(file_.write(bytes, position_, ErrorCode::Output));
    position_ += bytes.size();
    return {};
  }
  Result<void> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  [[nodiscard]] Result<void> patch(std::string_view text, std::uint64_t offset) const {
    return file_.write(std::as_bytes(std::span(text)), offset, ErrorCode::Output);
  }

 private:
  Descriptor file_;
  std::uint64_t position_ = 0;
};

class NpySink final : public TensorSink {
 public:
  explicit NpySink(Output output) : output_(std::move(output)) {}

 private:
  Result<void> beginTensor() override {
    if (std::exchange(begun_, true)) {
      return fail(ErrorCode::Usage, "an npy file holds one tensor: write npz");
    }
    NEURONCHECK_TRY(const std::string header, npyHeaderText(current().dtype, current().sizes));
    return output_.write(header);
  }
  Result<void> write(std::span<const std::byte> bytes) override { return output_.write(bytes); }
  Result<void> finishTensor() override { return {}; }
  Result<void> close() override {
    return begun_ ? Result<void>()
                  : fail(ErrorCode::Usage, "an npy file holds one tensor, none was written");
  }

  Output output_;
  bool begun_ = false;
};

struct Record {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint32_t crc = 0;

  [[nodiscard]] std::uint16_t flags() const {
    for (const char c : name) {
      if (static_cast<unsigned char>(c) > 0x7F) {
        return kNameIsUtf8;
      }
    }
    return 0;
  }
};

/// What local header and directory have in common: version to method, date, checksum.
void putCommon(std::string& out, const Record& record) {
  put(out, kVersion, 2);
  put(out, record.flags(), 2);
  put(out, 0, 2);  // stored
  put(out, kDate, 4);
  put(out, record.crc, 4);
}

/// As numpy asks of zipfile: ZIP64 whatever the size, so that nothing moves when it is large.
std::string localHeader(const Record& record) {
  std::string out = "PK\x03\x04";
  putCommon(out, record);
  put(out, kSaturated, 4);
  put(out, kSaturated, 4);
  put(out, record.name.size(), 2);
  put(out, 20, 2);
  out += record.name;
  put(out, 1, 2);  // ZIP64 extra
  put(out, 16, 2);
  put(out, record.size, 8);
  put(out, record.size, 8);
  return out;
}

std::string directoryEntry(const Record& record) {
  std::string extra;
  const bool wide = record.size > kNarrow;
  const bool far = record.offset > kNarrow;
  if (wide || far) {
    put(extra, 1, 2);
    put(extra, (wide ? 16U : 0U) + (far ? 8U : 0U), 2);
    put(extra, record.size, wide ? 8 : 0);
    put(extra, record.size, wide ? 8 : 0);
    put(extra, record.offset, far ? 8 : 0);
  }
  std::string out = "PK\x01\x02";
  put(out, kMadeByUnix | kVersion, 2);
  putCommon(out, record);
  put(out, wide ? kSaturated : record.size, 4);
  put(out, wide ? kSaturated : record.size, 4);
  put(out, record.name.size(), 2);
  put(out, extra.size(), 2);
  put(out, 0, 6);  // comment, disk, internal attributes
  put(out, kModeOfFile, 4);
  put(out, far ? kSaturated : record.offset, 4);
  return out + record.name + extra;
}

std::string endRecords(std::uint64_t count, std::uint64_t size, std::uint64_t offset) {
  std::string out;
  const bool wide = count >= kMaxCount || size > kNarrow || offset > kNarrow;
  if (wide) {
    out += "PK\x06\x06";
    put(out, 44, 8);
    put(out, kVersion, 2);
    put(out, kVersion, 2);
    put(out, 0, 8);  // disks
    put(out, count, 8);
    put(out, count, 8);
    put(out, size, 8);
    put(out, offset, 8);
    out += "PK\x06\x07";
    put(out, 0, 4);
    put(out, offset + size, 8);
    put(out, 1, 4);
  }
  out += "PK\x05\x06";
  put(out, 0, 4);
  put(out, std::min(count, kMaxCount), 2);
  put(out, std::min(count, kMaxCount), 2);
  put(out, std::min(size, kSaturated), 4);
  put(out, std::min(offset, kSaturated), 4);
  put(out, 0, 2);
  return out;
}

class NpzSink final : public TensorSink {
 public:
  explicit NpzSink(Output output) : output_(std::move(output)) {}

 private:
  Result<void> beginTensor() override {
    Record record{.name = current().name + ".npy", .offset = output_.position()};
    if (auto checked = scanner::checkEntryName(record.name);
        !checked || record.name.size() > kMaxName ||
        scanner::printable(record.name, kMaxName) != record.name) {
      return fail(ErrorCode::Usage,
                  checked ? "its name is no text that a zip can hold" : checked.error().message);
    }
    NEURONCHECK_TRY(const std::string header, npyHeaderText(current().dtype, current().sizes));
    record.size = header.size() + current().byteCount;
    NEURONCHECK_TRY_VOID(output_.write(localHeader(record)));
    records_.push_back(std::move(record));
    return write(std::as_bytes(std::span(header)));
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    Record& record = records_.back();
    record.crc = scanner::crc32Of(record.crc, bytes);
    return output_.write(bytes);
  }

  Result<void> finishTensor() override {
    std::string crc;
    put(crc, records_.back().crc, 4);
    return output_.patch(crc, records_.back().offset + kCrcPlace);
  }

  Result<void> close() override {
    const std::uint64_t start = output_.position();
    for (const Record& record : records_) {
      NEURONCHECK_TRY_VOID(output_.write(directoryEntry(record)));
    }
    return output_.write(endRecords(records_.size(), output_.position() - start, start));
  }

  Output output_;
  std::vector<Record> records_;
};

}  // namespace

Sink npySink(const std::string& path) {
  NEURONCHECK_TRY(Descriptor file, Descriptor::create(path));
  return std::make_unique<NpySink>(Output(std::move(file)));
}

Sink npzSink(const std::string& path) {
  NEURONCHECK_TRY(Descriptor file, Descriptor::create(path));
  return std::make_unique<NpzSink>(Output(std::move(file)));
}

}  // namespace neuroncheck::tensor_io
