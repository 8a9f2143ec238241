// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/states.h"

namespace neuroncheck::conformance {

/// The state that an error of the device stands for, by what was thrown and what it says.
struct RaisedState {
  CaseState state = CaseState::RunError;
  std::string cause;
};
/// `kind` and `stage` are those of docs/worker-protocol.md. Words of compilers in the message make
/// a compile error, words about memory an out-of-memory; a case whose arguments cannot be made was
/// not run.
[[nodiscard]] RaisedState stateOfRaised(std::string_view kind, std::string_view stage,
                                        std::string_view message);

/// The state that the end of a process stands for: "signal 11 (Segmentation fault)", "exit code 7",
/// "no answer in 60 s". What it printed last tells a lack of memory.
struct Ended {
  CaseState state = CaseState::Crash;
  std::string cause;
};
[[nodiscard]] Ended stateOfEnding(std::string_view ending, std::string_view errors);

}  // namespace neuroncheck::conformance
