// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/inventory.h"

namespace neuroncheck {

/// What dispatching one case on a recording backend showed. Exactly one of three holds: it raised
/// (`raised`), it is not known (`notTraced`), or `arrivals` is all that reached the backend.
struct TracedCase {
  std::vector<OpUse> arrivals;  ///< calls that reached the backend, in order, views among them
  std::string raised;           ///< torch's message; the same call does not raise on the CPU
  std::string raisedAt;         ///< innermost operator that raised
  std::string notTraced;        ///< why nothing is known
};

/// The trace of one model: which case each use is, and what each case showed.
struct ModelTrace {
  std::vector<std::string> cases;   ///< distinct case texts (docs/case-grammar.md)
  std::vector<TracedCase> results;  ///< one for each case; empty until they were dispatched
  std::vector<std::optional<std::size_t>> caseOfUse;  ///< by OpUse::id; nullopt: it has no case
  std::vector<std::string> whyNoCase;                 ///< by OpUse::id; empty where there is a case
  std::string sizes;  ///< values that symbolic sizes were given ("s77 = 4"); empty when none

  [[nodiscard]] const TracedCase* of(std::uint32_t use) const {
    const auto index = use < caseOfUse.size() ? caseOfUse[use] : std::nullopt;
    return index && *index < results.size() ? &results[*index] : nullptr;
  }
};

}  // namespace neuroncheck
