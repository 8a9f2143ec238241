// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_host/sandbox/sandbox.h"

namespace neuroncheck::sandbox {

/// Bounds of one isolated piece of work.
struct Bounds {
  std::chrono::seconds cpu{60};
  std::chrono::seconds wall{120};  ///< until its output, or from one message to the next
  std::uint64_t memory = std::uint64_t{4} << 30;  ///< address space beyond what is mapped already
  /// What it has of that until it asks for all (TakeMemory); 0 means all from the start.
  std::uint64_t memoryAtFirst = 0;
  bool allowExecutableMemory = false;
  std::vector<int> keepOpen{};  ///< descriptors the work reads from
  /// False for work that is the user's own and needs the machine (a device): a process of its own
  /// with the bounds of time and, where it is not 0, of memory.
  bool sandboxed = true;
  /// Keep what the work prints on standard error (Isolated::errorTail) instead of passing it on.
  bool keepErrors = false;
};

/// How it went. `output` is what the work returned; absent when it did not come to its end, and
/// `ending` then says why: "signal 11 (Segmentation fault)", "no answer in 120 s", ...
struct Isolated {
  std::optional<std::string> output;
  std::string ending;
  SandboxState state;
  std::vector<Attempt> attempts;  ///< what it was refused, the first 32
  std::uint32_t attemptCount = 0;
  std::string errorTail;  ///< the end of what it printed, where bounds.keepErrors asks for it
};

/// Runs `work` in a forked child of this process, sandboxed and bounded, and returns what it
/// returned. The caller must be single-threaded. An exception that leaves the work ends the child.
[[nodiscard]] Isolated runIsolated(const std::function<std::string()>& work, const Bounds& bounds);

/// Asks the parent for the rest of bounds.memory, and waits for it. The child cannot take it
/// itself: code it was made to run stays within bounds.memoryAtFirst.
using TakeMemory = std::function<void()>;

/// The same for work in two parts, of which the first is not to be trusted with all the memory.
[[nodiscard]] Isolated runIsolated(const std::function<std::string(const TakeMemory&)>& work,
                                   const Bounds& bounds);

/// Hands one message to the parent; false when the parent is gone.
using Send = std::function<bool(std::string_view)>;

/// The same for work that gives messages while it goes on, which `received` gets in order. `output`
/// stays absent; `ending` is empty exactly when the work came to its end.
[[nodiscard]] Isolated runIsolated(const std::function<void(const Send&)>& work,
                                   const std::function<void(std::string)>& received,
                                   const Bounds& bounds);

}  // namespace neuroncheck::sandbox
