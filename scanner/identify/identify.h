// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/open.h"

namespace neuroncheck::scanner {

/// A file, told by its bytes; the archive stays open where it is a sound zip.
struct Identified {
  Identification identification;
  std::optional<RootedArchive> archive;
};

/// Tells what the bytes are. Fails only when they cannot be read.
[[nodiscard]] Result<Identified> identifySource(std::shared_ptr<const ByteSource> source,
                                                const Limits& limits);

/// Tells what a folder is by the names of the files directly in it.
[[nodiscard]] Result<Identification> identifyFolder(const std::string& path);

/// The parts, for tests: a sound zip by its records, and anything that is no zip by its first
/// bytes.
[[nodiscard]] Identification identifyZip(const RootedArchive& archive);
[[nodiscard]] Result<Identification> identifyPlain(const ByteSource& source,
                                                   const std::string& start);

}  // namespace neuroncheck::scanner
