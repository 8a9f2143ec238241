// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// "2 tensors" when the source is a safetensors file (a length of at most 100 MB, then a JSON
/// object of that length), also for one whose header is damaged ("damaged header: ..."); nullopt
/// for anything else. Only the header is read.
[[nodiscard]] Result<std::optional<std::string>> describeSafetensors(const ByteSource& source);

}  // namespace neuroncheck::scanner
