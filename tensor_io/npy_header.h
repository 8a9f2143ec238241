// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::tensor_io {

/// A dtype as an npy header spells it.
struct NpyDType {
  std::string text;              ///< "<f4"
  DType dtype = DType::Unknown;  ///< Unknown for bytes without a meaning ("V2", "f1")
  std::int64_t itemSize = 0;
};
/// Fails with Input, saying why, for what has no counterpart in torch: objects, text, dates,
/// big-endian and extended numbers.
[[nodiscard]] Result<NpyDType> parseNpyDType(std::string_view text);

/// The header of an npy file, versions 1.0 to 3.0 (numpy NEP 1, numpy/lib/format.py).
struct NpyHeader {
  NpyDType dtype;
  bool fortranOrder = false;
  std::vector<std::int64_t> sizes;
  std::uint64_t dataOffset = 0;  ///< length of magic, version, length and text
};

/// The first bytes of a file or record, at most as many as asked for.
using StartReader = std::function<Result<std::string>(std::size_t)>;
/// Fails with Input and the reason; never reads more than a mebibyte.
[[nodiscard]] Result<NpyHeader> readNpyHeader(const StartReader& start);
[[nodiscard]] bool startsLikeNpy(std::string_view start);

/// Bytes of the data, which must be all that a file or record of `length` bytes has after its
/// header.
[[nodiscard]] Result<std::uint64_t> dataBytesOf(const NpyHeader& header, std::uint64_t length);
/// What the header and the caller's choice of dtypes say together, checked against the length of
/// the file or record.
[[nodiscard]] Result<TensorHead> headOf(const NpyHeader& header, std::string name,
                                        std::uint64_t length, const OpenOptions& options);
/// The dtype `options` has for a tensor, or the file's own. Fails when neither says what the bytes
/// are, or the sizes of the elements differ.
[[nodiscard]] Result<DType> chooseDType(const NpyDType& stored, std::string_view name,
                                        const OpenOptions& options);

/// The header numpy 2 writes for a row-major array, byte for byte. Fails with Usage for a dtype
/// numpy has no name for.
[[nodiscard]] Result<std::string> npyHeaderText(DType dtype, std::span<const std::int64_t> sizes);

}  // namespace neuroncheck::tensor_io
