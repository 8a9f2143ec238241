// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// Whether a folder has an entry of that name, be it a link that leads nowhere.
[[nodiscard]] bool isThere(const std::filesystem::path& path);

/// Opens a file of a folder that came from elsewhere. Such a folder may hold links to any file of
/// the reader: those fail with Input, by name. A link to a file beside it is followed, and one of a
/// Hugging Face cache, which keeps the files of snapshots/<revision> as links into blobs.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> openOwn(const std::filesystem::path& path);

}  // namespace neuroncheck::scanner
