// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace neuroncheck {

/// XXH3-64 of the bytes: tells contents apart, on every machine alike. No protection against
/// somebody who makes collisions on purpose.
[[nodiscard]] std::uint64_t contentHash(std::string_view bytes);

}  // namespace neuroncheck
