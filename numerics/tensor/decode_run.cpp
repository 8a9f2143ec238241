// SPDX-License-Identifier: Apache-2.0
// Conversions of whole runs; each loop is one the compiler turns into vector code.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "numerics/format/vector_clones.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::numerics {
namespace {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T, typename Out>
void widen(std::span<const std::byte> raw, std::span<Out> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<Out>(load<T>(raw.data() + i * sizeof(T)));
  }
}

NEURONCHECK_CLONES
void widenFloat32(std::size_t n, const std::byte* raw, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<double>(load<float>(raw + i * 4));
  }
}

NEURONCHECK_CLONES
void widenBFloat16(std::size_t n, const std::byte* raw, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint32_t>(load<std::uint16_t>(raw + i * 2)) << 16;
    out[i] = static_cast<double>(std::bit_cast<float>(bits));
  }
}

/// The bits moved into place are a float whose exponent is 112 too small, subnormals included; one
/// multiplication repairs both. Infinity and NaN get their exponent set.
NEURONCHECK_CLONES
void widenFloat16(std::size_t n, const std::byte* raw, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t half = load<std::uint16_t>(raw + i * 2);
    const std::uint32_t moved = (half & 0x7fffU) << 13;
    const float scaled = std::bit_cast<float>(moved) * 0x1p112F;
    const std::uint32_t magnitude =
        (half & 0x7c00U) == 0x7c00U ? moved | 0x7f800000U : std::bit_cast<std::uint32_t>(scaled);
    out[i] = static_cast<double>(std::bit_cast<float>(magnitude | ((half & 0x8000U) << 16)));
  }
}

void widenByte(Format format, std::span<const std::byte> raw, std::span<double> out) {
  static const auto kTables = [] {
    std::array<std::array<double, 256>, kFormatCount> tables{};
    for (std::size_t f = 0; f < kFormatCount; ++f) {
      if (traits(static_cast<Format>(f)).storageBits == 8) {
        for (std::size_t bits = 0; bits < 256; ++bits) {
          tables.at(f).at(bits) = decode(static_cast<Format>(f), bits);
        }
      }
    }
    return tables;
  }();
  const auto& table = kTables.at(static_cast<std::size_t>(format));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = table[static_cast<std::size_t>(raw[i])];
  }
}

/// torch writes bools as 0 and 1; any other byte reads as true, as a C++ bool of it would.
template <typename Out>
void widenBool(std::span<const std::byte> raw, std::span<Out> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = raw[i] == std::byte{0} ? Out{0} : Out{1};
  }
}

template <typename Out>
bool widenInteger(DType dtype, std::span<const std::byte> raw, std::span<Out> out) {
  switch (dtype) {
    case DType::Bool:
      widenBool(raw, out);
      return true;
    case DType::UInt8:
      widen<std::uint8_t>(raw, out);
      return true;
    case DType::Int8:
      widen<std::int8_t>(raw, out);
      return true;
    case DType::UInt16:
      widen<std::uint16_t>(raw, out);
      return true;
    case DType::Int16:
      widen<std::int16_t>(raw, out);
      return true;
    case DType::UInt32:
      widen<std::uint32_t>(raw, out);
      return true;
    case DType::Int32:
      widen<std::int32_t>(raw, out);
      return true;
    case DType::UInt64:
      widen<std::uint64_t>(raw, out);
      return true;
    case DType::Int64:
      widen<std::int64_t>(raw, out);
      return true;
    default:
      return false;
  }
}

template <typename T>
void store(std::byte* out, T value) {
  std::memcpy(out, &value, sizeof(T));
}

}  // namespace

void decodeRun(DType dtype, std::span<const std::byte> raw, std::span<double> out) {
  if (widenInteger(dtype, raw, out)) {
    return;
  }
  const auto format = formatOf(dtype);
  NEURONCHECK_CHECK(format && !isComplex(dtype), "decodeRun of a dtype without one value each");
  switch (*format) {
    case Format::Float64:
      widen<double>(raw, out);
      return;
    case Format::Float32:
      widenFloat32(out.size(), raw.data(), out.data());
      return;
    case Format::BFloat16:
      widenBFloat16(out.size(), raw.data(), out.data());
      return;
    case Format::Float16:
      widenFloat16(out.size(), raw.data(), out.data());
      return;
    default:
      widenByte(*format, raw, out);
  }
}

void decodeIntegers(DType dtype, std::span<const std::byte> raw, std::span<std::int64_t> out) {
  NEURONCHECK_CHECK(widenInteger(dtype, raw, out), "decodeIntegers of a dtype that is none");
}

void encodeElement(DType dtype, double value, std::byte* out) {
  if (const auto format = formatOf(dtype); format && !isComplex(dtype)) {
    const std::uint64_t pattern = encode(*format, value);
    std::memcpy(out, &pattern, static_cast<std::size_t>(itemSize(dtype)));
    return;
  }
  if (dtype == DType::Bool) {
    store<std::uint8_t>(out, value != 0 ? 1 : 0);
    return;
  }
  NEURONCHECK_CHECK(isIntegral(dtype), "encodeElement of a dtype without one value each");
  // By way of 128 bits, so that uint64 and wrapping to the width need no case of their own.
  const auto whole = static_cast<std::uint64_t>(static_cast<__int128>(value));
  std::memcpy(out, &whole, static_cast<std::size_t>(itemSize(dtype)));
}

}  // namespace neuroncheck::numerics
