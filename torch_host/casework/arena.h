// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/result.h"

namespace neuroncheck::casework {

/// Memory shared with the program that judges: operands lie in it, results are put there. A part of
/// it, [begin, end), is ours to write; the operands are only read. Owns the mapping.
class Arena {
 public:
  /// Maps a file. Unavailable error when it cannot be opened or is shorter than `end`.
  [[nodiscard]] static Result<Arena> open(const std::string& path, std::uint64_t begin,
                                          std::uint64_t end);
  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;

  /// Bytes [offset, offset + bytes) as a one-dimensional CPU tensor of `type` over this very
  /// memory. Input error where they do not lie within the file.
  [[nodiscard]] Result<at::Tensor> view(std::uint64_t offset, std::uint64_t bytes,
                                        c10::ScalarType type) const;

  /// Copies the elements of a dense tensor of any device, row-major, and says where they lie (64
  /// bytes aligned). Input error "the results do not fit" when no room is left. Throws what torch
  /// throws when it copies.
  [[nodiscard]] Result<std::uint64_t> put(const at::Tensor& tensor);

  /// What was put so far may be overwritten.
  void clear() { next_ = begin_; }

 private:
  Arena() = default;

  std::shared_ptr<std::byte> memory_;
  std::uint64_t size_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace neuroncheck::casework
