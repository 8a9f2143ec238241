// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "scanner/archive/bytes.h"

namespace neuroncheck::scanner {

/// Random access to the bytes of a file or of memory. Reading never maps the file, so a file that
/// shrinks while it is read is an Error and not a signal.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills all of `out` from `offset`. Fails when the range is not within the source or cannot be
  /// read.
  [[nodiscard]] virtual Result<void> read(std::uint64_t offset, std::span<char> out) const = 0;

  /// Up to `count` bytes from `offset`, fewer at the end.
  [[nodiscard]] Result<std::string> readUpTo(std::uint64_t offset, std::size_t count) const;
};

/// Opens a regular file for reading; anything else (pipe, device, folder) is an Error.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> openFile(const std::string& path);
/// A source over an open descriptor of a regular file, which it takes over and closes, also when
/// this fails.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> descriptorSource(int descriptor);
/// A source over memory the caller keeps alive.
[[nodiscard]] std::unique_ptr<ByteSource> memorySource(std::string_view bytes);
/// A source over memory of its own.
[[nodiscard]] std::unique_ptr<ByteSource> memorySource(PaddedBytes bytes);
/// `size` bytes of a source from `offset` on, as a source.
[[nodiscard]] std::unique_ptr<ByteSource> partOf(std::shared_ptr<const ByteSource> source,
                                                 std::uint64_t offset, std::uint64_t size);

}  // namespace neuroncheck::scanner
