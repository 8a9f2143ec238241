// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/case_spec.h"
#include "core/outcome.h"
#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::conformance {

/// One distinct case, and what asks for it.
struct PlannedCase {
  CaseSpec spec;
  std::string text;       ///< spec.str()
  std::string id;         ///< spec.id()
  std::int64_t uses = 0;  ///< in models; 0 for one from a file
  std::vector<std::string> models;
};

/// What is run, and what cannot be.
struct Plan {
  std::vector<PlannedCase> cases;  ///< distinct, in the order they were met
  std::vector<NotChecked> notChecked;
};

/// A case as it stands before it ran: not-run.
[[nodiscard]] Outcome outcomeOf(const PlannedCase& planned);

/// The distinct cases of all models of a run: one for every kind of use that reaches the device.
/// Uses without a case (symbolic sizes, unknown shapes) are listed in notChecked by operator.
[[nodiscard]] Plan planOf(const RunRecord& record);

/// Cases from the text of a case file: one a line, blank lines and lines that begin with '#' left
/// out. Input error with the line's number.
[[nodiscard]] Result<Plan> planOfText(std::string_view text);

}  // namespace neuroncheck::conformance
