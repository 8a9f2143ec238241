// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/run_record.h"

/// Small records made by hand, one for each thing a report must get right.
namespace neuroncheck::report::samples {

/// Everything native on evidence of the target release.
[[nodiscard]] RunRecord ready();
/// Native, but one operator on stale evidence of low confidence.
[[nodiscard]] RunRecord unconfirmed();
/// A release the database does not know: an older one answers, everything is stale; two operators
/// on the CPU.
[[nodiscard]] RunRecord unknownRelease();
/// One operator that raises, one on the CPU, one open, findings of each severity, many places.
[[nodiscard]] RunRecord blocked();
/// Open claims only: unknown, and one that depends on an argument.
[[nodiscard]] RunRecord open();
/// Names with control sequences, right-to-left marks, Markdown, HTML and broken UTF-8.
[[nodiscard]] RunRecord hostile();
/// Two models in one file.
[[nodiscard]] RunRecord twoModels();
/// All of the above as one run, with a damaged file and one of another kind.
[[nodiscard]] RunRecord portfolio();
/// A file that could not be read.
[[nodiscard]] RunRecord unreadable();

/// A run on the simulated device of a part of the plan, which was interrupted.
[[nodiscard]] RunRecord ran();

struct Named {
  const char* name;
  RunRecord record;
};
[[nodiscard]] std::vector<Named> all();

}  // namespace neuroncheck::report::samples
