// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/result.h"

namespace neuroncheck::cli {

/// One part of a plan: the cases whose identity lies in the index-th of `count` equal ranges.
struct Shard {
  std::uint32_t index = 0;  ///< from 0
  std::uint32_t count = 1;
  std::string from;  ///< "--shard" or the variables that say so
  /// "2/8", counted from 1 as --shard takes it.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool holds(std::uint64_t identity) const;
};

/// Reads a variable of the environment; nullopt when it is not set.
using ReadVariable = std::function<std::optional<std::string>(const char* name)>;

/// The shard of --shard i/n, else that of the array job this process is a task of: Slurm, AWS
/// Batch, Kubernetes (indexed jobs, with JOB_COMPLETIONS set by the user) or Bazel. nullopt for
/// neither, and for 1/1. Usage error for a shard that cannot be, for variables of which one is
/// missing, and for those of two systems at once.
[[nodiscard]] Result<std::optional<Shard>> shardOf(const std::string& flag,
                                                   const ReadVariable& variable);

/// The variables of this process.
[[nodiscard]] std::optional<std::string> environmentVariable(const char* name);

}  // namespace neuroncheck::cli
