// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/summary.h"

/// How many uses mean what for the device. A claim stays what the evidence says of the operator;
/// what a finding of severity error says of the use is counted beside it.
namespace neuroncheck::report {

/// Uses by what they mean for the device: work that is native or decomposed, on the CPU, refused,
/// open, and no work.
struct Tally {
  std::int64_t native = 0;
  std::int64_t fallback = 0;
  std::int64_t refused = 0;  ///< unsupported, or a view whose writes would be lost
  std::int64_t open = 0;     ///< unknown or depends
  std::int64_t noWork = 0;

  [[nodiscard]] std::int64_t all() const { return native + fallback + refused + open + noWork; }
};
/// By claim alone.
[[nodiscard]] Tally tallyOf(const std::map<Claim, std::int64_t>& counts);

/// The rules whose findings of severity error name the use, for each use of the model by its
/// position. Findings name nodes: of two graphs with equal nodes, operators and lines both count.
[[nodiscard]] std::vector<std::set<std::string>> refusingRules(const ModelView& view);
/// Of the uses by claim, those that such a finding names.
[[nodiscard]] Tally refusedByFindings(const ModelView& view);
/// By claim and findings: device work that a finding of severity error names counts as refused.
[[nodiscard]] Tally effectiveTally(const ModelView& view);

/// rankBlockers(), refusals and errors first, then what is not known, then what runs on the CPU.
[[nodiscard]] std::vector<Blocker> blockersByWorst(const RunRecord& record);
/// Those of `ranked` that stand in the way of this model, by what they are in it, worst first.
[[nodiscard]] std::vector<const Blocker*> blockersOf(const ModelView& view,
                                                     const std::vector<Blocker>& ranked);

}  // namespace neuroncheck::report
