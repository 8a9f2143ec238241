// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"
#include "tensor_io/extent.h"
#include "tensor_io/python_literal.h"

namespace neuroncheck::tensor_io {
namespace {

using scanner::printable;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;
// Spaces numpy leaves so that the length of the first axis can grow in place.
constexpr std::size_t kGrowthDigits = 21;
constexpr std::size_t kAlignment = 64;

struct Row {
  std::string_view text;
  DType dtype;
};
// As numpy writes them: one-byte elements have no byte order.
constexpr std::array kRows = {
    Row{"|b1", DType::Bool},      Row{"|i1", DType::Int8},       Row{"|u1", DType::UInt8},
    Row{"<i2", DType::Int16},     Row{"<u2", DType::UInt16},     Row{"<i4", DType::Int32},
    Row{"<u4", DType::UInt32},    Row{"<i8", DType::Int64},      Row{"<u8", DType::UInt64},
    Row{"<f2", DType::Float16},   Row{"<f4", DType::Float32},    Row{"<f8", DType::Float64},
    Row{"<c8", DType::Complex64}, Row{"<c16", DType::Complex128}};

/// Why elements of a kind are not read; "" for numbers and raw bytes.
std::string_view refusal(char kind) {
  switch (kind) {
    case 'O':
      return "holds Python objects, a pickle: it is never unpickled";
    case 'U':
    case 'S':
    case 'a':
    case 'T':
      return "is text";
    case 'M':
    case 'm':
      return "is a date or a duration";
    default:
      return std::string_view("biufcV").find(kind) == std::string_view::npos
                 ? "is of a kind numpy does not list"
                 : "";
  }
}

/// The text of a header, after magic, version and length.
struct HeaderText {
  std::string text;
  std::uint64_t end = 0;
};

Result<HeaderText> readText(const StartReader& start) {
  NEURONCHECK_TRY(const std::string prefix, start(12));
  if (!startsLikeNpy(prefix)) {
    return inputError("it does not begin like an npy file");
  }
  const int major = prefix.size() > 6 ? static_cast<unsigned char>(prefix[6]) : 0;
  const int minor = prefix.size() > 7 ? static_cast<unsigned char>(prefix[7]) : 0;
  const std::size_t width = major == 1 ? 2 : 4;
  if (prefix.size() < 8 + width) {
    return inputError("the npy header is cut off");
  }
  if (major < 1 || major > 3 || minor != 0) {
    return inputError(
        fmt::format("npy version {}.{} is not read (1.0, 2.0 and 3.0 are)", major, minor));
  }
  const std::size_t length = width == 2 ? scanner::le16(prefix, 8) : scanner::le32(prefix, 8);
  if (length > kMaxHeader) {
    return inputError(
        fmt::format("the npy header claims {} bytes, at most {} are read", length, kMaxHeader));
  }
  const std::size_t end = 8 + width + length;
  NEURONCHECK_TRY(const std::string all, start(end));
  if (all.size() != end) {
    return inputError(fmt::format("the npy header claims {} bytes, {} are there", length,
                                  all.size() - std::min(all.size(), 8 + width)));
  }
  return HeaderText{.text = all.substr(8 + width), .end = end};
}

Result<void> takeDType(const Literal& value, NpyHeader& header) {
  if (value.kind != Literal::Kind::Text) {
    return inputError("its dtype is structured: several fields in one element are not read");
  }
  NEURONCHECK_TRY(header.dtype, parseNpyDType(value.text));
  return {};
}

Result<void> takeShape(const Literal& value, NpyHeader& header) {
  if (value.kind != Literal::Kind::Tuple) {
    return inputError("its shape is no tuple");
  }
  for (const Literal& size : value.items) {
    if (size.kind != Literal::Kind::Integer) {
      return inputError("a size is no integer");
    }
    header.sizes.push_back(size.number);
  }
  return {};
}

/// Takes exactly the three keys numpy insists on, in any order.
Result<void> takeFields(const Literal& fields, NpyHeader& header) {
  constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};
  std::array<bool, kKeys.size()> seen = {};
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const Literal& key = fields.items[i];
    const Literal& value = fields.items[i + 1];
    const auto found = std::ranges::find(kKeys, key.text);
    if (key.kind != Literal::Kind::Text || found == kKeys.end()) {
      return inputError(
          fmt::format("the npy header has an unknown key '{}'", printable(key.text, 40)));
    }
    bool& before = seen.at(static_cast<std::size_t>(found - kKeys.begin()));
    if (std::exchange(before, true)) {
      return inputError(fmt::format("the npy header has '{}' twice", *found));
    }
    if (*found == "descr") {
      NEURONCHECK_TRY_VOID(takeDType(value, header));
    } else if (*found == "shape") {
      NEURONCHECK_TRY_VOID(takeShape(value, header));
    } else if (value.kind != Literal::Kind::Bool) {
      return inputError("its fortran_order is no bool");
    } else {
      header.fortranOrder = value.truth;
    }
  }
  const auto missing = std::ranges::find(seen, false);
  if (missing != seen.end()) {
    return inputError(fmt::format("the npy header has no '{}'",
                                  kKeys.at(static_cast<std::size_t>(missing - seen.begin()))));
  }
  return {};
}

