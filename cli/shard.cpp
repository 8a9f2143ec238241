// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

namespace neuroncheck::cli {
namespace {

constexpr std::int64_t kMost = 65536;

std::optional<std::int64_t> integerOf(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

struct System {
  const char* name;
  const char* index;
  const char* count;
  const char* first;  ///< variable with the first index, null: 0
  const char* step;   ///< variable with the distance of indices, null: 1
};

constexpr std::array kSystems{
    System{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
           "SLURM_ARRAY_TASK_STEP"},
    System{"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", nullptr, nullptr},
    System{"Kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", nullptr, nullptr},
    System{"Bazel", "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", nullptr, nullptr}};

Result<Shard> checked(std::optional<std::int64_t> index, std::optional<std::int64_t> count,
                      std::string from, const std::string& words) {
  if (!index || !count || *count < 1 || *count > kMost || *index < 0 || *index >= *count) {
    return fail(ErrorCode::Usage,
                fmt::format("{}: no part of a whole (at most {} parts)", words, kMost));
  }
  return Shard{.index = static_cast<std::uint32_t>(*index),
               .count = static_cast<std::uint32_t>(*count),
               .from = std::move(from)};
}

Result<Shard> fromFlag(const std::string& flag) {
  const std::size_t slash = flag.find('/');
  const auto whole = slash == std::string::npos
                         ? std::nullopt
                         : integerOf(std::string_view(flag).substr(slash + 1));
  auto part = integerOf(std::string_view(flag).substr(0, slash));
  if (part) {
    --*part;
  }
  return checked(part, whole, "--shard",
                 fmt::format("--shard '{}': write i/n, the first of eight is 1/8", flag));
}

Result<Shard> fromSystem(const System& system, const ReadVariable& variable) {
  const auto index = variable(system.index);
  const auto count = variable(system.count);
  if (!index || !count) {
    return fail(
        ErrorCode::Usage,
        fmt::format("{} is set and {} is not: which part of the cases is to run? Set it, "
                    "or give --shard i/n (1/1 for all)",
                    index ? system.index : system.count, index ? system.count : system.index));
  }
  const auto also = [&](const char* name, std::int64_t otherwise) {
    const auto text = name == nullptr ? std::nullopt : variable(name);
    return text ? integerOf(*text) : std::optional(otherwise);
  };
  auto place = integerOf(*index);
  const auto first = also(system.first, 0);
  const auto step = also(system.step, 1);
  if (place && first && step && *step > 0 && (*place - *first) % *step == 0) {
    place = (*place - *first) / *step;
  } else {
    place = std::nullopt;
  }
  return checked(place, integerOf(*count), fmt::format("{}, {}", system.index, system.count),
                 fmt::format("{}={}, {}={}", system.index, *index, system.count, *count));
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index + 1, count); }

bool Shard::holds(std::uint64_t identity) const {
  // The upper half of the product is floor(identity * count / 2^64), which needs no 128 bits when
  // it is taken in two halves.
  const std::uint64_t low = (identity & 0xFFFFFFFFU) * count;
  const std::uint64_t high = (identity >> 32U) * count + (low >> 32U);
  return high >> 32U == index;
}

Result<std::optional<Shard>> shardOf(const std::string& flag, const ReadVariable& variable) {
  std::optional<Shard> out;
  if (!flag.empty()) {
    NEURONCHECK_TRY(out, fromFlag(flag));
  } else {
    const System* used = nullptr;
    for (const System& system : kSystems) {
      if (!variable(system.index) && !variable(system.count)) {
        continue;
      }
      if (used != nullptr) {
        return fail(ErrorCode::Usage,
                    fmt::format("the variables of {} and of {} are both set: give --shard i/n "
                                "(1/1 for all)",
                                used->name, system.name));
      }
      used = &system;
    }
    if (used != nullptr) {
      NEURONCHECK_TRY(out, fromSystem(*used, variable));
    }
  }
  return out && out->count > 1 ? out : std::nullopt;
}

std::optional<std::string> environmentVariable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace neuroncheck::cli
