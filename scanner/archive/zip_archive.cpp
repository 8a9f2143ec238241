// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/zip_archive.h"

#include <algorithm>
#include <limits>
#include <new>

#include <fmt/format.h>

#include "scanner/archive/checksum.h"
#include "scanner/archive/inflater.h"
#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"

// Why not libzip: it picks among several end records by a consistency score and reads every local
// header for it, so its view of an archive with a zip stored inside can differ from the strict one
// above. One reader of the structure cannot disagree with itself; what is left is inflating, which
// zlib does.

namespace neuroncheck::scanner {
namespace {

// Graphs of real programs deflate to about a fortieth; only larger and denser records are refused.
constexpr std::uint64_t kBombBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kBombRatio = 100;

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint16_t kEncrypted =
    0x2041;  // bits 0 (traditional), 6 (strong), 13 (masked headers)
constexpr std::uint16_t kSizesFollow = 0x0008;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kBestDeflateRatio = 1032;  // bound of the deflate format
constexpr std::size_t kChunk = std::size_t{1} << 20;

Result<PaddedBytes> allocate(std::uint64_t size) {
  try {
    return PaddedBytes(static_cast<std::size_t>(size));
  } catch (const std::bad_alloc&) {
    return inputError(fmt::format("no memory for {} bytes", size));
  }
}

template <typename T>
Result<T> namingRecord(Result<T> result, const ZipEntry& entry) {
  if (!result) {
    return tl::unexpected(std::move(result).error().within("record " + printable(entry.name)));
  }
  return result;
}

Result<void> checkReadable(const ZipEntry& entry) {
  if ((entry.flags & kEncrypted) != 0) {
    return inputError("it is encrypted");
  }
  if (entry.method != kStored && entry.method != kDeflated) {
    return inputError(
        fmt::format("compression method {} is not read (stored and deflated are)", entry.method));
  }
  if (entry.method == kStored && entry.size != entry.compressedSize) {
    return inputError("it is stored, but its two sizes differ");
  }
  if (entry.method == kDeflated && entry.size / kBestDeflateRatio > entry.compressedSize) {
    return inputError(
        fmt::format("{} deflated bytes cannot hold {}", entry.compressedSize, entry.size));
  }
  return {};
}

/// What an inflated record must come to: exactly the size it claims.
Result<void> checkEnd(Inflater& inflater, std::uint64_t got, std::uint64_t claimed) {
  if (got != claimed) {
    return inputError(
        fmt::format("it inflates to {} bytes, not to the {} it claims", got, claimed));
  }
  NEURONCHECK_TRY(const bool ended, inflater.endsHere());
  if (!ended) {
    return inputError(fmt::format("it does not end after the {} bytes it claims", claimed));
  }
  return {};
}

}  // namespace

Result<ZipArchive> ZipArchive::open(std::shared_ptr<const ByteSource> source,
                                    const ZipLimits& limits) {
  NEURONCHECK_TRY(const DirectoryPlace place, locateDirectory(*source, limits));
  auto directory = std::make_shared<std::string>();
  NEURONCHECK_TRY(*directory, source->readUpTo(place.offset, static_cast<std::size_t>(place.size)));
  ZipArchive archive;
  NEURONCHECK_TRY(archive.entries_, parseDirectory(*directory, place));
  archive.source_ = std::move(source);
  archive.directory_ = std::move(directory);
  archive.directoryOffset_ = place.offset;
  archive.last_.reserve(archive.entries_.size());
  for (std::size_t i = 0; i < archive.entries_.size(); ++i) {
    archive.last_.insert_or_assign(archive.entries_[i].name, i);
  }
  return archive;
}

std::optional<std::size_t> ZipArchive::find(std::string_view name) const {
  const auto found = last_.find(name);
  return found == last_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::pair<std::string_view, std::size_t>> ZipArchive::duplicates() const {
  if (last_.size() == entries_.size()) {
    return {};
  }
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const ZipEntry& entry : entries_) {
    ++counts[entry.name];
  }
  std::vector<std::pair<std::string_view, std::size_t>> result;
  for (const ZipEntry& entry : entries_) {
    if (const auto found = counts.find(entry.name); found != counts.end() && found->second > 1) {
      result.emplace_back(*found);
      counts.erase(found);
    }
  }
  return result;
}

Result<std::uint64_t> ZipArchive::dataOffset(const ZipEntry& entry) const {
  NEURONCHECK_TRY(const std::string header,
                  source_->readUpTo(entry.headerOffset, kLocalSize + entry.name.size()));
  if (header.size() < kLocalSize + entry.name.size() || le32(header, 0) != kLocalSignature) {
    return inputError("its local header is missing");
  }
  const std::string_view name = std::string_view(header).substr(kLocalSize);
  if (le16(header, 26) != entry.name.size() || name != entry.name) {
    return inputError("its local header has another name than the directory");
  }
  if (le16(header, 8) != entry.method || (le16(header, 6) & kEncrypted) != 0) {
    return inputError("its local header has another method than the directory");
  }
  const std::size_t extraSize = le16(header, 28);
  const std::uint64_t offset = entry.headerOffset + kLocalSize + entry.name.size() + extraSize;
  if ((le16(header, 6) & kSizesFollow) == 0) {
    NEURONCHECK_TRY(const std::string extra, source_->readUpTo(offset - extraSize, extraSize));
    NEURONCHECK_TRY(Zip64Extra wide, Zip64Extra::parse(extra));
    NEURONCHECK_TRY(const std::uint64_t size, wide.resolve(le32(header, 22)));
    NEURONCHECK_TRY(const std::uint64_t compressed, wide.resolve(le32(header, 18)));
    if (size != entry.size || compressed != entry.compressedSize) {
      return inputError("its local header has other sizes than the directory");
    }
  }
  if (offset > directoryOffset_ || directoryOffset_ - offset < entry.compressedSize) {
    return inputError("its data run into the directory");
  }
  return offset;
}

Result<ZipArchive::Place> ZipArchive::locate(std::size_t index) const {
  NEURONCHECK_CHECK(index < entries_.size(), "record index out of range");
  const ZipEntry& entry = entries_[index];
  const auto body = [&]() -> Result<Place> {
    NEURONCHECK_TRY_VOID(checkReadable(entry));
    NEURONCHECK_TRY(const std::uint64_t offset, dataOffset(entry));
    return Place{.offset = offset,
                 .compressedSize = entry.compressedSize,
                 .size = entry.size,
                 .deflated = entry.method == kDeflated};
  };
  return namingRecord(body(), entry);
}

Result<ZipArchive::Record> ZipArchive::read(std::size_t index, std::uint64_t maxBytes) const {
  NEURONCHECK_TRY(const Place place, locate(index));
  const ZipEntry& entry = entries_[index];
  const auto body = [&]() -> Result<Record> {
    if (entry.size > maxBytes) {
      return inputError(fmt::format("its {} bytes are over the limit of {}", entry.size, maxBytes));
    }
    if (entry.size > kBombBytes && entry.size / kBombRatio > entry.compressedSize) {
      return inputError(
          fmt::format("its {} bytes unpack to {}, more than {} to 1: refused as a bomb",
                      entry.compressedSize, entry.size, kBombRatio));
    }
    NEURONCHECK_TRY(PaddedBytes bytes, allocate(entry.size));
    const std::span<char> out(bytes.data(), bytes.size());
    if (place.deflated) {
      Inflater inflater(*source_, place.offset, place.compressedSize);
      NEURONCHECK_TRY(const std::size_t size, inflater.fill(out));
      NEURONCHECK_TRY_VOID(checkEnd(inflater, size, entry.size));
    } else {
      NEURONCHECK_TRY_VOID(source_->read(place.offset, out));
    }
    const std::uint32_t sum = crc32Of(0, std::as_bytes(out));
    return Record{.bytes = std::move(bytes), .checksumMatches = sum == entry.crc, .checksum = sum};
  };
  return namingRecord(body(), entry);
}

Result<std::uint32_t> ZipArchive::unpack(std::size_t index, const Sink& sink) const {
  NEURONCHECK_TRY(const Place place, locate(index));
  const ZipEntry& entry = entries_[index];
  const auto body = [&]() -> Result<std::uint32_t> {
    std::optional<Inflater> inflater;
    if (place.deflated) {
      inflater.emplace(*source_, place.offset, place.compressedSize);
    }
    std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(place.size, kChunk)), '\0');
    std::uint32_t sum = 0;
    for (std::uint64_t done = 0; done < place.size;) {
      const std::span<char> out = std::span<char>(buffer).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(place.size - done, buffer.size())));
      std::size_t got = out.size();
      if (inflater) {
        NEURONCHECK_TRY(got, inflater->fill(out));
      } else {
        NEURONCHECK_TRY_VOID(source_->read(place.offset + done, out));
      }
      if (got == 0) {
        return inputError(
            fmt::format("it inflates to {} bytes, not to the {} it claims", done, place.size));
      }
      const auto bytes = std::as_bytes(out.first(got));
      sum = crc32Of(sum, bytes);
      NEURONCHECK_TRY_VOID(sink(bytes));
      done += got;
    }
    if (inflater) {
      NEURONCHECK_TRY_VOID(checkEnd(*inflater, place.size, place.size));
    }
    return sum;
  };
  return namingRecord(body(), entry);
}

