// SPDX-License-Identifier: Apache-2.0
// The tar of torch.save before 0.1.10 (2017): torch/serialization.py, legacy_load.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"
#include "scanner/archive/zip_directory.h"
#include "scanner/checkpoint/collect.h"
#include "scanner/checkpoint/globals.h"
#include "scanner/checkpoint/pickle_stream.h"
#include "scanner/checkpoint/torch_save.h"

namespace neuroncheck::scanner {
namespace {

constexpr std::uint64_t kBlock = 512;

struct Member {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

/// Octal digits, as tar writes numbers; nullopt for anything else.
std::optional<std::uint64_t> octal(std::string_view digits) {
  std::uint64_t value = 0;
  bool any = false;
  for (const char c : digits) {
    if (c == '\0' || c == ' ') {
      break;
    }
    if (c < '0' || c > '7' || value >> 60U != 0) {
      return std::nullopt;
    }
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
    any = true;
  }
  return any ? std::optional(value) : std::nullopt;
}

/// Links, and headers that give the next member another name than its own: an unpacker would read
/// something else than what is read here.
Result<void> checkType(char type, std::string_view name) {
  constexpr std::string_view kLinks = "12";
  constexpr std::string_view kExtended = "xgLKXS";
  if (kLinks.find(type) != std::string_view::npos) {
    return inputError(fmt::format("the tar member '{}' is a link", printable(name)));
  }
  if (kExtended.find(type) != std::string_view::npos) {
    return inputError("the tar has extended headers, which rename its members");
  }
  return {};
}

/// The members by name; of several with one name the last, as Python's tarfile has it. Only headers
/// are read.
Result<std::map<std::string, Member>> membersOf(const ByteSource& source) {
  constexpr int kMostMembers = 4096;
  std::map<std::string, Member> members;
  std::uint64_t offset = 0;
  for (int i = 0; i < kMostMembers && offset + kBlock <= source.size(); ++i) {
    NEURONCHECK_TRY(const std::string header, source.readUpTo(offset, kBlock));
    if (header.size() < kBlock || header.starts_with('\0')) {
      break;  // two zero blocks end the archive
    }
    const auto size = octal(std::string_view(header).substr(124, 12));
    if (!size || *size > source.size() - offset - kBlock) {
      return inputError(
          fmt::format("the tar header at byte {} has no size that fits the file", offset));
    }
    std::string name = header.substr(0, std::min<std::size_t>(header.find('\0'), 100));
    name.erase(0, name.starts_with("./") ? 2 : 0);
    NEURONCHECK_TRY_VOID(checkType(header[156], name));
    members.insert_or_assign(name, Member{.begin = offset + kBlock, .size = *size});
    offset += kBlock + (*size + kBlock - 1) / kBlock * kBlock;
  }
  return members;
}

class TarReader {
 public:
  TarReader(const ByteSource& source, const CheckpointLimits& limits)
      : source_(source), limits_(limits) {
    // Three members are read: each gets its part.
    limits_.maxPickleBytes = std::min(limits_.maxPickleBytes, kMostBytes);
    limits_.maxMemory /= 3;
  }

  Result<Checkpoint> run() {
    NEURONCHECK_TRY(members_, membersOf(source_));
    NEURONCHECK_TRY_VOID(readStorages());
    NEURONCHECK_TRY_VOID(readTensors());
    NEURONCHECK_TRY_VOID(readSystem());
    NEURONCHECK_TRY(PickleStream stream, open("pickle"));
    std::string text;
    NEURONCHECK_TRY(const pickle::Pickle object, stream.next(text));
    const StorageSize sizeOf = [this](const std::string& key) -> std::optional<std::int64_t> {
      const auto found = held_.find(key);
      return found == held_.end() ? -1 : found->second;
    };
    NEURONCHECK_TRY(Checkpoint checkpoint, collect(object, sizeOf, tensors_,
                                                   static_cast<std::size_t>(stream.memoryLeft())));
    addGlobals(checkpoint, globals_);
    return checkpoint;
  }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  static constexpr std::uint64_t kMostDimensions = 1'000'000;

  /// What the machine was like: nothing is needed of it, but loading runs it.
  Result<void> readSystem() {
    if (members_.contains("sys_info")) {
      NEURONCHECK_TRY(PickleStream stream, open("sys_info"));
      std::string text;
      NEURONCHECK_TRY([[maybe_unused]] const pickle::Pickle system, stream.next(text));
      globals_.insert(stream.globals().begin(), stream.globals().end());
    }
    return {};
  }

  Result<PickleStream> open(const std::string& name) {
    const auto found = members_.find(name);
    if (found == members_.end()) {
      return inputError(fmt::format("the tar has no member '{}'", name));
    }
    const Member& member = found->second;
    return PickleStream(source_, member.begin, member.begin + member.size, limits_);
  }

