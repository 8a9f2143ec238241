// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/hf_config.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "scanner/checkpoint/folder_file.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint64_t kMaxJson = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostJsonMemory = std::uint64_t{128} << 20;
constexpr int kDepth = 64;
constexpr std::size_t kMostNumbers = 4;

std::vector<std::int64_t> numbersOf(const simdjson::dom::element& value) {
  std::vector<std::int64_t> out;
  std::int64_t number = 0;
  simdjson::dom::array array;
  if (value.get(number) == simdjson::SUCCESS) {
    out.push_back(number);
  } else if (value.get(array) == simdjson::SUCCESS && array.size() <= kMostNumbers) {
    for (const simdjson::dom::element item : array) {
      if (item.get(number) != simdjson::SUCCESS) {
        return {};
      }
      out.push_back(number);
    }
  }
  return out;
}

void addNumbers(HfConfig& config, const std::string& prefix, const simdjson::dom::object& object) {
  for (const simdjson::dom::key_value_pair pair : object) {
    if (auto numbers = numbersOf(pair.value); !numbers.empty()) {
      config.numbers.insert_or_assign(prefix + std::string(pair.key), std::move(numbers));
    }
  }
}

}  // namespace

Result<std::unique_ptr<JsonFile>> readJsonFile(const std::filesystem::path& path) {
  auto file = std::make_unique<JsonFile>();
  if (!isThere(path)) {
    return file;
  }
  auto opened = openOwn(path);
  if (!opened) {
    return tl::unexpected(std::move(opened).error().within(path.filename().string()));
  }
  const std::unique_ptr<ByteSource> source = *std::move(opened);
  if (source->size() > kMaxJson) {
    return inputError(fmt::format("{} has {} bytes, more than a description of a model has",
                                  path.filename().string(), source->size()));
  }
  file->bytes = PaddedBytes(static_cast<std::size_t>(source->size()));
  NEURONCHECK_TRY_VOID(source->read(0, std::span<char>(file->bytes.data(), file->bytes.size())));
  NEURONCHECK_TRY_VOID(pt2::checkMemory(file->bytes.view(), kMostJsonMemory));
  auto document = pt2::Document::parse(file->bytes, kDepth);
  if (!document) {
    return tl::unexpected(std::move(document).error().within(path.filename().string()));
  }
  file->document.emplace(*std::move(document));
  return file;
}

std::string HfConfig::text(const std::string& key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

std::vector<std::int64_t> HfConfig::number(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (const auto found = numbers.find(std::string(key)); found != numbers.end()) {
      return found->second;
    }
  }
  return {};
}

Result<HfConfig> readHfConfig(const std::filesystem::path& folder) {
  HfConfig config;
  NEURONCHECK_TRY(const auto file, readJsonFile(folder / "config.json"));
  if (!file->document) {
    return config;
  }
  NEURONCHECK_TRY(const simdjson::dom::object object,
                  pt2::asObject(file->document->root(), "config.json"));
  addNumbers(config, "", object);
  for (const simdjson::dom::key_value_pair pair : object) {
    simdjson::dom::array array;
    simdjson::dom::object inner;
    if (pair.key == "architectures" && pair.value.get(array) == simdjson::SUCCESS &&
        array.size() > 0) {
      NEURONCHECK_TRY(const std::string_view first,
                      pt2::asString(*array.begin(), "an architecture"));
      config.architecture = first;
    } else if (pair.value.get(inner) == simdjson::SUCCESS) {
      config.ownCode = config.ownCode || (pair.key == "auto_map" && inner.size() > 0);
      if (pair.key.ends_with("_config")) {
        addNumbers(config, std::string(pair.key) + ".", inner);
      }
    } else if (!pair.value.is_array() && !pair.value.is_null()) {
      std::string_view text;
      config.texts[std::string(pair.key)] =
          pair.value.get(text) == simdjson::SUCCESS ? std::string(text) : pt2::jsonText(pair.value);
    }
  }
  return config;
}

}  // namespace neuroncheck::scanner
