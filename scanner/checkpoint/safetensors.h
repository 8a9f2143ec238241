// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/checkpoint.h"
#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// The tensors of a safetensors file as its header describes them (scanner/safetensors/header.h),
/// in file order; one that cannot be as described is kept with its problem. Fails with Input when
/// the header is damaged.
[[nodiscard]] Result<Checkpoint> readSafetensors(const ByteSource& source);

}  // namespace neuroncheck::scanner
