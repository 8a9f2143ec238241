// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"

namespace neuroncheck::scanner {

/// SHA-256 of a file as 64 lower-case hexadecimal digits, read in blocks.
[[nodiscard]] Result<std::string> sha256OfFile(const std::string& path);

}  // namespace neuroncheck::scanner
