// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace neuroncheck::worker {

using Clock = std::chrono::steady_clock;

/// Messages between a program and its workers: the length in bytes as an unsigned 32-bit
/// little-endian number, then that many bytes of UTF-8 JSON. No message is longer than this.
inline constexpr std::uint32_t kMaxFrame = std::uint32_t{1} << 30;

/// Writes one message to a pipe or socket, all of it. Unavailable error when the other side is
/// gone (the caller must ignore SIGPIPE), Internal for a message longer than kMaxFrame.
[[nodiscard]] Result<void> writeFrame(int fd, std::string_view message);

/// Reads one message. nullopt when the other side closed the stream before its first byte.
/// Unavailable error when the stream ends within a message, when the message claims more than
/// `maxBytes`, or when `deadline` passes first (the message then says "no answer in time").
[[nodiscard]] Result<std::optional<std::string>> readFrame(
    int fd, std::optional<Clock::time_point> deadline = std::nullopt,
    std::uint32_t maxBytes = kMaxFrame);

}  // namespace neuroncheck::worker
