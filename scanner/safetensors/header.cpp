// SPDX-License-Identifier: Apache-2.0
#include "scanner/safetensors/header.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/bytes.h"
#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"
#include "scanner/pt2/document.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own bound
constexpr std::size_t kPrefix = 8;
constexpr int kDepth = 16;
constexpr std::size_t kMaxRank = 1024;  // torch itself stops far below

// In the order of the reference implementation's enumeration, by which it sorts what it writes.
constexpr auto kDTypes =
    std::to_array<std::pair<std::string_view, DType>>({{"BOOL", DType::Bool},
                                                       {"F4", DType::Float4E2M1FNx2},
                                                       {"U8", DType::UInt8},
                                                       {"I8", DType::Int8},
                                                       {"F8_E5M2", DType::Float8E5M2},
                                                       {"F8_E4M3", DType::Float8E4M3FN},
                                                       {"F8_E8M0", DType::Float8E8M0FNU},
                                                       {"F8_E4M3FNUZ", DType::Float8E4M3FNUZ},
                                                       {"F8_E5M2FNUZ", DType::Float8E5M2FNUZ},
                                                       {"I16", DType::Int16},
                                                       {"U16", DType::UInt16},
                                                       {"F16", DType::Float16},
                                                       {"BF16", DType::BFloat16},
                                                       {"I32", DType::Int32},
                                                       {"U32", DType::UInt32},
                                                       {"F32", DType::Float32},
                                                       {"C64", DType::Complex64},
                                                       {"F64", DType::Float64},
                                                       {"I64", DType::Int64},
                                                       {"U64", DType::UInt64}});

