// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "numerics/tests/mutation/subject.h"

namespace neuroncheck::numerics::testing {

/// Holds the text of one section of docs/numerics-evidence.md against what a test measured.
/// With NEURONCHECK_UPDATE_EVIDENCE=1 the section is rewritten instead.
void expectEvidence(std::string_view section, const std::string& text);

/// Totals of a table, and the table itself.
[[nodiscard]] std::string summaryText(std::span<const Outcome> faults,
                                      std::span<const Outcome> legal);
[[nodiscard]] std::string tableText(std::span<const Outcome> faults);

/// What must hold of every table: legal results pass, at most 5 % of the faults are missed, and
/// those lie below the noise floor.
void expectLegalPass(std::span<const Outcome> legal);
void expectCaught(std::span<const Outcome> faults);

}  // namespace neuroncheck::numerics::testing
