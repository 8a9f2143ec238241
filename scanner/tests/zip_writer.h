// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::scanner::testing {

/// Makes zips in memory, sound or broken on purpose.
class ZipWriter {
 public:
  struct Options {
    bool deflate = false;
    std::optional<std::uint32_t> crc = {};      ///< in the directory, instead of the right one
    std::optional<std::string> localName = {};  ///< in the local header, instead of the right one
    std::optional<std::uint32_t> claimedSize = {};  ///< inflated size in both headers
    std::optional<std::uint16_t> method = {};       ///< in both headers
    std::uint16_t flags = 0;
    bool zip64 = false;  ///< sizes and offset of the directory entry in a ZIP64 extra
  };
  ZipWriter& add(std::string_view name, std::string_view bytes, const Options& options);
  ZipWriter& add(std::string_view name, std::string_view bytes) {
    return add(name, bytes, Options{});
  }

  struct End {
    bool zip64 = false;
    std::string comment = {};
    std::optional<std::uint16_t> entries = {};  ///< claimed, instead of the right number
    std::optional<std::uint32_t> directorySize = {};
    std::optional<std::uint32_t> directoryOffset = {};
  };
  [[nodiscard]] std::string finish(const End& end) const;
  [[nodiscard]] std::string finish() const { return finish(End{}); }

 private:
  std::string bytes_;
  std::string directory_;
  std::uint16_t count_ = 0;
};

/// Raw deflate stream of `bytes`.
[[nodiscard]] std::string deflated(std::string_view bytes);

}  // namespace neuroncheck::scanner::testing
