// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "scanner/pt2/document.h"

namespace neuroncheck::scanner {

/// A JSON file of a folder; `document` is absent where there is no file.
struct JsonFile {
  PaddedBytes bytes;
  std::optional<pt2::Document> document;
};
/// Errors name the file. One of more than 64 MB is none that describes a model.
[[nodiscard]] Result<std::unique_ptr<JsonFile>> readJsonFile(const std::filesystem::path& path);

/// What config.json of a Hugging Face folder says of the model; empty where there is no such file.
struct HfConfig {
  std::string architecture;  ///< the first of "architectures"
  bool ownCode = false;      ///< "auto_map": its class is code of the folder, not of transformers
  std::map<std::string, std::string> texts;  ///< scalar members as text
  /// Whole numbers, and lists of them. Members of "text_config" and its like have its name and a
  /// point before theirs.
  std::map<std::string, std::vector<std::int64_t>> numbers;

  [[nodiscard]] std::string text(const std::string& key) const;
  /// The first of these keys that has one number or more.
  [[nodiscard]] std::vector<std::int64_t> number(
      std::initializer_list<std::string_view> keys) const;
};

/// Fails with Input when config.json is no JSON object.
[[nodiscard]] Result<HfConfig> readHfConfig(const std::filesystem::path& folder);

}  // namespace neuroncheck::scanner
