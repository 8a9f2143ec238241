// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/checkpoint.h"
#include "core/result.h"
#include "scanner/archive/byte_source.h"
#include "scanner/archive/rooted_archive.h"

namespace neuroncheck::scanner {

/// Bounds of reading a checkpoint. The pickles name tensors, they do not hold them: a large one is
/// no checkpoint.
struct CheckpointLimits {
  std::uint64_t maxPickleBytes = std::uint64_t{512} << 20;
};

/// A zip of torch.save: the record data.pkl, storages below data/.
[[nodiscard]] Result<Checkpoint> readSavedZip(const RootedArchive& archive,
                                              const CheckpointLimits& limits = {});

/// The stream of torch.save before 1.6: pickles of a magic number, a protocol version, the machine,
/// the object and the storage keys, then each storage behind its element count
/// (torch/serialization.py, _legacy_load). Also a bare pickle, which has no storages.
[[nodiscard]] Result<Checkpoint> readSavedStream(const ByteSource& source,
                                                 const CheckpointLimits& limits = {});

/// The tar of torch.save before 0.1.10: members pickle, tensors and storages.
[[nodiscard]] Result<Checkpoint> readSavedTar(const ByteSource& source,
                                              const CheckpointLimits& limits = {});

}  // namespace neuroncheck::scanner