std::optional<DType> dtypeOf(std::string_view word) {
  const auto found = std::ranges::find(kDTypes, word, &std::pair<std::string_view, DType>::first);
  return found == kDTypes.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<std::int64_t>> shapeOf(pt2::Json value) {
  NEURONCHECK_TRY(const simdjson::dom::array array, pt2::asArray(value, "'shape'"));
  std::vector<std::int64_t> sizes;
  for (const pt2::Json item : array) {
    NEURONCHECK_TRY(const std::int64_t size, pt2::asInt(item, "a size"));
    if (size < 0) {
      return inputError(fmt::format("a size is negative: {}", size));
    }
    sizes.push_back(size);
    if (sizes.size() > kMaxRank) {
      return inputError("it has more than 1024 dimensions");
    }
  }
  return sizes;
}

std::optional<std::int64_t> byteCount(const SafetensorsTensor& tensor) {
  if (std::ranges::find(tensor.sizes, 0) != tensor.sizes.end()) {
    return 0;
  }
  std::int64_t bytes = itemSize(tensor.dtype);
  for (const std::int64_t size : tensor.sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

/// Takes the place of the tensor; "" when its offsets lie within `dataBytes`.
std::string takeOffsets(pt2::Json value, SafetensorsTensor& tensor, std::uint64_t dataBytes) {
  std::array<std::int64_t, 2> ends = {-1, -1};
  std::size_t count = 0;
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) {
    return "its data_offsets are no array";
  }
  for (const pt2::Json item : array) {
    const auto number = pt2::asInt(item, "an offset");
    if (count < ends.size() && number) {
      ends.at(count) = *number;
    }
    ++count;
  }
  if (count != ends.size() || ends[0] < 0 || ends[1] < ends[0]) {
    return "its data_offsets are no two ascending numbers";
  }
  if (static_cast<std::uint64_t>(ends[1]) > dataBytes) {
    return fmt::format("its data ends at byte {}, the file holds {}", ends[1], dataBytes);
  }
  tensor.begin = static_cast<std::uint64_t>(ends[0]);
  tensor.end = static_cast<std::uint64_t>(ends[1]);
  return {};
}

/// "" when the place holds exactly the shape.
std::string sizeProblem(const SafetensorsTensor& tensor) {
  const std::uint64_t there = tensor.end - tensor.begin;
  const auto bytes = byteCount(tensor);
  if (!bytes || static_cast<std::uint64_t>(*bytes) != there) {
    return fmt::format("its shape needs {} bytes, its data has {}",
                       bytes ? std::to_string(*bytes) : "more than 2^63", there);
  }
  return {};
}

/// Two values of four bits share a byte, and torch's dtype is that byte: the file counts values.
std::string pairUp(std::vector<std::int64_t>& sizes) {
  if (sizes.empty() || sizes.back() % 2 != 0) {
    return "its dtype F4 packs two values into a byte, its last size is not even";
  }
  sizes.back() /= 2;
  return {};
}

constexpr pt2::Fields<3>::Names kFields = {"dtype", "shape", "data_offsets"};

Result<SafetensorsTensor> tensorOf(std::string_view name, pt2::Json entry,
                                   std::uint64_t dataBytes) {
  NEURONCHECK_TRY(const auto fields, pt2::Fields<3>::read(entry, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json dtype, fields.need(0, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json shape, fields.need(1, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json offsets, fields.need(2, kFields, "the entry"));
  NEURONCHECK_TRY(const std::string_view word, pt2::asString(dtype, "'dtype'"));
  SafetensorsTensor tensor;
  tensor.name = name;
  tensor.word = word;
  NEURONCHECK_TRY(tensor.sizes, shapeOf(shape));
  tensor.problem = takeOffsets(offsets, tensor, dataBytes);
  const auto known = dtypeOf(word);
  tensor.dtype = known.value_or(DType::Unknown);
  if (!known) {
    tensor.problem = fmt::format("its dtype '{}' is not known", printable(word, 40));
  }
  if (tensor.problem.empty() && tensor.dtype == DType::Float4E2M1FNx2) {
    tensor.problem = pairUp(tensor.sizes);
  }
  if (tensor.problem.empty()) {
    tensor.problem = sizeProblem(tensor);
  }
  return tensor;
}

Result<void> readMetadata(pt2::Json value, SafetensorsHeader& header) {
  NEURONCHECK_TRY(const simdjson::dom::object object, pt2::asObject(value, "'__metadata__'"));
  for (const simdjson::dom::key_value_pair pair : object) {
    NEURONCHECK_TRY(const std::string_view text, pt2::asString(pair.value, "a metadata value"));
    header.metadata[std::string(pair.key)] = text;
  }
  return {};
}

}  // namespace

std::optional<SafetensorsWord> safetensorsWord(DType dtype) {
  const auto found = std::ranges::find(kDTypes, dtype, &std::pair<std::string_view, DType>::second);
  if (found == kDTypes.end()) {
    return std::nullopt;
  }
  return SafetensorsWord{.word = found->first,
                         .rank = static_cast<std::size_t>(found - kDTypes.begin())};
}

Result<SafetensorsHeader> readSafetensorsHeader(const ByteSource& source) {
  NEURONCHECK_TRY(const std::string start, source.readUpTo(0, kPrefix));
  const std::uint64_t length = start.size() < kPrefix ? 0 : le64(start, 0);
  if (length < 2 || length > kMaxHeader || length > source.size() - kPrefix) {
    return inputError(
        fmt::format("the header claims {} bytes of a file of {}", length, source.size()));
  }
  PaddedBytes text(static_cast<std::size_t>(length));
  NEURONCHECK_TRY_VOID(source.read(kPrefix, std::span<char>(text.data(), text.size())));
  NEURONCHECK_TRY_VOID(pt2::checkMemory(text.view(), kMostHeaderMemory));
  NEURONCHECK_TRY(const auto document, pt2::Document::parse(text, kDepth));
  NEURONCHECK_TRY(const simdjson::dom::object object, pt2::asObject(document.root(), "the header"));
  SafetensorsHeader header;
  header.dataOffset = kPrefix + length;
  header.dataBytes = source.size() - header.dataOffset;
  for (const simdjson::dom::key_value_pair pair : object) {
    if (pair.key == "__metadata__") {
      NEURONCHECK_TRY_VOID(readMetadata(pair.value, header));
      continue;
    }
    auto tensor = tensorOf(pair.key, pair.value, header.dataBytes);
    if (!tensor) {
      return tl::unexpected(
          std::move(tensor).error().within(fmt::format("tensor '{}'", printable(pair.key, 120))));
    }
    header.tensors.push_back(*std::move(tensor));
  }
  return header;
}

void markPlaces(SafetensorsHeader& header) {
  auto& tensors = header.tensors;
  std::vector<std::size_t> order;
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!names.insert(tensors[i].name).second) {
      tensors[i].problem = "its name occurs twice";
    }
    // One whose dtype is not known has its place all the same; one without a place is told already.
    if (tensors[i].problem.empty() || tensors[i].end > tensors[i].begin) {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::pair(tensors[i].begin, tensors[i].end); });
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    SafetensorsTensor& tensor = tensors[i];
    std::string problem;
    if (tensor.begin < end) {
      problem = fmt::format("its data starts at byte {}, within that of another", tensor.begin);
    } else if (tensor.begin > end) {
      problem = fmt::format("{} bytes before its data are of no tensor", tensor.begin - end);
    }
    tensor.problem = tensor.problem.empty() ? problem : tensor.problem;
    end = std::max(end, tensor.end);
  }
  if (!order.empty() && order.size() == tensors.size() && end < header.dataBytes &&
      tensors[order.back()].problem.empty()) {
    tensors[order.back()].problem =
        fmt::format("{} bytes behind its data are of no tensor", header.dataBytes - end);
  }
}

}  // namespace neuroncheck::scanner
