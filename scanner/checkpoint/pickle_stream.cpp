// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/pickle_stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace neuroncheck::scanner {

Result<pickle::Pickle> PickleStream::next(std::string& text) {
  constexpr std::uint64_t kFirst = 4096;
  const std::uint64_t longest = limits_.maxPickleBytes - std::min(limits_.maxPickleBytes, bytes_);
  const std::uint64_t most = std::min(longest, left());
  for (std::uint64_t wanted = kFirst;; wanted *= 8) {
    const auto count = static_cast<std::size_t>(std::min(wanted, most));
    text.clear();
    text.shrink_to_fit();  // freed before the longer one is made
    NEURONCHECK_TRY(text, source_.readUpTo(offset_, count));
    const std::uint64_t memory = limits_.memoryFor(bytes_ + count);
    bool cut = false;
    auto read = pickle::readPickle(
        text, {.maxMemory = static_cast<std::size_t>(memory - std::min(memory, memory_ + count))},
        &cut);
    if (read) {
      offset_ += read->size;
      bytes_ += read->size;
      memory_ += read->memory;
      globals_.insert(read->globals.begin(), read->globals.end());
      return read;
    }
    if (cut && wanted >= most && most < left()) {
      return inputError(
          fmt::format("the pickle at byte {} does not end within {} bytes", offset_, most));
    }
    if (!cut || wanted >= most) {
      return tl::unexpected(
          std::move(read).error().within(fmt::format("pickle at byte {}", offset_)));
    }
  }
}

std::uint64_t PickleStream::memoryLeft() const {
  const std::uint64_t memory = limits_.memoryFor(bytes_);
  return memory - std::min(memory, memory_ + bytes_);
}

Result<std::string> PickleStream::take(std::size_t count) {
  const auto within = static_cast<std::size_t>(std::min<std::uint64_t>(count, left()));
  NEURONCHECK_TRY(std::string bytes, source_.readUpTo(offset_, within));
  offset_ += bytes.size();
  return bytes;
}

bool PickleStream::skip(std::uint64_t count) {
  const bool there = count <= left();
  offset_ += std::min(count, left());
  return there;
}

}  // namespace neuroncheck::scanner
