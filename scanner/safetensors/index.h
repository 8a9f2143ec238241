// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "scanner/archive/byte_source.h"

namespace neuroncheck::scanner {

/// Which file holds each tensor, in the order of the index.
using WeightMap = std::vector<std::pair<std::string, std::string>>;

/// Reads the "weight_map" of an index of shards (model.safetensors.index.json,
/// pytorch_model.bin.index.json, as Hugging Face's save_pretrained writes them). Fails with Input
/// when the source is over 64 MiB, no JSON object, or has no such map of texts.
[[nodiscard]] Result<WeightMap> readWeightMap(const ByteSource& source);

/// Whether a file name stays in its folder: an index from elsewhere may name any file.
[[nodiscard]] bool isPlainName(std::string_view name);

}  // namespace neuroncheck::scanner
