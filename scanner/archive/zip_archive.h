// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/archive/bytes.h"

namespace neuroncheck::scanner {

/// One entry of a zip's central directory. Sizes are claims of the file until the record is read.
struct ZipEntry {
  std::string_view name;  ///< within the archive's copy of the directory
  std::uint64_t compressedSize = 0;
  std::uint64_t size = 0;
  std::uint64_t headerOffset = 0;
  std::uint32_t crc = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;
};

struct ZipLimits {
  std::uint64_t maxDirectoryBytes = std::uint64_t{96} << 20;
  std::uint64_t maxEntries = 1'000'000;
};

/// Reads a zip strictly: the end record must be the last thing of the file, the directory must lie
/// directly before it, names must be harmless, entries may neither overlap nor be links. Only the
/// directory is read on opening, only the wanted record on reading.
///
/// Source of the format: PKWARE APPNOTE.TXT 6.3; what torch writes:
/// caffe2/serialize/inline_container.cc (always ZIP64, data descriptors, stored entries).
class ZipArchive {
 public:
  /// Fails with the reason when the structure is damaged or hostile. Takes the source over.
  [[nodiscard]] static Result<ZipArchive> open(std::shared_ptr<const ByteSource> source,
                                               const ZipLimits& limits = {});

  /// All entries in directory order, duplicates included.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Index of the last entry of that name: torch may read any of several.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// Names that occur more than once, with their count, in directory order.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::size_t>> duplicates() const;

  struct Record {
    PaddedBytes bytes;
    bool checksumMatches =
        true;  ///< torch does not verify it, so a mismatch is for the caller to report
    std::uint32_t checksum = 0;  ///< CRC-32 of the bytes read
  };
  /// The bytes of one record, inflated; never more than `maxBytes`.
  [[nodiscard]] Result<Record> read(std::size_t index, std::uint64_t maxBytes) const;

  /// Where the bytes of a record lie in the source, its headers checked.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;  ///< equals compressedSize unless deflated
    bool deflated = false;
  };
  [[nodiscard]] Result<Place> locate(std::size_t index) const;
  /// Gives the bytes of a record to `sink` in pieces of at most a mebibyte and returns their
  /// CRC-32. Never gives more than the size the directory claims, whatever that is: the caller has
  /// judged it.
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  [[nodiscard]] Result<std::uint32_t> unpack(std::size_t index, const Sink& sink) const;
  /// The first bytes of a record (all of it when shorter), for a look at large ones.
  [[nodiscard]] Result<std::string> readStart(std::size_t index, std::size_t count) const;

  /// A record as a source of its own: a stored one is read where it is, a deflated one is inflated
  /// when it has at most `maxInflated` bytes.
  [[nodiscard]] Result<std::shared_ptr<const ByteSource>> open(std::size_t index,
                                                               std::uint64_t maxInflated) const;

 private:
  [[nodiscard]] Result<std::uint64_t> dataOffset(const ZipEntry& entry) const;

  std::shared_ptr<const ByteSource> source_;
  std::shared_ptr<const std::string>
      directory_;  ///< shared, so that the views into it survive a move
  std::uint64_t directoryOffset_ = 0;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, std::size_t> last_;
};

/// The folder all entries share ("model" of "model/data/0"); nullopt when an entry lies outside it.
[[nodiscard]] std::optional<std::string_view> commonRoot(const std::vector<ZipEntry>& entries);

}  // namespace neuroncheck::scanner
