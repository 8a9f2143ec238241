// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/unpacked.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "tensor_io/descriptor.h"
#include "tensor_io/mapped_file.h"

namespace neuroncheck::tensor_io {
namespace {

constexpr std::uint64_t kInMemory = std::uint64_t{1} << 20;

Result<Unpacked> intoMemory(const scanner::ZipArchive& zip, std::size_t index, std::uint32_t& sum) {
  const auto buffer = std::make_shared<std::vector<std::byte>>();
  NEURONCHECK_TRY(sum, zip.unpack(index, [&](std::span<const std::byte> bytes) -> Result<void> {
    buffer->insert(buffer->end(), bytes.begin(), bytes.end());
    return {};
  }));
  return Unpacked{.bytes = *buffer, .owner = buffer, .mapped = false};
}

Result<Unpacked> intoFile(const scanner::ZipArchive& zip, std::size_t index,
                          const std::string& folder, std::uint32_t& sum) {
  const std::uint64_t size = zip.entries()[index].size;
  NEURONCHECK_TRY(const Descriptor file, Descriptor::unnamed(folder, ErrorCode::Input));
  // Better to say so now than to fill the disk first.
  if (const std::uint64_t room = file.freeSpace(); room < size) {
    return inputError(
        fmt::format("it unpacks to {} bytes, {} has {} free: set TMPDIR to a folder with more room",
                    size, folder, room));
  }
  std::uint64_t done = 0;
  NEURONCHECK_TRY(sum, zip.unpack(index, [&](std::span<const std::byte> bytes) -> Result<void> {
    NEURONCHECK_TRY_VOID(file.write(bytes, done, ErrorCode::Input));
    done += bytes.size();
    return {};
  }));
  NEURONCHECK_TRY(const auto mapping, Mapping::of(file.number(), static_cast<std::size_t>(done)));
  return Unpacked{.bytes = mapping->bytes(), .owner = mapping, .mapped = true};
}

}  // namespace

Result<Unpacked> unpackRecord(const scanner::ZipArchive& zip, std::size_t index,
                              std::uint64_t maxBytes, const std::string& folder) {
  const scanner::ZipEntry& entry = zip.entries()[index];
  if (entry.size > maxBytes) {
    return inputError(
        fmt::format("it unpacks to {} bytes, over the limit of {}", entry.size, maxBytes));
  }
  std::uint32_t sum = 0;
  NEURONCHECK_TRY(Unpacked out, entry.size <= kInMemory ? intoMemory(zip, index, sum)
                                                        : intoFile(zip, index, folder, sum));
  if (sum != entry.crc) {
    return inputError("its bytes do not match their checksum");
  }
  return out;
}

}  // namespace neuroncheck::tensor_io
