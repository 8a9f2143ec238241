// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/checkpoint.h"
#include "core/inventory_json.h"
#include "core/json_reader.h"

namespace neuroncheck {

/// Adds a checkpoint to its input's entry: top, weights_only_loadable, tensors.<name> of {dtype,
/// shape, stride, offset, device, ...}, globals, modules.<path>, metadata.
void addToJson(const Checkpoint& checkpoint, Json& entry);

/// Reads it back; nullopt when the entry has none. Errors go to `scan`.
[[nodiscard]] std::optional<Checkpoint> checkpointFromJson(JsonScan& scan, JsonFields& entry);

}  // namespace neuroncheck