  /// A count, then for each: a pickled (key, location, class), the number of elements, the bytes.
  Result<void> readStorages() {
    NEURONCHECK_TRY(PickleStream stream, open("storages"));
    NEURONCHECK_TRY(const std::int64_t count, countOf(stream));
    for (std::int64_t i = 0; i < count; ++i) {
      std::string text;
      NEURONCHECK_TRY(const pickle::Pickle entry, stream.next(text));
      const std::vector<pickle::Index>& parts = entry.at(entry.root).items;
      // Unknown stands for "none": the optional itself confuses g++ 12's check for uninitialised
      // reads.
      const DType dtype =
          parts.size() == 3
              ? pickle::dtypeOfStorageClass(entry.nameOf(parts[2])).value_or(DType::Unknown)
              : DType::Unknown;
      NEURONCHECK_TRY(const std::string head, stream.take(8));
      if (dtype == DType::Unknown || head.size() < 8) {
        return inputError(fmt::format("storage {} of the tar is described in an unknown way", i));
      }
      const std::string key = std::to_string(entry.at(parts[0]).number);
      const auto elements = static_cast<std::int64_t>(le64(head, 0));
      storages_[key] = {.key = key,
                        .location = std::string(entry.at(parts[1]).text),
                        .dtype = dtype,
                        .count = elements};
      std::int64_t bytes = 0;
      if (elements < 0 || __builtin_mul_overflow(elements, itemSize(dtype), &bytes)) {
        return inputError(fmt::format("storage {} of the tar claims {} elements", i, elements));
      }
      held_[key] = std::min(bytes, static_cast<std::int64_t>(stream.left()));
      if (!stream.skip(static_cast<std::uint64_t>(bytes))) {
        break;
      }
    }
    globals_.insert(stream.globals().begin(), stream.globals().end());
    return {};
  }

  /// A count, then for each: a pickled (key, storage key, class), the rank twice four bytes, sizes,
  /// strides and the offset, eight bytes each.
  Result<void> readTensors() {
    constexpr std::uint64_t kMaxRank = 1024;
    NEURONCHECK_TRY(PickleStream stream, open("tensors"));
    NEURONCHECK_TRY(const std::int64_t count, countOf(stream));
    for (std::int64_t i = 0; i < count; ++i) {
      std::string text;
      NEURONCHECK_TRY(const pickle::Pickle entry, stream.next(text));
      const std::vector<pickle::Index>& parts = entry.at(entry.root).items;
      NEURONCHECK_TRY(const std::string head, stream.take(8));
      const std::uint64_t rank = head.size() < 8 ? kMaxRank + 1 : le64(head, 0) & 0xFFFFFFFFU;
      if (parts.size() != 3 || rank > kMaxRank) {
        return inputError(fmt::format("tensor {} of the tar is described in an unknown way", i));
      }
      NEURONCHECK_TRY(const std::string numbers, stream.take(16 * rank + 8));
      if (numbers.size() < 16 * rank + 8) {
        return inputError(fmt::format("tensor {} of the tar is cut short", i));
      }
      dimensions_ += rank;
      if (dimensions_ > kMostDimensions) {
        return inputError("the tensors of the tar have too many dimensions to be true");
      }
      pickle::SavedTensor tensor;
      const auto storage = storages_.find(std::to_string(entry.at(parts[1]).number));
      if (storage != storages_.end()) {
        tensor.storage = storage->second;
        tensor.spec.dtype = storage->second.dtype;
        tensor.spec.device.type = storage->second.location;
      }
      for (std::uint64_t d = 0; d < rank; ++d) {
        tensor.spec.sizes.emplace_back(static_cast<std::int64_t>(le64(numbers, 8 * d)));
        tensor.spec.strides.emplace_back(static_cast<std::int64_t>(le64(numbers, 8 * (rank + d))));
      }
      tensor.spec.storageOffset = SymInt(static_cast<std::int64_t>(le64(numbers, 16 * rank)));
      tensors_[std::to_string(entry.at(parts[0]).number)] = std::move(tensor);
    }
    globals_.insert(stream.globals().begin(), stream.globals().end());
    return {};
  }

  static Result<std::int64_t> countOf(PickleStream& stream) {
    std::string text;
    NEURONCHECK_TRY(const pickle::Pickle count, stream.next(text));
    const pickle::Value& value = count.at(count.root);
    if (value.kind != pickle::Kind::Int || value.number < 0) {
      return inputError("a member of the tar does not start with a count");
    }
    return value.number;
  }

  const ByteSource& source_;
  CheckpointLimits limits_;
  std::map<std::string, Member> members_;
  std::map<std::string, pickle::StorageRef> storages_;
  std::map<std::string, std::int64_t> held_;
  TensorsById tensors_;
  std::uint64_t dimensions_ = 0;
  std::set<std::string> globals_;
};

}  // namespace

Result<Checkpoint> readSavedTar(const ByteSource& source, const CheckpointLimits& limits) {
  return TarReader(source, limits).run();
}

}  // namespace neuroncheck::scanner
