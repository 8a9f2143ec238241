// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/archive/zip_archive.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/readers.h"
#include "tensor_io/unpacked.h"

namespace neuroncheck::tensor_io {
namespace {

using scanner::ZipArchive;
using scanner::ZipEntry;

constexpr std::string_view kSuffix = ".npy";

std::string temporaryFolder(const OpenOptions& options) {
  if (!options.temporaryFolder.empty()) {
    return options.temporaryFolder;
  }
  // The environment is never written to.
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

/// The records of a zip that are arrays, and their names without ".npy" as numpy gives them.
struct Arrays {
  std::vector<std::string> names;
  std::vector<std::size_t> records;
};

Result<Arrays> arraysOf(const ZipArchive& zip) {
  Arrays out;
  for (std::size_t i = 0; i < zip.entries().size(); ++i) {
    const ZipEntry& entry = zip.entries()[i];
    const std::string shown = scanner::printable(entry.name);
    if (entry.name.ends_with('/') && entry.size == 0) {
      continue;
    }
    if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")) {
      return inputError(fmt::format(
          "record {}: it is a file of torch.save, whose pickle is never unpickled; in Python: "
          "safetensors.torch.save_file(tensors, 'tensors.safetensors')",
          shown));
    }
    if (!entry.name.ends_with(kSuffix) || entry.name.size() == kSuffix.size()) {
      return inputError(
          fmt::format("record {}: it is no array: an npz holds records named NAME.npy", shown));
    }
    out.names.emplace_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
    out.records.push_back(i);
  }
  NEURONCHECK_TRY_VOID(checkUnique(out.names));
  return out;
}

class NpzFile final : public TensorFile {
 public:
  NpzFile(FileContent content, std::string label, ZipArchive zip, Arrays arrays,
          OpenOptions options)
      : TensorFile(TensorFileKind::Npz, std::move(label), std::move(arrays.names)),
        content_(std::move(content)),
        zip_(std::move(zip)),
        records_(std::move(arrays.records)),
        options_(std::move(options)),
        unpacked_(records_.size()) {}

 private:
  /// Adds the record to an Error; those of the zip reader name it themselves.
  template <typename T>
  Result<T> namingRecord(std::size_t index, Result<T> result) const {
    return std::move(result).map_error([&](Error error) {
      return std::move(error).within("record " + scanner::printable(entryOf(index).name));
    });
  }
  [[nodiscard]] const ZipEntry& entryOf(std::size_t index) const {
    return zip_.entries()[records_[index]];
  }

  [[nodiscard]] Result<NpyHeader> headerAt(std::size_t index) const {
    bool named = false;
    auto header = readNpyHeader([&](std::size_t count) {
      auto start = zip_.readStart(records_[index], count);
      named = !start;
      return start;
    });
    return named ? header : namingRecord(index, std::move(header));
  }

  [[nodiscard]] Result<TensorHead> headAt(std::size_t index) const override {
    NEURONCHECK_TRY(const NpyHeader header, headerAt(index));
    return namingRecord(index, headOf(header, names()[index], entryOf(index).size, options_));
  }

  [[nodiscard]] Result<TensorEntry> entryAt(std::size_t index) const override {
    NEURONCHECK_TRY(const NpyHeader header, headerAt(index));
    NEURONCHECK_TRY(TensorHead head, namingRecord(index, headOf(header, names()[index],
                                                                entryOf(index).size, options_)));
    NEURONCHECK_TRY(const ZipArchive::Place place, zip_.locate(records_[index]));
    Unpacked record;
    if (place.deflated) {
      NEURONCHECK_TRY(record, namingRecord(index, unpackedAt(index)));
    } else {
      NEURONCHECK_TRY_VOID(content_.stillWhole());
      record.bytes = content_.bytes().subspan(static_cast<std::size_t>(place.offset),
                                              static_cast<std::size_t>(place.size));
      record.owner = content_.owner();
      record.mapped = content_.isMapped();
    }
    const auto bytes = record.bytes.subspan(static_cast<std::size_t>(header.dataOffset),
                                            static_cast<std::size_t>(head.byteCount));
    return TensorEntry{std::move(head), bytes, std::move(record.owner), record.mapped};
  }

  [[nodiscard]] Result<void> verifyAt(std::size_t index, const Reading& reading) const override {
    NEURONCHECK_TRY(const ZipArchive::Place place, zip_.locate(records_[index]));
    if (place.deflated && isUnpacked(index)) {
      return {};
    }
    if (place.deflated && place.size > options_.maxUnpackedBytes) {
      return namingRecord<void>(
          index, inputError(fmt::format("it unpacks to {} bytes, over the limit of {}", place.size,
                                        options_.maxUnpackedBytes)));
    }
    std::uint64_t done = 0;
    const auto count = [&](std::span<const std::byte> bytes) -> Result<void> {
      done += bytes.size();
      return reading ? reading(done) : Result<void>();
    };
    NEURONCHECK_TRY(const std::uint32_t sum, zip_.unpack(records_[index], count));
    if (sum != entryOf(index).crc) {
      return namingRecord<void>(index, inputError("its bytes do not match their checksum"));
    }
    return {};
  }

  [[nodiscard]] bool isUnpacked(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    return !unpacked_[index].owner.expired();
  }

  /// A record is unpacked once for all entries of it that are alive together.
  Result<Unpacked> unpackedAt(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    Cached& cached = unpacked_[index];
    if (auto owner = cached.owner.lock()) {
      return Unpacked{.bytes = cached.bytes, .owner = std::move(owner), .mapped = cached.mapped};
    }
    NEURONCHECK_TRY(Unpacked record, unpackRecord(zip_, records_[index], options_.maxUnpackedBytes,
                                                  temporaryFolder(options_)));
    cached = {.bytes = record.bytes, .owner = record.owner, .mapped = record.mapped};
    return record;
  }

  struct Cached {
    std::span<const std::byte> bytes;
    std::weak_ptr<const void> owner;
    bool mapped = false;
  };

  FileContent content_;
  ZipArchive zip_;
  std::vector<std::size_t> records_;
  OpenOptions options_;
  mutable std::mutex mutex_;
  mutable std::vector<Cached> unpacked_;
};

}  // namespace

Opened openNpz(FileContent content, std::string label, const OpenOptions& options) {
  NEURONCHECK_TRY(ZipArchive zip, ZipArchive::open(content.source()));
  NEURONCHECK_TRY(Arrays arrays, arraysOf(zip));
  return std::make_unique<NpzFile>(std::move(content), std::move(label), std::move(zip),
                                   std::move(arrays), options);
}

}  // namespace neuroncheck::tensor_io
