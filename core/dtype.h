// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace neuroncheck {

/// Element types of torch 2.13, by the names torch prints without "torch.". `Unknown` is a dtype
/// the file does not state.
enum class DType : std::uint8_t {
  Unknown,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  Float32,
  Float64,
  Complex32,
  Complex64,
  Complex128,
  Bool,
  BFloat16,
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3FN,
  Float8E5M2,
  Float8E4M3FNUZ,
  Float8E5M2FNUZ,
  Float8E8M0FNU,
  Float4E2M1FNx2,
  QInt8,
  QUInt8,
  QInt32,
  QUInt4x2,
  QUInt2x4,
};
inline constexpr std::size_t kDTypeCount = static_cast<std::size_t>(DType::QUInt2x4) + 1;

enum class DTypeKind : std::uint8_t {
  Unknown,
  Bool,
  UnsignedInt,
  SignedInt,
  Float,
  Complex,
  Quantized
};

/// torch's name ("float32", "bfloat16", "float8_e4m3fn"); "unknown" for Unknown.
[[nodiscard]] std::string_view name(DType dtype);
/// The short name of the case grammar ("f32", "bf16", "i64", "b8").
[[nodiscard]] std::string_view shortName(DType dtype);
/// Accepts torch's name, with or without "torch.", its aliases ("float", "half", "long", "double",
/// ...) and the short name. "unknown" gives Unknown, so that name() is undone.
[[nodiscard]] std::optional<DType> parseDType(std::string_view text);
/// From the integer of the export schema (torch/_export/serde/schema.py, ScalarType); nullopt for
/// one it does not list.
[[nodiscard]] std::optional<DType> dtypeFromExportCode(std::int64_t code);
/// Bytes of one element; 0 for Unknown. Packed sub-byte types count the bytes of their container.
[[nodiscard]] std::int64_t itemSize(DType dtype);
[[nodiscard]] DTypeKind kind(DType dtype);
[[nodiscard]] inline bool isFloating(DType dtype) { return kind(dtype) == DTypeKind::Float; }
[[nodiscard]] inline bool isComplex(DType dtype) { return kind(dtype) == DTypeKind::Complex; }
/// Signed, unsigned or bool, as torch's is_integral(includeBool=true).
[[nodiscard]] bool isIntegral(DType dtype);
[[nodiscard]] bool isFloat8(DType dtype);

}  // namespace neuroncheck
