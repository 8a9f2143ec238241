// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/inventory.h"
#include "core/result.h"
#include "scanner/archive/bytes.h"
#include "scanner/open.h"

namespace neuroncheck::scanner::pt2 {

/// What a payload config (`<model>_weights_config.json`, `<model>_constants_config.json`) says.
struct PayloadConfig {
  std::vector<StoredTensor>
      tensors;  ///< `record` is relative to the archive's root; `recordBytes` is not set
  std::vector<bool> pickled;         ///< beside `tensors`: the record is a pickle, not raw bytes
  std::vector<std::string> objects;  ///< names of custom objects, which have no shape
  std::vector<std::string> notes;
};

/// `folder` ("data/weights/") is where the payloads named in the config lie.
[[nodiscard]] Result<PayloadConfig> readPayloadConfig(const PaddedBytes& json,
                                                      std::string_view folder,
                                                      const Limits& limits);

/// Bytes of storage a tensor reaches into, from offset 0 to its last element; nullopt when unknown
/// or beyond int64.
[[nodiscard]] std::optional<std::int64_t> storageBytes(const TensorSpec& spec);

}  // namespace neuroncheck::scanner::pt2