Result<std::string> ZipArchive::readStart(std::size_t index, std::size_t count) const {
  NEURONCHECK_TRY(const Place place, locate(index));
  const ZipEntry& entry = entries_[index];
  const auto body = [&]() -> Result<std::string> {
    std::string out(static_cast<std::size_t>(std::min<std::uint64_t>(entry.size, count)), '\0');
    if (!place.deflated) {
      NEURONCHECK_TRY_VOID(source_->read(place.offset, out));
      return out;
    }
    Inflater inflater(*source_, place.offset, place.compressedSize);
    NEURONCHECK_TRY(const std::size_t size, inflater.fill(out));
    out.resize(size);
    return out;
  };
  return namingRecord(body(), entry);
}

Result<std::shared_ptr<const ByteSource>> ZipArchive::open(std::size_t index,
                                                           std::uint64_t maxInflated) const {
  NEURONCHECK_CHECK(index < entries_.size(), "record index out of range");
  const ZipEntry& entry = entries_[index];
  if (entry.method != kStored) {
    NEURONCHECK_TRY(Record record, read(index, maxInflated));
    return std::shared_ptr<const ByteSource>(memorySource(std::move(record.bytes)));
  }
  const auto readable = checkReadable(entry);
  const auto offset = readable ? dataOffset(entry) : tl::unexpected(readable.error());
  if (!offset) {
    return namingRecord(Result<std::shared_ptr<const ByteSource>>(tl::unexpected(offset.error())),
                        entry);
  }
  return std::shared_ptr<const ByteSource>(partOf(source_, *offset, entry.size));
}

std::optional<std::string_view> commonRoot(const std::vector<ZipEntry>& entries) {
  if (entries.empty()) {
    return std::nullopt;
  }
  const std::size_t slash = entries.front().name.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view root = entries.front().name.substr(0, slash);
  const bool all = std::ranges::all_of(entries, [&](const ZipEntry& entry) {
    return entry.name.size() > root.size() && entry.name.starts_with(root) &&
           entry.name[root.size()] == '/';
  });
  return all ? std::optional(root) : std::nullopt;
}

}  // namespace neuroncheck::scanner
