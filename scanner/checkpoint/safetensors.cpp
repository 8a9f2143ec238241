// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"
#include "scanner/pt2/document.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own bound
constexpr std::size_t kPrefix = 8;
constexpr int kDepth = 16;

constexpr auto kDTypes =
    std::to_array<std::pair<std::string_view, DType>>({{"F64", DType::Float64},
                                                       {"F32", DType::Float32},
                                                       {"F16", DType::Float16},
                                                       {"BF16", DType::BFloat16},
                                                       {"I64", DType::Int64},
                                                       {"I32", DType::Int32},
                                                       {"I16", DType::Int16},
                                                       {"I8", DType::Int8},
                                                       {"U64", DType::UInt64},
                                                       {"U32", DType::UInt32},
                                                       {"U16", DType::UInt16},
                                                       {"U8", DType::UInt8},
                                                       {"BOOL", DType::Bool},
                                                       {"C64", DType::Complex64},
                                                       {"F8_E4M3", DType::Float8E4M3FN},
                                                       {"F8_E5M2", DType::Float8E5M2},
                                                       {"F8_E8M0", DType::Float8E8M0FNU},
                                                       {"F8_E4M3FNUZ", DType::Float8E4M3FNUZ},
                                                       {"F8_E5M2FNUZ", DType::Float8E5M2FNUZ},
                                                       {"F4", DType::Float4E2M1FNx2}});

std::optional<DType> dtypeOf(std::string_view word) {
  const auto found = std::ranges::find(kDTypes, word, &std::pair<std::string_view, DType>::first);
  return found == kDTypes.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<SymInt>> shapeOf(pt2::Json value) {
  NEURONCHECK_TRY(const simdjson::dom::array array, pt2::asArray(value, "'shape'"));
  std::vector<SymInt> sizes;
  for (const pt2::Json item : array) {
    NEURONCHECK_TRY(const std::int64_t size, pt2::asInt(item, "a size"));
    if (size < 0) {
      return inputError(fmt::format("a size is negative: {}", size));
    }
    sizes.emplace_back(size);
  }
  return sizes;
}

/// "" when the offsets hold exactly the tensor within `dataBytes`.
std::string offsetProblem(pt2::Json value, const TensorSpec& spec, std::uint64_t dataBytes) {
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
  const auto bytes = spec.byteCount();
  // A type of less than a byte is packed: its size is not that of its elements.
  if (spec.dtype != DType::Float4E2M1FNx2 && (!bytes || *bytes != ends[1] - ends[0])) {
    return fmt::format("its shape needs {} bytes, its data has {}",
                       bytes ? std::to_string(*bytes) : "more than 2^63", ends[1] - ends[0]);
  }
  return {};
}

constexpr pt2::Fields<3>::Names kFields = {"dtype", "shape", "data_offsets"};

Result<CheckpointTensor> tensorOf(std::string_view name, pt2::Json entry, std::uint64_t dataBytes) {
  NEURONCHECK_TRY(const auto fields, pt2::Fields<3>::read(entry, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json dtype, fields.need(0, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json shape, fields.need(1, kFields, "the entry"));
  NEURONCHECK_TRY(const pt2::Json offsets, fields.need(2, kFields, "the entry"));
  NEURONCHECK_TRY(const std::string_view word, pt2::asString(dtype, "'dtype'"));
  CheckpointTensor tensor;
  tensor.name = name;
  tensor.spec.device.type = "cpu";
  NEURONCHECK_TRY(tensor.spec.sizes, shapeOf(shape));
  const auto known = dtypeOf(word);
  tensor.spec.dtype = known.value_or(DType::Unknown);
  tensor.problem = known ? offsetProblem(offsets, tensor.spec, dataBytes)
                         : fmt::format("its dtype '{}' is not known", printable(word, 40));
  return tensor;
}

Result<void> readMetadata(pt2::Json value, Checkpoint& checkpoint) {
  NEURONCHECK_TRY(const simdjson::dom::object object, pt2::asObject(value, "'__metadata__'"));
  for (const simdjson::dom::key_value_pair pair : object) {
    NEURONCHECK_TRY(const std::string_view text, pt2::asString(pair.value, "a metadata value"));
    checkpoint.metadata[std::string(pair.key)] = text;
  }
  return {};
}

}  // namespace

Result<Checkpoint> readSafetensors(const ByteSource& source) {
  NEURONCHECK_TRY(const std::string start, source.readUpTo(0, kPrefix));
  const std::uint64_t length = start.size() < kPrefix ? 0 : le64(start, 0);
  if (length < 2 || length > kMaxHeader || length > source.size() - kPrefix) {
    return inputError(
        fmt::format("the header claims {} bytes of a file of {}", length, source.size()));
  }
  PaddedBytes header(static_cast<std::size_t>(length));
  NEURONCHECK_TRY_VOID(source.read(kPrefix, std::span<char>(header.data(), header.size())));
  NEURONCHECK_TRY(const auto document, pt2::Document::parse(header, kDepth));
  NEURONCHECK_TRY(const simdjson::dom::object object, pt2::asObject(document.root(), "the header"));
  Checkpoint checkpoint;
  checkpoint.top = "dict";
  const std::uint64_t dataBytes = source.size() - kPrefix - length;
  for (const simdjson::dom::key_value_pair pair : object) {
    if (pair.key == "__metadata__") {
      NEURONCHECK_TRY_VOID(readMetadata(pair.value, checkpoint));
      continue;
    }
    auto tensor = tensorOf(pair.key, pair.value, dataBytes);
    if (!tensor) {
      return tl::unexpected(
          std::move(tensor).error().within(fmt::format("tensor '{}'", printable(pair.key, 120))));
    }
    checkpoint.tensors.push_back(*std::move(tensor));
  }
  return checkpoint;
}

}  // namespace neuroncheck::scanner
