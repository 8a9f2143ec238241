// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/zip_directory.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kMaxComment = 65535;
constexpr std::uint32_t kSaturated32 = 0xFFFFFFFF;
constexpr std::uint16_t kSaturated16 = 0xFFFF;

std::uint64_t littleEndian(std::string_view bytes, std::size_t offset, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

/// The last end record must end exactly where the file ends. Searching on for an earlier one would
/// find the record of a zip stored inside (sample inputs are one), and show that as the archive.
Result<std::uint64_t> findEndRecord(const ByteSource& source) {
  const std::uint64_t size = source.size();
  const std::uint64_t window = std::min<std::uint64_t>(size, kEndSize + kMaxComment);
  NEURONCHECK_TRY(const std::string tail,
                  source.readUpTo(size - window, static_cast<std::size_t>(window)));
  for (std::size_t i = tail.size() >= 4 ? tail.size() - 3 : 0; i-- > 0;) {
    if (le32(tail, i) != kEndSignature) {
      continue;
    }
    const std::uint64_t position = size - window + i;
    if (tail.size() - i < kEndSize) {
      return inputError("zip: the end record is cut off");
    }
    const std::uint64_t expected = position + kEndSize + le16(tail, i + 20);
    if (expected != size) {
      return inputError(
          fmt::format("zip: the last end record, at byte {}, belongs to a file of {} bytes but "
                      "this one has {}: "
                      "the archive is cut off, or the record is one of a zip stored inside it",
                      position, expected, size));
    }
    return position;
  }
  return inputError("zip: no end record, the file is cut off");
}

struct EndFields {
  std::uint64_t entriesHere = 0;
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint64_t diskHere = 0;
  std::uint64_t diskOfDirectory = 0;
};

/// Reads the ZIP64 end record the locator before `endPosition` points to; returns its position too.
Result<std::uint64_t> readEnd64(const ByteSource& source, std::uint64_t endPosition,
                                std::string_view locator, EndFields& fields) {
  const std::uint64_t position = le64(locator, 8);
  const std::uint64_t locatorPosition = endPosition - kLocatorSize;
  if (le32(locator, 4) != 0 || le32(locator, 16) > 1) {
    return inputError("zip: archives in several parts are not read");
  }
  if (locatorPosition < kEnd64Size || position > locatorPosition - kEnd64Size) {
    return inputError("zip: the ZIP64 locator points outside the file");
  }
  NEURONCHECK_TRY(const std::string record, source.readUpTo(position, kEnd64Size));
  if (le32(record, 0) != kEnd64Signature) {
    return inputError("zip: there is no ZIP64 end record where the locator points");
  }
  if (le64(record, 4) != locatorPosition - position - 12) {
    return inputError("zip: the ZIP64 end record does not end at its locator");
  }
  const EndFields wide{.entriesHere = le64(record, 24),
                       .entries = le64(record, 32),
                       .size = le64(record, 40),
                       .offset = le64(record, 48),
                       .diskHere = le32(record, 16),
                       .diskOfDirectory = le32(record, 20)};
  const auto agrees = [](std::uint64_t narrow, std::uint64_t full, std::uint64_t saturated) {
    return narrow == saturated || narrow == full;
  };
  if (!agrees(fields.entries, wide.entries, kSaturated16) ||
      !agrees(fields.size, wide.size, kSaturated32) ||
      !agrees(fields.offset, wide.offset, kSaturated32)) {
    return inputError("zip: the end record and its ZIP64 twin disagree");
  }
  fields = wide;
  return position;
}

/// Reads the entry at `position` of the directory and moves `position` behind it.
Result<ZipEntry> parseEntry(std::string_view directory, std::size_t& position) {
  if (directory.size() - position < kEntrySize || le32(directory, position) != kEntrySignature) {
    return inputError("zip: the directory holds fewer entries than its end record says");
  }
  const std::size_t nameSize = le16(directory, position + 28);
  const std::size_t extraSize = le16(directory, position + 30);
  const std::size_t commentSize = le16(directory, position + 32);
  const std::size_t total = kEntrySize + nameSize + extraSize + commentSize;
  if (directory.size() - position < total) {
    return inputError("zip: an entry of the directory is cut off");
  }
  ZipEntry entry;
  entry.name = directory.substr(position + kEntrySize, nameSize);
  NEURONCHECK_TRY_VOID(checkEntryName(entry.name));
  constexpr unsigned kUnix = 3;
  constexpr unsigned kFileType = 0170000;
  constexpr unsigned kLink = 0120000;
  const unsigned mode = le32(directory, position + 38) >> 16U;
  if (le16(directory, position + 4) >> 8U == kUnix && (mode & kFileType) == kLink) {
    return inputError(fmt::format("zip: an entry is a symbolic link: '{}'", printable(entry.name)));
  }
  entry.flags = le16(directory, position + 8);
  entry.method = le16(directory, position + 10);
  entry.crc = le32(directory, position + 16);
  NEURONCHECK_TRY(Zip64Extra extra,
                  Zip64Extra::parse(directory.substr(position + kEntrySize + nameSize, extraSize)));
  NEURONCHECK_TRY(entry.size, extra.resolve(le32(directory, position + 24)));
  NEURONCHECK_TRY(entry.compressedSize, extra.resolve(le32(directory, position + 20)));
  NEURONCHECK_TRY(entry.headerOffset, extra.resolve(le32(directory, position + 42)));
  position += total;
  return entry;
}

/// Two entries over the same bytes are how a small file claims to hold terabytes.
Result<void> checkPlaces(const std::vector<ZipEntry>& entries, std::uint64_t directoryOffset) {
  std::vector<const ZipEntry*> sorted;
  sorted.reserve(entries.size());
  for (const ZipEntry& entry : entries) {
    sorted.push_back(&entry);
  }
  std::ranges::sort(sorted, {}, &ZipEntry::headerOffset);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ZipEntry& entry = *sorted[i];
    const std::uint64_t end = i + 1 < sorted.size() ? sorted[i + 1]->headerOffset : directoryOffset;
    const std::uint64_t header = kLocalSize + entry.name.size();
    if (entry.headerOffset > end || end - entry.headerOffset < header ||
        end - entry.headerOffset - header < entry.compressedSize) {
      return inputError(fmt::format("zip: record '{}' runs into the next record or the directory",
                                    printable(entry.name)));
    }
  }
  return {};
}

}  // namespace

