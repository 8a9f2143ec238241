// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace neuroncheck::scanner::testing {

/// Writes a ZIP64 archive with holes for large records, as torch lays it out (sizes follow the
/// data).
class SparseZip {
 public:
  explicit SparseZip(const std::string& path) : file_(path, std::ios::binary) {}

  void add(std::string_view name, std::string_view bytes) { addHole(name, bytes, bytes.size()); }
  /// A record of `size` zero bytes that takes no space on disk.
  void addHole(std::string_view name, std::uint64_t size) { addHole(name, {}, size); }
  /// The same, with `bytes` at its start.
  void addHole(std::string_view name, std::string_view bytes, std::uint64_t size) {
    entry(name, bytes, {.method = 0, .compressed = size, .size = size});
  }
  /// A record that claims to be deflated from `size` bytes.
  void addDeflatedHole(std::string_view name, std::string_view bytes, std::uint64_t compressed,
                       std::uint64_t size) {
    entry(name, bytes, {.method = 8, .compressed = compressed, .size = size});
  }
  void finish();

 private:
  struct Claims {
    std::uint64_t method = 0;
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;
  };
  void entry(std::string_view name, std::string_view bytes, const Claims& claims);

  std::ofstream file_;
  std::string directory_;
  std::uint64_t offset_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace neuroncheck::scanner::testing
