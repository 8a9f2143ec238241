// SPDX-License-Identifier: Apache-2.0
#include "core/dtype.h"

#include <algorithm>

#include "core/result.h"

namespace neuroncheck {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view shortName;
  std::string_view alias;  // torch's second name, empty when there is none
  std::int64_t itemSize;
  DTypeKind kind;
  std::int64_t exportCode;  // -1: the export schema does not list it
};

constexpr std::array<DTypeRow, kDTypeCount> kRows{{
    {DType::Unknown, "unknown", "unknown", "", 0, DTypeKind::Unknown, 0},
    {DType::UInt8, "uint8", "u8", "byte", 1, DTypeKind::UnsignedInt, 1},
    {DType::Int8, "int8", "i8", "char", 1, DTypeKind::SignedInt, 2},
    {DType::Int16, "int16", "i16", "short", 2, DTypeKind::SignedInt, 3},
    {DType::Int32, "int32", "i32", "int", 4, DTypeKind::SignedInt, 4},
    {DType::Int64, "int64", "i64", "long", 8, DTypeKind::SignedInt, 5},
    {DType::Float16, "float16", "f16", "half", 2, DTypeKind::Float, 6},
    {DType::Float32, "float32", "f32", "float", 4, DTypeKind::Float, 7},
    {DType::Float64, "float64", "f64", "double", 8, DTypeKind::Float, 8},
    {DType::Complex32, "complex32", "c32", "chalf", 4, DTypeKind::Complex, 9},
    {DType::Complex64, "complex64", "c64", "cfloat", 8, DTypeKind::Complex, 10},
    {DType::Complex128, "complex128", "c128", "cdouble", 16, DTypeKind::Complex, 11},
    {DType::Bool, "bool", "b8", "", 1, DTypeKind::Bool, 12},
    {DType::BFloat16, "bfloat16", "bf16", "", 2, DTypeKind::Float, 13},
    {DType::UInt16, "uint16", "u16", "", 2, DTypeKind::UnsignedInt, 28},
    {DType::UInt32, "uint32", "u32", "", 4, DTypeKind::UnsignedInt, 34},
    {DType::UInt64, "uint64", "u64", "", 8, DTypeKind::UnsignedInt, 35},
    {DType::Float8E4M3FN, "float8_e4m3fn", "f8e4m3fn", "", 1, DTypeKind::Float, 29},
    {DType::Float8E5M2, "float8_e5m2", "f8e5m2", "", 1, DTypeKind::Float, 30},
    {DType::Float8E4M3FNUZ, "float8_e4m3fnuz", "f8e4m3fnuz", "", 1, DTypeKind::Float, 31},
    {DType::Float8E5M2FNUZ, "float8_e5m2fnuz", "f8e5m2fnuz", "", 1, DTypeKind::Float, 32},
    {DType::Float8E8M0FNU, "float8_e8m0fnu", "f8e8m0fnu", "", 1, DTypeKind::Float, 33},
    {DType::Float4E2M1FNx2, "float4_e2m1fn_x2", "f4e2m1fnx2", "", 1, DTypeKind::Float, -1},
    {DType::QInt8, "qint8", "qi8", "", 1, DTypeKind::Quantized, -1},
    {DType::QUInt8, "quint8", "qu8", "", 1, DTypeKind::Quantized, -1},
    {DType::QInt32, "qint32", "qi32", "", 4, DTypeKind::Quantized, -1},
    {DType::QUInt4x2, "quint4x2", "qu4x2", "", 1, DTypeKind::Quantized, -1},
    {DType::QUInt2x4, "quint2x4", "qu2x4", "", 1, DTypeKind::Quantized, -1},
}};

constexpr bool rowsInOrder() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows.at(i).dtype) != i) {
      return false;
    }
  }
  return true;
}
static_assert(rowsInOrder(), "kRows is indexed by DType");

const DTypeRow& row(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  NEURONCHECK_CHECK(index < kRows.size(), "dtype outside the table");
  return kRows.at(index);
}

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::string_view shortName(DType dtype) { return row(dtype).shortName; }

std::optional<DType> parseDType(std::string_view text) {
  constexpr std::string_view kPrefix = "torch.";
  const bool qualified = text.starts_with(kPrefix);
  if (qualified) {
    text.remove_prefix(kPrefix.size());
  }
  for (const DTypeRow& r : kRows) {
    const bool named = text == r.name || (!r.alias.empty() && text == r.alias);
    if (named || (!qualified && text == r.shortName)) {
      return r.dtype;
    }
  }
  return std::nullopt;
}

std::optional<DType> dtypeFromExportCode(std::int64_t code) {
  const auto* found = std::find_if(kRows.begin(), kRows.end(), [code](const DTypeRow& r) {
    return r.exportCode >= 0 && r.exportCode == code;
  });
  return found == kRows.end() ? std::nullopt : std::optional(found->dtype);
}

std::int64_t itemSize(DType dtype) { return row(dtype).itemSize; }

DTypeKind kind(DType dtype) { return row(dtype).kind; }

bool isIntegral(DType dtype) {
  const DTypeKind k = kind(dtype);
  return k == DTypeKind::Bool || k == DTypeKind::UnsignedInt || k == DTypeKind::SignedInt;
}

bool isFloat8(DType dtype) { return name(dtype).starts_with("float8"); }

}  // namespace neuroncheck
