// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/checkpoint.h"
#include "core/result.h"

namespace neuroncheck::scanner {

/// A Hugging Face model folder: what config.json says of the model (architecture, type, dtype,
/// sizes, as metadata), and the tensors of its weight files: model.safetensors or the shards that
/// model.safetensors.index.json names, else pytorch_model.bin or its shards. A shard that is not
/// there, or does not hold a tensor the index promises, is a problem of those tensors. Only headers
/// and pickles are read. Fails with Input when config.json or an index is no JSON object.
[[nodiscard]] Result<Checkpoint> readHfFolder(const std::string& folder);

}  // namespace neuroncheck::scanner
