// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/hf_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/byte_source.h"
#include "scanner/archive/printable.h"
#include "scanner/archive/rooted_archive.h"
#include "scanner/checkpoint/folder_file.h"
#include "scanner/checkpoint/hf_config.h"
#include "scanner/checkpoint/safetensors.h"
#include "scanner/checkpoint/torch_save.h"
#include "scanner/safetensors/index.h"

namespace neuroncheck::scanner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTensors = 500'000;
constexpr std::size_t kMostFiles = 1000;

/// The index of a folder; empty where there is none.
Result<WeightMap> readIndex(const fs::path& path) {
  if (!isThere(path)) {
    return WeightMap();
  }
  auto source = openOwn(path);
  auto map = source ? readWeightMap(**source)
                    : Result<WeightMap>(tl::unexpected(std::move(source).error()));
  if (!map) {
    return tl::unexpected(std::move(map).error().within(path.filename().string()));
  }
  return map;
}

Result<Checkpoint> readWeights(const fs::path& path) {
  NEURONCHECK_TRY(std::unique_ptr<ByteSource> source, openOwn(path));
  if (path.extension() == ".safetensors") {
    return readSafetensors(*source);
  }
  NEURONCHECK_TRY(const std::string start, source->readUpTo(0, 4));
  if (start != "PK\x03\x04") {
    return readSavedStream(*source);
  }
  NEURONCHECK_TRY(ZipArchive zip, ZipArchive::open(std::move(source)));
  return readSavedZip(RootedArchive(std::move(zip)));
}

class FolderReader {
 public:
  FolderReader(fs::path folder, Checkpoint& checkpoint)
      : folder_(std::move(folder)), checkpoint_(checkpoint) {}

  Result<void> run() {
    for (const auto& [single, index] :
         {std::pair{"model.safetensors", "model.safetensors.index.json"},
          {"pytorch_model.bin", "pytorch_model.bin.index.json"}}) {
      NEURONCHECK_TRY(const WeightMap map, readIndex(folder_ / index));
      if (!map.empty()) {
        takeShards(map);
        return {};
      }
      if (isThere(folder_ / single)) {
        take(single, readWeights(folder_ / single));
        return {};
      }
    }
    takeOthers();
    return {};
  }

 private:
  /// Weight files that no index names, under whatever name: nothing of the folder is left out in
  /// silence.
  void takeOthers() {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.ends_with(".safetensors") ||
          (name.starts_with("pytorch_model") && name.ends_with(".bin"))) {
        names.insert(name);
      }
    }
    for (std::size_t read = 0; const std::string& name : names) {
      take(name, read++ < kMostFiles ? readWeights(folder_ / name)
                                     : Result<Checkpoint>(inputError("one file too many")));
    }
  }

  void takeShards(const WeightMap& map) {
    std::map<std::string, std::set<std::string>> promised;
    for (const auto& [tensor, shard] : map) {
      promised[shard].insert(tensor);
    }
    for (const auto& [shard, tensors] : promised) {
      auto read = isPlainName(shard)
                      ? readWeights(folder_ / shard)
                      : Result<Checkpoint>(inputError("the index names a file outside the folder"));
      std::set<std::string> missing = tensors;
      if (read) {
        for (const CheckpointTensor& tensor : read->tensors) {
          missing.erase(tensor.name);
        }
      }
      const std::string why =
          read ? fmt::format("the index has it in '{}', which does not", printable(shard, 120))
               : fmt::format("'{}': {}", printable(shard, 120), read.error().text());
      if (read) {
        take(shard, std::move(read));
      }
      for (const std::string& name : missing) {
        CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
        tensor.name = name;
        tensor.spec.hasShape = false;
        tensor.problem = why;
      }
    }
  }

  void take(const std::string& file, Result<Checkpoint> read) {
    if (read && checkpoint_.tensors.size() + read->tensors.size() > kMostTensors) {
      read = inputError(fmt::format("with it the folder has more than {} tensors", kMostTensors));
    }
    if (!read) {
      CheckpointTensor& tensor = checkpoint_.tensors.emplace_back();
      tensor.name = "(" + file + ")";
      tensor.spec.hasShape = false;
      tensor.problem = read.error().text();
      return;
    }
    std::ranges::move(read->tensors, std::back_inserter(checkpoint_.tensors));
    for (PickleGlobal& global : read->globals) {
      const bool known = std::ranges::any_of(checkpoint_.globals, [&](const PickleGlobal& listed) {
        return listed.name == global.name;
      });
      if (!known) {
        checkpoint_.globals.push_back(std::move(global));
      }
    }
    checkpoint_.metadata.insert(read->metadata.begin(), read->metadata.end());
  }

  fs::path folder_;
  Checkpoint& checkpoint_;
};

}  // namespace

Result<Checkpoint> readHfFolder(const std::string& folder) {
  Checkpoint checkpoint;
  checkpoint.top = "dict";
  NEURONCHECK_TRY(HfConfig config, readHfConfig(folder));
  checkpoint.metadata = std::move(config.texts);
  if (!config.architecture.empty()) {
    checkpoint.metadata["architecture"] = std::move(config.architecture);
  }
  NEURONCHECK_TRY_VOID(FolderReader(folder, checkpoint).run());
  std::ranges::sort(checkpoint.globals, {}, &PickleGlobal::name);
  return checkpoint;
}

}  // namespace neuroncheck::scanner
