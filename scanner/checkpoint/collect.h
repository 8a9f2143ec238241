// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/checkpoint.h"
#include "core/result.h"
#include "scanner/pickle/machine.h"
#include "scanner/pickle/saved_tensor.h"

namespace neuroncheck::scanner {

/// Bytes the file has for the storage of that key; -1 when it has none, nullopt where the format
/// does not say.
using StorageSize = std::function<std::optional<std::int64_t>(const std::string& key)>;

/// Tensors that are described outside of the pickle, by the text of their persistent id.
using TensorsById = std::map<std::string, pickle::SavedTensor, std::less<>>;

/// Names every tensor that the pickle's object leads to: keys of dicts joined by dots, positions of
/// lists in brackets, attributes of objects by name, and the parameters, persistent buffers and
/// submodules of an nn.Module by the names its state_dict has. Names the modules too. A tensor
/// whose description contradicts itself or the file is kept with its `problem`. Fails with Input
/// for nesting or references without bound, and for more than `maxMemory` bytes of result.
/// `byId` has the tensors of formats whose pickle refers to them by a persistent id.
[[nodiscard]] Result<Checkpoint> collect(const pickle::Pickle& pickle, const StorageSize& sizeOf,
                                         const TensorsById& byId = {},
                                         std::size_t maxMemory = std::size_t{256} << 20);

}  // namespace neuroncheck::scanner
