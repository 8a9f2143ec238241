// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/pickle/machine.h"

namespace neuroncheck::scanner {

/// One pickle after the other from a part of a source, of which only as much is read as they need.
class PickleStream {
 public:
  /// Reads from `begin` on and never beyond `end`; no pickle may be longer than `most`.
  PickleStream(const ByteSource& source, std::uint64_t begin, std::uint64_t end, std::uint64_t most)
      : source_(source), offset_(begin), end_(end), most_(most) {}

  /// The next pickle. Its values are views of `text`, which must be kept.
  [[nodiscard]] Result<pickle::Pickle> next(std::string& text);
  /// Up to `count` raw bytes, fewer at the end.
  [[nodiscard]] Result<std::string> take(std::size_t count);
  /// Steps over raw bytes; false, at the end, when there are not that many.
  [[nodiscard]] bool skip(std::uint64_t count);

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t left() const { return end_ - offset_; }

 private:
  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::uint64_t most_;
};

}  // namespace neuroncheck::scanner
