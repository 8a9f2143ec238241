// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/checkpoint.h"
#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// Reads the header of a safetensors file: eight bytes of length, then that much JSON, at most 100
/// MB (https://github.com/huggingface/safetensors, README "Format"). Tensors come in file order;
/// one whose offsets do not fit its shape or the file is kept with its problem. Fails with Input
/// when the header is damaged.
[[nodiscard]] Result<Checkpoint> readSafetensors(const ByteSource& source);

}  // namespace neuroncheck::scanner
