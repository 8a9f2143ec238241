// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/tensor_spec.h"
#include "scanner/pickle/machine.h"

namespace neuroncheck::scanner::pickle {

/// The storage a saved tensor lies in, as the persistent id of torch.save names it:
/// ("storage", class, key, location, element count[, view]) (torch/serialization.py).
struct StorageRef {
  std::string key;               ///< record "data/<key>" of a zip
  std::string location;          ///< "cpu", "cuda:0", "meta"
  DType dtype = DType::Unknown;  ///< Unknown for UntypedStorage, whose count is in bytes
  std::int64_t count = 0;        ///< elements of `dtype`, or bytes when it is Unknown
};

/// A tensor that a pickle would rebuild. Sizes, strides and offset are as the pickle claims them:
/// `checkExtent` says whether the storage holds them.
struct SavedTensor {
  TensorSpec spec;
  std::optional<StorageRef> storage;  ///< absent for meta, sparse and nested tensors
  std::string form;                   ///< "", "quantized", "sparse", "nested", "meta", "subclass"
  bool isParameter = false;
};

/// Whether the value is a call of one of torch's functions that rebuild a tensor
/// (torch/_utils.py, torch/_tensor.py) or a tensor of the oldest format.
[[nodiscard]] bool isTensorCall(const Pickle& pickle, Index index);

/// Reads such a call: _rebuild_tensor, _v2, _v3, _rebuild_parameter (with state),
/// _rebuild_qtensor, _rebuild_sparse_tensor, _rebuild_meta_tensor_no_storage,
/// _rebuild_nested_tensor, _rebuild_wrapper_subclass, _rebuild_device_tensor_from_cpu_tensor and
/// _from_numpy, _rebuild_from_type_v2. Fails with Input for arguments that are none of that
/// function's.
[[nodiscard]] Result<SavedTensor> readTensor(const Pickle& pickle, Index index);

/// The storage of a persistent id; fails with Input when it is none.
[[nodiscard]] Result<StorageRef> readStorage(const Pickle& pickle, Index index);

/// "" when the storage holds every element of the tensor, else what is wrong: a negative size or
/// offset, an extent beyond the storage's count, a product beyond 64 bits.
[[nodiscard]] std::string checkExtent(const SavedTensor& tensor);

/// float32 of "torch.FloatStorage", "torch.float8_e4m3fn" or "FloatStorage"; Unknown of
/// "torch.storage.UntypedStorage"; nullopt of anything else.
[[nodiscard]] std::optional<DType> dtypeOfStorageClass(std::string_view name);

}  // namespace neuroncheck::scanner::pickle
