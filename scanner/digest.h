// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"

namespace neuroncheck::scanner {

/// SHA-256 of a file's bytes as 64 hexadecimal digits. Reads the whole file, one megabyte at a
/// time.
[[nodiscard]] Result<std::string> sha256OfFile(const std::string& path);

}  // namespace neuroncheck::scanner