Result<void> checkEntryName(std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return inputError(fmt::format("zip: an entry name {}: '{}'", why, printable(name)));
  };
  if (name.empty()) {
    return bad("is empty");
  }
  if (name.find('\0') != std::string_view::npos) {
    return bad("holds a NUL byte");
  }
  if (name.find('\\') != std::string_view::npos) {
    return bad("holds a backslash");
  }
  if (name.front() == '/' || (name.size() > 1 && name[1] == ':')) {
    return bad("is absolute");
  }
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    if (name.substr(start, end - start) == "..") {
      return bad("leaves its folder");
    }
    start = end + 1;
  }
  return {};
}

std::uint16_t le16(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint16_t>(littleEndian(bytes, offset, 2));
}
std::uint32_t le32(std::string_view bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(littleEndian(bytes, offset, 4));
}
std::uint64_t le64(std::string_view bytes, std::size_t offset) {
  return littleEndian(bytes, offset, 8);
}

Result<Zip64Extra> Zip64Extra::parse(std::string_view extra) {
  constexpr std::uint16_t kZip64Id = 1;
  Zip64Extra result;
  while (extra.size() >= 4) {
    const std::size_t size = le16(extra, 2);
    if (extra.size() - 4 < size) {
      return inputError("zip: an extra field is cut off");
    }
    if (le16(extra, 0) == kZip64Id) {
      result.fields_ = extra.substr(4, size);
    }
    extra.remove_prefix(4 + size);
  }
  return result;
}

Result<std::uint64_t> Zip64Extra::resolve(std::uint32_t field) {
  if (field != kSaturated32) {
    return field;
  }
  if (fields_.size() < 8) {
    return inputError("zip: a ZIP64 size or offset is missing");
  }
  const std::uint64_t value = le64(fields_, 0);
  fields_.remove_prefix(8);
  return value;
}

Result<DirectoryPlace> locateDirectory(const ByteSource& source, const ZipLimits& limits) {
  NEURONCHECK_TRY(std::uint64_t directoryEnd, findEndRecord(source));
  const std::uint64_t before = std::min<std::uint64_t>(directoryEnd, kLocatorSize);
  NEURONCHECK_TRY(
      const std::string text,
      source.readUpTo(directoryEnd - before, static_cast<std::size_t>(before) + kEndSize));
  const std::string_view end = std::string_view(text).substr(static_cast<std::size_t>(before));
  EndFields fields{.entriesHere = le16(end, 8),
                   .entries = le16(end, 10),
                   .size = le32(end, 12),
                   .offset = le32(end, 16),
                   .diskHere = le16(end, 4),
                   .diskOfDirectory = le16(end, 6)};
  if (before == kLocatorSize && le32(text, 0) == kLocatorSignature) {
    const std::string_view locator = std::string_view(text).substr(0, kLocatorSize);
    NEURONCHECK_TRY(directoryEnd, readEnd64(source, directoryEnd, locator, fields));
  }
  if (fields.diskHere != 0 || fields.diskOfDirectory != 0 || fields.entriesHere != fields.entries) {
    return inputError("zip: archives in several parts are not read");
  }
  if (fields.size > limits.maxDirectoryBytes || fields.entries > limits.maxEntries) {
    return inputError(
        fmt::format("zip: a directory of {} entries and {} bytes is over the limit of {} "
                    "entries and {} bytes",
                    fields.entries, fields.size, limits.maxEntries, limits.maxDirectoryBytes));
  }
  if (fields.size > directoryEnd || fields.offset != directoryEnd - fields.size) {
    return inputError("zip: the directory does not lie directly before its end record");
  }
  return DirectoryPlace{.offset = fields.offset, .size = fields.size, .entries = fields.entries};
}

Result<std::vector<ZipEntry>> parseDirectory(std::string_view directory,
                                             const DirectoryPlace& place) {
  std::vector<ZipEntry> entries;
  entries.reserve(static_cast<std::size_t>(
      std::min<std::uint64_t>(place.entries, directory.size() / kEntrySize)));
  std::size_t position = 0;
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    NEURONCHECK_TRY(ZipEntry entry, parseEntry(directory, position));
    entries.push_back(entry);
  }
  if (position != directory.size()) {
    return inputError("zip: the directory holds more than its end record says");
  }
  NEURONCHECK_TRY_VOID(checkPlaces(entries, place.offset));
  return entries;
}

}  // namespace neuroncheck::scanner
