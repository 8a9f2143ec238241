// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/safetensors/index.h"
#include "tensor_io/readers.h"

namespace neuroncheck::tensor_io {
namespace {

namespace fs = std::filesystem;
using scanner::printable;

constexpr std::string_view kIndex = "model.safetensors.index.json";

/// Where a tensor is: which shard, and under which name there (the same).
struct Shards {
  std::vector<std::unique_ptr<TensorFile>> files;
  std::vector<std::string> names;
  std::vector<std::size_t> holders;
  std::map<std::string, std::string> metadata;
};

class ShardsFile final : public TensorFile {
 public:
  ShardsFile(std::string label, Shards shards)
      : TensorFile(TensorFileKind::Shards, std::move(label), std::move(shards.names),
                   std::move(shards.metadata)),
        files_(std::move(shards.files)),
        holders_(std::move(shards.holders)) {}

 private:
  [[nodiscard]] Result<TensorHead> headAt(std::size_t index) const override {
    return files_[holders_[index]]->head(names()[index]);
  }
  [[nodiscard]] Result<TensorEntry> entryAt(std::size_t index) const override {
    return files_[holders_[index]]->entry(names()[index]);
  }

  std::vector<std::unique_ptr<TensorFile>> files_;
  std::vector<std::size_t> holders_;
};

/// Opens one shard and adds what it holds.
Result<void> addShard(const fs::path& folder, const std::string& name, const OpenOptions& options,
                      Shards& shards) {
  const auto body = [&]() -> Result<void> {
    const std::string path = (folder / name).string();
    NEURONCHECK_TRY(FileContent content, FileContent::open(path));
    NEURONCHECK_TRY(auto file, openSafetensors(std::move(content), path, options));
    for (const std::string& tensor : file->names()) {
      shards.names.push_back(tensor);
      shards.holders.push_back(shards.files.size());
    }
    shards.metadata.insert(file->metadata().begin(), file->metadata().end());
    shards.files.push_back(std::move(file));
    return {};
  };
  return body().map_error(
      [&](Error error) { return std::move(error).within(printable(name, 120)); });
}

Opened finish(std::string label, Shards shards) {
  NEURONCHECK_TRY_VOID(checkUnique(shards.names));
  return std::make_unique<ShardsFile>(std::move(label), std::move(shards));
}

/// The shards an index names, in the order in which it first names them.
std::vector<std::string> shardsOf(const scanner::WeightMap& map) {
  std::vector<std::string> out;
  std::unordered_map<std::string_view, bool> seen;
  for (const auto& [tensor, shard] : map) {
    if (seen.emplace(shard, true).second) {
      out.push_back(shard);
    }
  }
  return out;
}

}  // namespace

Opened openIndex(const FileContent& content, const std::string& path, const OpenOptions& options) {
  NEURONCHECK_TRY(const scanner::WeightMap map, scanner::readWeightMap(*content.source()));
  const fs::path folder = fs::path(path).parent_path();
  Shards shards;
  for (const std::string& shard : shardsOf(map)) {
    if (!scanner::isPlainName(shard)) {
      return inputError(
          fmt::format("the index names a file outside its folder: '{}'", printable(shard, 120)));
    }
    NEURONCHECK_TRY_VOID(addShard(folder, shard, options, shards));
  }
  NEURONCHECK_TRY(auto file, finish(path, std::move(shards)));
  std::vector<std::string> promised;
  promised.reserve(map.size());
  for (const auto& [tensor, shard] : map) {
    if (!file->has(tensor)) {
      return inputError(fmt::format("the index has tensor '{}' in '{}', which does not",
                                    printable(tensor, 120), printable(shard, 120)));
    }
    promised.push_back(tensor);
  }
  NEURONCHECK_TRY_VOID(checkUnique(promised));
  return file;
}

Opened openFolder(const std::string& path, const OpenOptions& options) {
  const fs::path folder(path);
  std::error_code error;
  if (fs::is_regular_file(folder / kIndex, error)) {
    NEURONCHECK_TRY(const FileContent index, FileContent::open((folder / kIndex).string()));
    return within(openIndex(index, (folder / kIndex).string(), options), std::string(kIndex));
  }
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".safetensors") {
      names.push_back(entry->path().filename().string());
    }
  }
  if (error) {
    return inputError(fmt::format("the folder cannot be listed: {}", error.message()));
  }
  if (names.empty()) {
    return inputError("the folder holds no safetensors files");
  }
  std::ranges::sort(names);
  Shards shards;
  for (const std::string& name : names) {
    NEURONCHECK_TRY_VOID(addShard(folder, name, options, shards));
  }
  return finish(path, std::move(shards));
}

}  // namespace neuroncheck::tensor_io
