// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace neuroncheck::scanner {

/// CRC-32 of zip records (the polynomial of ISO 3309). `seed` is the sum of what came before, 0 at
/// the start.
[[nodiscard]] std::uint32_t crc32Of(std::uint32_t seed, std::span<const std::byte> bytes);

}  // namespace neuroncheck::scanner
