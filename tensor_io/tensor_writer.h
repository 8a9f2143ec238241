// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::tensor_io {

/// Takes tensors one after another: begin(), its row-major bytes in as many pieces as wanted, then
/// finish(). Memory is of the order of the names, not of the data. Every function fails with Usage
/// when it is asked for what the format cannot hold or out of turn, and with Output when the disk
/// refuses; after a failure nothing more may be written.
class TensorSink {
 public:
  TensorSink() = default;
  TensorSink(const TensorSink&) = delete;
  TensorSink& operator=(const TensorSink&) = delete;
  TensorSink(TensorSink&&) = delete;
  TensorSink& operator=(TensorSink&&) = delete;
  virtual ~TensorSink() = default;

  /// Sizes as torch has them. Names differ and are not empty. safetensors wants UTF-8, npz a
  /// harmless path, npy takes one tensor of any name.
  [[nodiscard]] Result<void> begin(std::string_view name, DType dtype,
                                   std::span<const std::int64_t> sizes);
  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  /// Fails when not exactly the bytes of the shape were given.
  [[nodiscard]] Result<void> finish();

 protected:
  /// The tensor being written.
  [[nodiscard]] const TensorHead& current() const { return head_; }
  /// Completes the file; called once, between tensors.
  [[nodiscard]] virtual Result<void> close() = 0;

 private:
  friend Result<void> closeSink(TensorSink& sink);
  [[nodiscard]] virtual Result<void> beginTensor() = 0;
  [[nodiscard]] virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Result<void> finishTensor() = 0;

  bool open_ = false;
  TensorHead head_;
  std::uint64_t given_ = 0;
  std::unordered_set<std::string> names_;
};

enum class TensorFormat : std::uint8_t {
  Safetensors,  ///< every dtype of torch but complex32, complex128 and the quantized ones
  Npy,          ///< one tensor of a dtype numpy has: neither bfloat16 nor float8
  Npz,          ///< stored, not deflated
};

using TensorProducer = std::function<Result<void>(TensorSink&)>;
/// Writes a file of what `produce` gives, whole or not at all (core/replace_file.h). The bytes
/// depend on the tensors alone: no dates, and what safetensors and numpy 2 themselves would write.
/// safetensors sorts tensors by dtype, then name; the data pass through an unnamed file beside
/// `path` on the way. `metadata` is for safetensors only. Fails with what the sink or `produce`
/// fails with, and with Usage when `produce` leaves a tensor unfinished.
[[nodiscard]] Result<void> writeTensorFile(const std::string& path, TensorFormat format,
                                           const TensorProducer& produce,
                                           const std::map<std::string, std::string>& metadata = {});

}  // namespace neuroncheck::tensor_io
