// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace neuroncheck::scanner {

/// Owned bytes followed by `kPadding` zero bytes, so that a SIMD parser may read past the end.
class PaddedBytes {
 public:
  static constexpr std::size_t kPadding = 64;

  PaddedBytes() : PaddedBytes(0) {}
  /// Uninitialised bytes with zeroed padding. Throws std::bad_alloc like any container.
  explicit PaddedBytes(std::size_t size);
  /// A copy of `text`.
  explicit PaddedBytes(std::string_view text);

  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] const char* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
};

}  // namespace neuroncheck::scanner
