// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// Inflates one raw deflate stream of a source piece by piece (RFC 1951, by zlib). Memory is one
/// buffer of at most a mebibyte, whatever the stream claims.
class Inflater {
 public:
  /// `source` must outlive it; the stream is the `compressed` bytes from `offset`.
  Inflater(const ByteSource& source, std::uint64_t offset, std::uint64_t compressed);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater();

  /// Fills `out` as far as the stream goes; returns how many bytes came, fewer only at its end.
  [[nodiscard]] Result<std::size_t> fill(std::span<char> out);
  /// Whether the stream ends here. A spare byte tells one that only lacks its end mark from one
  /// that holds more; so nothing may be filled afterwards.
  [[nodiscard]] Result<bool> endsHere();

 private:
  /// Produces up to out.size() (at least one) bytes; 0 when the stream gives none any more.
  [[nodiscard]] Result<std::size_t> step(std::span<char> out);

  const ByteSource& source_;
  std::uint64_t offset_;
  std::uint64_t left_;
  std::string input_;
  z_stream stream_ = {};
  bool ready_ = false;
  bool ended_ = false;
};

}  // namespace neuroncheck::scanner
