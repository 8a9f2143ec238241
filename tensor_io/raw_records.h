// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::tensor_io {

/// A tensor at a place of a file that says nothing of itself, as a worker's shared memory.
struct RawRecord {
  std::string name;
  DType dtype = DType::Unknown;
  std::vector<std::int64_t> sizes;
  /// In elements, none negative; absent for row-major data.
  std::optional<std::vector<std::int64_t>> strides = {};
  std::uint64_t offset = 0;  ///< of the first element, in bytes from the start of the file
  std::uint64_t byteCount = 0;
};

/// Maps the file and gives its tensors by the names of `records`, which may overlap: views of one
/// storage do. Fails with Input, naming the record, when one lies outside the file, holds fewer
/// bytes than its elements reach, has a dtype without a fixed size, or a name is given twice.
///
/// The descriptor stays the caller's and may be closed. Whoever made the file should not be able to
/// shorten it: an unlinked file, or a memfd sealed with F_SEAL_SHRINK.
[[nodiscard]] Result<std::unique_ptr<TensorFile>> mapRawRecords(int descriptor,
                                                                std::vector<RawRecord> records);
/// The same for a file by its path.
[[nodiscard]] Result<std::unique_ptr<TensorFile>> openRawRecords(const std::string& path,
                                                                 std::vector<RawRecord> records);

}  // namespace neuroncheck::tensor_io
