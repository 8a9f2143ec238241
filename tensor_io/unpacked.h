// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.h"
#include "scanner/archive/zip_archive.h"

namespace neuroncheck::tensor_io {

/// The inflated bytes of one record.
struct Unpacked {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  bool mapped = false;  ///< in a file, not in memory of the process
};

/// Inflates a record of a zip: a small one into memory, a larger one into a file of `folder` that
/// has no name, so that nothing is left behind however the process ends. Fails with Input when the
/// record is over `maxBytes`, when the folder has no room for it, when its data are damaged, and
/// when they do not match their checksum.
[[nodiscard]] Result<Unpacked> unpackRecord(const scanner::ZipArchive& zip, std::size_t index,
                                            std::uint64_t maxBytes, const std::string& folder);

}  // namespace neuroncheck::tensor_io
