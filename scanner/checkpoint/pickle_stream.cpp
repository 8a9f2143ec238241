// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/pickle_stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace neuroncheck::scanner {

Result<pickle::Pickle> PickleStream::next(std::string& text) {
  constexpr std::uint64_t kFirst = 4096;
  const std::uint64_t most = std::min(most_, left());
  for (std::uint64_t wanted = kFirst;; wanted *= 8) {
    const auto count = static_cast<std::size_t>(std::min(wanted, most));
    NEURONCHECK_TRY(text, source_.readUpTo(offset_, count));
    auto read = pickle::readPickle(text);
    if (read) {
      offset_ += read->size;
      return read;
    }
    if (wanted >= most) {
      return tl::unexpected(
          std::move(read).error().within(fmt::format("pickle at byte {}", offset_)));
    }
  }
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
