// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace neuroncheck::backend {

/// What the library built on this backend is told of; null for nothing.
struct Hooks {
  /// A call of the running thread has reached the backend.
  void (*arrived)() = nullptr;
  /// A caller waits for the device to finish; may raise what went wrong on it.
  void (*synchronize)() = nullptr;
};
Hooks& hooks();

/// Tells `Hooks::arrived`.
void markArrival();

/// While it lives, calls of this thread are not seen by a mode that watches them: what a CPU
/// kernel does inside is no device work. Marks the innermost call as arrived.
class PauseRecording {
 public:
  PauseRecording();

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

}  // namespace neuroncheck::backend
