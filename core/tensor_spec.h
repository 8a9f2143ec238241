// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/sym_expr.h"

namespace neuroncheck {

enum class Layout : std::uint8_t {
  Unknown,
  SparseCoo,
  SparseCsr,
  SparseCsc,
  SparseBsr,
  SparseBsc,
  Mkldnn,
  Strided,
  Jagged
};
enum class MemoryFormat : std::uint8_t {
  Unknown,
  Contiguous,
  ChannelsLast,
  ChannelsLast3d,
  Preserve
};

/// torch's names: "strided", "sparse_coo", ...; "contiguous_format", "channels_last", ...
[[nodiscard]] std::string_view name(Layout layout);
[[nodiscard]] std::string_view name(MemoryFormat format);
[[nodiscard]] std::optional<Layout> parseLayout(std::string_view text);
[[nodiscard]] std::optional<MemoryFormat> parseMemoryFormat(std::string_view text);
/// From the integers of the export schema (torch/_export/serde/schema.py); Unknown for one it does
/// not list.
[[nodiscard]] Layout layoutFromExportCode(std::int64_t code);
[[nodiscard]] MemoryFormat memoryFormatFromExportCode(std::int64_t code);
[[nodiscard]] bool isSparse(Layout layout);

/// A device as torch writes it: "cpu", "cuda:0".
struct Device {
  std::string type;
  std::optional<std::int64_t> index;
  bool operator==(const Device&) const = default;
  [[nodiscard]] std::string str() const;
};

/// What a file says of one tensor. Sizes and strides are in elements; strides may be absent (empty
/// while rank > 0) where the file has none. `storageOffset` is in elements.
struct TensorSpec {
  DType dtype = DType::Unknown;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;
  SymInt storageOffset;
  Layout layout = Layout::Strided;
  Device device;
  bool requiresGrad = false;
  /// False when the file states no shape at all (TorchScript): then `sizes` is empty and means
  /// "unknown", not "scalar".
  bool hasShape = true;

  bool operator==(const TensorSpec&) const = default;

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  [[nodiscard]] bool isSymbolic() const;
  /// Product of the sizes; nullopt when symbolic, unknown or beyond int64.
  [[nodiscard]] std::optional<std::int64_t> elementCount() const;
  /// elementCount() * itemSize; nullopt when either is unknown.
  [[nodiscard]] std::optional<std::int64_t> byteCount() const;
  /// True/false when the strides decide it (dimensions of size 1 do not matter, as in torch's
  /// is_contiguous); nullopt when strides are absent or symbolic terms leave it open. A symbolic
  /// size that is not data-dependent is taken to be neither 0 nor 1, as torch's shape environment
  /// takes it.
  [[nodiscard]] std::optional<bool> isContiguous() const;
  /// True when rank is 4 (5) and the strides are those of channels_last (channels_last_3d) and not
  /// also contiguous.
  [[nodiscard]] bool isChannelsLast() const;
  /// "f32[4,2*s77]" as in the case grammar; "f32[?]" when the file states no shape.
  [[nodiscard]] std::string str() const;
};

}  // namespace neuroncheck