std::string candidates(std::int64_t itemSize) {
  return itemSize == 1   ? "float8_e4m3fn, float8_e5m2, float8_e8m0fnu or another of one byte"
         : itemSize == 2 ? "bfloat16 or another of two bytes"
                         : fmt::format("one of {} bytes", itemSize);
}

}  // namespace

bool startsLikeNpy(std::string_view start) { return start.starts_with(kMagic); }

Result<NpyDType> parseNpyDType(std::string_view text) {
  NpyDType out;
  out.text = text;
  const bool ordered = !text.empty() && std::string_view("<>|=").find(text[0]) != text.npos;
  const std::string_view rest = text.substr(ordered ? 1 : 0);
  const auto shown = [&] { return fmt::format("its dtype '{}'", printable(text, 40)); };
  if (rest.empty()) {
    return inputError(shown() + " is none");
  }
  if (const std::string_view why = refusal(rest[0]); !why.empty()) {
    return inputError(fmt::format("{} {}", shown(), why));
  }
  const char* first = rest.data() + 1;
  const char* last = rest.data() + rest.size();
  const auto [end, error] = std::from_chars(first, last, out.itemSize);
  if (error != std::errc() || end != last || out.itemSize < 0) {
    return inputError(shown() + " is none");
  }
  if (text[0] == '>' && out.itemSize > 1 && rest[0] != 'V') {
    return inputError(shown() + " is big-endian; in Python: a.astype(a.dtype.newbyteorder('<'))");
  }
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& r) { return r.text.substr(1) == rest; });
  if (row != kRows.end()) {
    out.dtype = row->dtype;
    return out;
  }
  if ((rest[0] != 'V' && rest != "f1") || out.itemSize == 0) {
    return inputError(shown() + " has no counterpart in torch");
  }
  return out;
}

Result<NpyHeader> readNpyHeader(const StartReader& start) {
  NEURONCHECK_TRY(const HeaderText text, readText(start));
  auto fields = parseLiteral(text.text);
  if (!fields) {
    return tl::unexpected(std::move(fields).error().within("npy header"));
  }
  if (fields->kind != Literal::Kind::Dict) {
    return inputError("the npy header is no dictionary");
  }
  NpyHeader header;
  header.dataOffset = text.end;
  NEURONCHECK_TRY_VOID(takeFields(*fields, header));
  return header;
}

Result<DType> chooseDType(const NpyDType& stored, std::string_view name,
                          const OpenOptions& options) {
  const auto named = options.dtypes.find(name);
  if (named != options.dtypes.end()) {
    if (itemSize(named->second) != stored.itemSize) {
      return inputError(fmt::format("its dtype '{}' has elements of {} bytes, {} has {}",
                                    printable(stored.text, 40), stored.itemSize,
                                    neuroncheck::name(named->second), itemSize(named->second)));
    }
    return named->second;
  }
  if (stored.dtype != DType::Unknown) {
    return stored.dtype;
  }
  if (options.opaque && itemSize(*options.opaque) == stored.itemSize) {
    return *options.opaque;
  }
  return inputError(
      fmt::format("its dtype '{}' names no format: say which dtype the bytes are ({}), or write "
                  "the tensor as safetensors",
                  printable(stored.text, 40), candidates(stored.itemSize)));
}

Result<std::uint64_t> dataBytesOf(const NpyHeader& header, std::uint64_t length) {
  NEURONCHECK_TRY(const std::uint64_t needed, byteCountOf(header.dtype.itemSize, header.sizes));
  const std::uint64_t there = length - std::min(length, header.dataOffset);
  if (there < needed) {
    return inputError(fmt::format("its shape [{}] needs {} bytes, {} are there: it is cut off",
                                  fmt::join(header.sizes, ","), needed, there));
  }
  if (there > needed) {
    return inputError(fmt::format(
        "{} bytes follow its {} bytes of data: several arrays in one npy are not read, npz holds "
        "several",
        there - needed, needed));
  }
  return needed;
}

Result<TensorHead> headOf(const NpyHeader& header, std::string name, std::uint64_t length,
                          const OpenOptions& options) {
  TensorHead head;
  NEURONCHECK_TRY(head.byteCount, dataBytesOf(header, length));
  NEURONCHECK_TRY(head.dtype, chooseDType(header.dtype, name, options));
  head.name = std::move(name);
  head.sizes = header.sizes;
  head.strides = header.fortranOrder ? columnMajor(head.sizes) : rowMajor(head.sizes);
  return head;
}

Result<std::string> npyHeaderText(DType dtype, std::span<const std::int64_t> sizes) {
  const auto row = std::ranges::find(kRows, dtype, &Row::dtype);
  if (row == kRows.end()) {
    return fail(ErrorCode::Usage, fmt::format("numpy has no dtype for {}: write safetensors",
                                              neuroncheck::name(dtype)));
  }
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 row->text, fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  if (!sizes.empty()) {
    text.append(kGrowthDigits - std::min(kGrowthDigits, std::to_string(sizes[0]).size()), ' ');
  }
  constexpr std::size_t kPrefix = 10;
  const std::size_t unpadded = kPrefix + text.size() + 1;
  text.append(kAlignment - unpadded % kAlignment, ' ');
  text += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(text.size() & 0xFFU);
  out += static_cast<char>(text.size() >> 8U);
  return out + text;
}

}  // namespace neuroncheck::tensor_io
