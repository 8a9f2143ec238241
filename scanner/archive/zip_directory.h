// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/archive/zip_archive.h"

namespace neuroncheck::scanner {

/// Where the central directory is, as the end record (or its ZIP64 twin) says and the file length
/// confirms.
struct DirectoryPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

[[nodiscard]] Result<DirectoryPlace> locateDirectory(const ByteSource& source,
                                                     const ZipLimits& limits);
/// Parses all entries of `directory`; the names are views into it.
[[nodiscard]] Result<std::vector<ZipEntry>> parseDirectory(std::string_view directory,
                                                           const DirectoryPlace& place);

/// Fails when a name could leave the folder it is unpacked to, or is no name at all.
[[nodiscard]] Result<void> checkEntryName(std::string_view name);

/// Little-endian fields of `bytes` at `offset`; the caller has checked the range.
[[nodiscard]] std::uint16_t le16(std::string_view bytes, std::size_t offset);
[[nodiscard]] std::uint32_t le32(std::string_view bytes, std::size_t offset);
[[nodiscard]] std::uint64_t le64(std::string_view bytes, std::size_t offset);

/// The value of a 32-bit field, or of the next 64-bit field of the ZIP64 extra block when it is
/// saturated.
class Zip64Extra {
 public:
  /// `extra` is the whole extra block of a header; fails when its chain of blocks is broken.
  [[nodiscard]] static Result<Zip64Extra> parse(std::string_view extra);
  [[nodiscard]] Result<std::uint64_t> resolve(std::uint32_t field);

 private:
  std::string_view fields_;
};

}  // namespace neuroncheck::scanner
