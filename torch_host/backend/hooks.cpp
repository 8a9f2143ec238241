// SPDX-License-Identifier: Apache-2.0
#include "torch_host/backend/hooks.h"

namespace neuroncheck::backend {

Hooks& hooks() {
  static Hooks instance;
  return instance;
}

void markArrival() {
  if (hooks().arrived != nullptr) {
    hooks().arrived();
  }
}

PauseRecording::PauseRecording()
    : guard_(c10::DispatchKeySet(c10::DispatchKey::TESTING_ONLY_GenericMode)) {
  markArrival();
}

}  // namespace neuroncheck::backend
