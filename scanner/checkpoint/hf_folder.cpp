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
#include "scanner/checkpoint/safetensors.h"
#include "scanner/checkpoint/torch_save.h"
#include "scanner/pt2/document.h"
#include "scanner/safetensors/index.h"

namespace neuroncheck::scanner {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxJson = std::uint64_t{64} << 20;
constexpr int kDepth = 64;

constexpr std::uint64_t kMostJsonMemory = std::uint64_t{128} << 20;
constexpr std::size_t kMostTensors = 500'000;
constexpr std::size_t kMostFiles = 1000;

/// A folder from elsewhere may hold links to any file of the reader: such a file is not of the
/// model. "" for a file of the folder, and for one of a Hugging Face cache, which keeps the files
/// of snapshots/<revision> as links into blobs.
std::string linkProblem(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) {
    return {};
  }
  const fs::path target = fs::canonical(path, error);
  if (error) {
    return fmt::format("'{}' is a link that leads nowhere: {}",
                       printable(path.filename().string(), 120), error.message());
  }
  const fs::path folder = fs::canonical(path.parent_path(), error);
  const fs::path snapshots = folder.parent_path();
  const bool blob = snapshots.filename() == "snapshots" &&
                    target.parent_path() == snapshots.parent_path() / "blobs";
  if (!error && (blob || target.parent_path() == folder)) {
    return {};
  }
  return fmt::format("'{}' is a link to a file outside the folder",
                     printable(path.filename().string(), 120));
}

bool isThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

Result<std::unique_ptr<ByteSource>> openOwn(const fs::path& path) {
  if (std::string problem = linkProblem(path); !problem.empty()) {
    return inputError(std::move(problem));
  }
  return openFile(path.string());
}

/// A JSON file of the folder; absent where there is none.
struct JsonFile {
  PaddedBytes bytes;
  std::optional<pt2::Document> document;
};

Result<std::unique_ptr<JsonFile>> readJson(const fs::path& path) {
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

/// The scalar members of config.json, as texts, and the first architecture.
Result<void> readConfig(const fs::path& folder, Checkpoint& checkpoint) {
  NEURONCHECK_TRY(const auto file, readJson(folder / "config.json"));
  if (!file->document) {
    return {};
  }
  NEURONCHECK_TRY(const simdjson::dom::object object,
                  pt2::asObject(file->document->root(), "config.json"));
  for (const simdjson::dom::key_value_pair pair : object) {
    simdjson::dom::array array;
    if (pair.key == "architectures" && pair.value.get(array) == simdjson::SUCCESS &&
        array.size() > 0) {
      NEURONCHECK_TRY(const std::string_view first,
                      pt2::asString(*array.begin(), "an architecture"));
      checkpoint.metadata["architecture"] = first;
    } else if (!pair.value.is_array() && !pair.value.is_object() && !pair.value.is_null()) {
      std::string_view text;
      checkpoint.metadata[std::string(pair.key)] =
          pair.value.get(text) == simdjson::SUCCESS ? std::string(text) : pt2::jsonText(pair.value);
    }
  }
  return {};
}

/// The index of a folder; empty where there is none.
Result<WeightMap> readIndex(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return WeightMap();
  }
  NEURONCHECK_TRY(const std::unique_ptr<ByteSource> source, openFile(path.string()));
  auto map = readWeightMap(*source);
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
  NEURONCHECK_TRY_VOID(readConfig(folder, checkpoint));
  NEURONCHECK_TRY_VOID(FolderReader(folder, checkpoint).run());
  std::ranges::sort(checkpoint.globals, {}, &PickleGlobal::name);
  return checkpoint;
}

}  // namespace neuroncheck::scanner
