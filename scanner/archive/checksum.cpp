// SPDX-License-Identifier: Apache-2.0
#include "scanner/archive/checksum.h"

#include <zlib.h>

namespace neuroncheck::scanner {

std::uint32_t crc32Of(std::uint32_t seed, std::span<const std::byte> bytes) {
  // zlib takes a null pointer as "give me the first seed".
  if (bytes.empty()) {
    return seed;
  }
  return static_cast<std::uint32_t>(
      ::crc32_z(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace neuroncheck::scanner
