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
  std::uint64_t maxPickleBytes = std::uint64_t{192} << 20;
  /// Of the pickles, what they build and the tensors found, together. A file that really has that
  /// many tensors may take more: see `memoryFor`.
  std::uint64_t maxMemory = std::uint64_t{256} << 20;

  /// The bound for pickles that take `bytes` in the file, packed as they are: a plain pickle of
  /// tensors takes about ten times its own bytes, one made to exhaust memory a thousand times.
  [[nodiscard]] std::uint64_t memoryFor(std::uint64_t bytes) const;
};

/// A zip of torch.save: the record data.pkl, storages below data/.
[[nodiscard]] Result<Checkpoint> readSavedZip(const RootedArchive& archive,
                                              const CheckpointLimits& limits = {});

/// The stream of torch.save before 1.6: pickles of a magic number, a protocol version, the machine,
/// the object and the storage keys, then each storage behind its element count
/// (torch/serialization.py, _legacy_load). Also a bare pickle, which has no storages. torch.load
/// runs every one of the pickles, so the names of all count.
[[nodiscard]] Result<Checkpoint> readSavedStream(const ByteSource& source,
                                                 const CheckpointLimits& limits = {});

/// The tar of torch.save before 0.1.10: members sys_info, pickle, tensors and storages, all of them
/// pickles.
[[nodiscard]] Result<Checkpoint> readSavedTar(const ByteSource& source,
                                              const CheckpointLimits& limits = {});

}  // namespace neuroncheck::scanner
