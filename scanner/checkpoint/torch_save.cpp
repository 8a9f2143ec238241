// SPDX-License-Identifier: Apache-2.0
#include "scanner/checkpoint/torch_save.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/zip_directory.h"
#include "scanner/checkpoint/collect.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/checkpoint/pickle_stream.h"
#include "scanner/checkpoint/record_pickles.h"
#include "scanner/pickle/machine.h"
#include "scanner/pickle/saved_tensor.h"

namespace neuroncheck::scanner {
namespace {

/// The number that starts a legacy file, 0x1950a86a20f9469cfc6c, as LONG1 holds it.
constexpr std::string_view kLegacyMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

/// Element size of each storage that the object refers to, by key.
std::map<std::string, std::int64_t> itemSizes(const pickle::Pickle& object) {
  std::map<std::string, std::int64_t> sizes;
  for (pickle::Index i = 0; i < object.values.size(); ++i) {
    if (object.at(i).kind != pickle::Kind::Persistent) {
      continue;
    }
    if (const auto storage = pickle::readStorage(object, i)) {
      sizes[storage->key] = storage->dtype == DType::Unknown
                                ? 1
                                : std::max<std::int64_t>(itemSize(storage->dtype), 1);
    }
  }
  return sizes;
}

/// Bytes of each storage behind the pickles; of one the file is too short for, what is there.
Result<std::map<std::string, std::int64_t>> storageSizes(
    PickleStream& stream, const pickle::Pickle& keys,
    const std::map<std::string, std::int64_t>& items) {
  std::map<std::string, std::int64_t> sizes;
  for (const pickle::Index index : keys.at(keys.root).items) {
    const std::string key(keys.at(index).text);
    NEURONCHECK_TRY(const std::string head, stream.take(8));
    const auto item = items.find(key);
    const std::uint64_t unit = static_cast<std::uint64_t>(item == items.end() ? 1 : item->second);
    std::uint64_t bytes = 0;
    if (head.size() < 8 || __builtin_mul_overflow(le64(head, 0), unit, &bytes)) {
      break;  // this storage and all behind it are missing
    }
    sizes[key] = static_cast<std::int64_t>(std::min(bytes, stream.left()));
    if (!stream.skip(bytes)) {
      break;
    }
  }
  return sizes;
}

bool isMagic(const pickle::Pickle& first) {
  const pickle::Value& value = first.at(first.root);
  return value.kind == pickle::Kind::BigInt && value.text == kLegacyMagic;
}

}  // namespace

std::uint64_t CheckpointLimits::memoryFor(std::uint64_t bytes) const {
  constexpr std::uint64_t kPerByte = 16;
  constexpr std::uint64_t kMost = std::uint64_t{512} << 20;
  return std::max(maxMemory, bytes < kMost / kPerByte ? kPerByte * bytes : kMost);
}

Result<Checkpoint> readSavedZip(const RootedArchive& archive, const CheckpointLimits& limits) {
  NEURONCHECK_TRY_VOID(checkFileVersion(archive));
  const auto record = archive.find("data.pkl");
  if (!record) {
    return inputError("the archive has no record data.pkl");
  }
  auto bytes = archive.zip().read(*record, limits.maxPickleBytes);
  if (!bytes) {
    return tl::unexpected(std::move(bytes).error().within("record data.pkl"));
  }
  const std::uint64_t text = bytes->bytes.size();
  const std::uint64_t memory = limits.memoryFor(archive.zip().entries()[*record].compressedSize);
  auto object =
      pickle::readPickle(bytes->bytes.view(),
                         {.maxMemory = static_cast<std::size_t>(memory - std::min(memory, text))});
  if (!object) {
    return tl::unexpected(std::move(object).error().within("record data.pkl"));
  }
  const StorageSize sizeOf = [&archive](const std::string& key) -> std::optional<std::int64_t> {
    const auto found = archive.find("data/" + key);
    return found ? static_cast<std::int64_t>(archive.zip().entries()[*found].size) : -1;
  };
  NEURONCHECK_TRY(
      Checkpoint checkpoint,
      collect(*object, sizeOf, {},
              static_cast<std::size_t>(memory - std::min(memory, text + object->memory))));
  // Which of several records of that name torch reads depends on its version.
  RecordPickles others(archive);
  for (std::size_t i = 0; i < archive.count(); ++i) {
    if (i != *record && archive.name(i) == "data.pkl") {
      others.look(i);
    }
  }
  addGlobals(checkpoint, others.names());
  return checkpoint;
}

Result<Checkpoint> readSavedStream(const ByteSource& source, const CheckpointLimits& limits) {
  PickleStream stream(source, 0, source.size(), limits);
  std::string firstText;
  NEURONCHECK_TRY(const pickle::Pickle first, stream.next(firstText));
  if (!isMagic(first)) {
    return collect(
        first, [](const std::string&) { return std::optional<std::int64_t>(); }, {},
        static_cast<std::size_t>(stream.memoryLeft()));
  }
  std::string text;
  NEURONCHECK_TRY([[maybe_unused]] const pickle::Pickle protocol, stream.next(text));
  NEURONCHECK_TRY([[maybe_unused]] const pickle::Pickle machine, stream.next(text));
  std::string objectText;
  NEURONCHECK_TRY(const pickle::Pickle object, stream.next(objectText));
  std::string keysText;
  NEURONCHECK_TRY(const pickle::Pickle keys, stream.next(keysText));
  NEURONCHECK_TRY(const auto sizes, storageSizes(stream, keys, itemSizes(object)));
  const StorageSize sizeOf = [&sizes](const std::string& key) -> std::optional<std::int64_t> {
    const auto found = sizes.find(key);
    return found == sizes.end() ? -1 : found->second;
  };
  NEURONCHECK_TRY(Checkpoint checkpoint,
                  collect(object, sizeOf, {}, static_cast<std::size_t>(stream.memoryLeft())));
  addGlobals(checkpoint, stream.globals());
  return checkpoint;
}

}  // namespace neuroncheck::scanner
