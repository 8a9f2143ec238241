// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/run_record.h"

/// What a run on a device says, for every format.
namespace neuroncheck::report {

using OutcomeIndex = std::map<std::string_view, const Outcome*>;

/// The outcomes by case id. Points into the record.
[[nodiscard]] OutcomeIndex outcomesById(const RunRecord& record);
/// The three run-time answers about a use: those of its case, not-checked where none ran.
[[nodiscard]] RunAnswers answersOf(const UseClaim& use, const OutcomeIndex& outcomes);

/// The cases of each state, worst first, passes last.
[[nodiscard]] std::vector<std::pair<CaseState, std::vector<const Outcome*>>> groupedOutcomes(
    const RunRecord& record);
/// "12 of 14 distinct cases passed."
[[nodiscard]] std::string passedText(const RunRecord& record);
/// What a reader of a run must know first: that the device is simulated, that only a shard was run,
/// that cases were never ended. One sentence each.
[[nodiscard]] std::vector<std::string> runCautions(const RunRecord& record);
/// The comparison that made the state of a case; null when none did.
[[nodiscard]] const OutputOutcome* decidingOutput(const Outcome& outcome);
/// A line for a shell that runs this one case again as it ran here.
[[nodiscard]] std::string reproCommand(const RunRecord& record, const Outcome& outcome);

}  // namespace neuroncheck::report
