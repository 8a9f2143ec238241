// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scanner/archive/zip_archive.h"

namespace neuroncheck::scanner {

/// A zip seen from its root folder: torch puts every record below one folder named after the file,
/// older writers below none.
class RootedArchive {
 public:
  explicit RootedArchive(ZipArchive zip);

  [[nodiscard]] const ZipArchive& zip() const { return zip_; }
  /// "mlp/", or empty.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] std::size_t count() const { return zip_.entries().size(); }
  /// Name of an entry without the root folder.
  [[nodiscard]] std::string_view name(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }
  /// Some entry lies below that folder ("data/aotinductor/").
  [[nodiscard]] bool hasFolder(std::string_view folder) const;

 private:
  ZipArchive zip_;
  std::string prefix_;
};

/// Fails, with both versions, for a file version (record "version" of torch.save and
/// torch.jit.save) that is newer than the newest known.
[[nodiscard]] Result<void> checkFileVersion(const RootedArchive& archive);

}  // namespace neuroncheck::scanner
