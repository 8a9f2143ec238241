// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/run_record.h"

namespace neuroncheck {

/// A case whose result differs between two runs.
struct CaseDelta {
  std::string id, text;
  CaseState before = CaseState::Missing;  ///< Missing: only the second run has it
  CaseState after = CaseState::Missing;   ///< Missing: only the first run has it
  std::vector<std::string> why;           ///< what else differs: "error: ...", "tolerance: ..."
};

/// What changed between two runs on devices.
struct RunDiff {
  std::vector<CaseDelta> changed;  ///< another state
  std::vector<CaseDelta> drifted;  ///< the same state, other numbers, words or evidence
  std::vector<CaseDelta> gone, added;
  std::size_t same = 0;
  std::vector<std::string> unlike;  ///< devices, targets, seeds, environments: "torch: a, b"
  [[nodiscard]] bool nothingChanged() const {
    return changed.empty() && gone.empty() && added.empty();
  }
};

/// Compares the outcomes of two runs by case id, in the order of the first, then of the second.
[[nodiscard]] RunDiff diffRuns(const RunRecord& before, const RunRecord& after);

}  // namespace neuroncheck
