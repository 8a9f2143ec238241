// SPDX-License-Identifier: Apache-2.0
#include "scanner/safetensors/index.h"

#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "scanner/archive/bytes.h"
#include "scanner/pt2/document.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint64_t kMaxJson = std::uint64_t{64} << 20;
constexpr int kDepth = 64;

}  // namespace

Result<WeightMap> readWeightMap(const ByteSource& source) {
  if (source.size() > kMaxJson) {
    return inputError(fmt::format("{} bytes are more than an index of shards has", source.size()));
  }
  PaddedBytes text(static_cast<std::size_t>(source.size()));
  NEURONCHECK_TRY_VOID(source.read(0, std::span<char>(text.data(), text.size())));
  NEURONCHECK_TRY(const auto document, pt2::Document::parse(text, kDepth));
  NEURONCHECK_TRY(const simdjson::dom::object object, pt2::asObject(document.root(), "the index"));
  simdjson::dom::object weights;
  if (object["weight_map"].get(weights) != simdjson::SUCCESS) {
    return inputError("it has no 'weight_map'");
  }
  WeightMap map;
  for (const simdjson::dom::key_value_pair pair : weights) {
    NEURONCHECK_TRY(const std::string_view shard, pt2::asString(pair.value, "a shard's name"));
    map.emplace_back(std::string(pair.key), std::string(shard));
  }
  return map;
}

bool isPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace neuroncheck::scanner
