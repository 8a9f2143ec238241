// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/result.h"

namespace neuroncheck {

/// Makes the file `path` whole or not at all: `produce` writes to the path it is given, which lies
/// beside the final one, and a success renames it into place. A symbolic link is followed. Fails
/// with Output, leaving what was there: `path` is there but is no regular file (a device must never
/// be replaced), the rename fails, or whatever `produce` says. What `produce` throws passes through
/// after the partial file is removed.
[[nodiscard]] Result<void> replaceFile(
    const std::string& path, const std::function<Result<void>(const std::string&)>& produce);

/// Whether `path` is there and is something else than a regular file: a device, a pipe, a folder.
[[nodiscard]] bool isSpecialFile(const std::string& path);

}  // namespace neuroncheck
