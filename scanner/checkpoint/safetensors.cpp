// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/safetensors.h"

#include <utility>

#include "scanner/safetensors/header.h"

namespace neuroncheck::scanner {

Result<Checkpoint> readSafetensors(const ByteSource& source) {
  NEURONCHECK_TRY(SafetensorsHeader header, readSafetensorsHeader(source));
  markPlaces(header);
  Checkpoint checkpoint;
  checkpoint.top = "dict";
  checkpoint.metadata = std::move(header.metadata);
  for (SafetensorsTensor& entry : header.tensors) {
    CheckpointTensor& tensor = checkpoint.tensors.emplace_back();
    tensor.name = std::move(entry.name);
    tensor.problem = std::move(entry.problem);
    tensor.spec.device.type = "cpu";
    tensor.spec.dtype = entry.dtype;
    for (const std::int64_t size : entry.sizes) {
      tensor.spec.sizes.emplace_back(size);
    }
  }
  return checkpoint;
}

}  // namespace neuroncheck::scanner
