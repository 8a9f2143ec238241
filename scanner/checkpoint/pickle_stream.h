// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/checkpoint/torch_save.h"
#include "scanner/pickle/machine.h"

namespace neuroncheck::scanner {

/// One pickle after the other from a part of a source, of which only as much is read as they need.
class PickleStream {
 public:
  /// Reads from `begin` on and never beyond `end`; the pickles together stay within `limits`.
  PickleStream(const ByteSource& source, std::uint64_t begin, std::uint64_t end,
               const CheckpointLimits& limits)
      : source_(source), offset_(begin), end_(end), limits_(limits) {}

  /// The next pickle. Its values are views of `text`, which must be kept.
  [[nodiscard]] Result<pickle::Pickle> next(std::string& text);
  /// The names that the pickles read so far ask for, distinct and sorted.
  [[nodiscard]] const std::set<std::string>& globals() const { return globals_; }
  /// Up to `count` raw bytes, fewer at the end.
  [[nodiscard]] Result<std::string> take(std::size_t count);
  /// Steps over raw bytes; false, at the end, when there are not that many.
  [[nodiscard]] bool skip(std::uint64_t count);

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t left() const { return end_ - offset_; }
  /// Memory that the limits leave for what is made of the pickles.
  [[nodiscard]] std::uint64_t memoryLeft() const;

 private:
  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t end_;
  CheckpointLimits limits_;
  std::uint64_t bytes_ = 0;   ///< of the pickles so far
  std::uint64_t memory_ = 0;  ///< what they built
  std::set<std::string> globals_;
};

}  // namespace neuroncheck::scanner
