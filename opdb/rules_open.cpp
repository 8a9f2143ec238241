// SPDX-License-Identifier: Apache-2.0
// Claims that stay open, listed so that they are not taken for passed.
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {

void runOpenClaims(RuleRun& run) {
  struct Open {
    std::int64_t count = 0;
    std::string reason;
    std::string where;
    std::string remedy;
  };
  std::map<std::tuple<std::string, Claim, std::string>, Open> open;
  for (const OpUse& use : run.model().uses) {
    const UseClaim* claim = run.claim(use);
    if (claim == nullptr || (claim->claim != Claim::Unknown && claim->claim != Claim::Depends)) {
      continue;
    }
    Open& entry = open[{use.op.str(), claim->claim, claim->decidedBy}];
    if (++entry.count == 1) {
      entry.reason = claim->reason;
      entry.where = whereText(use);
      entry.remedy = claim->remedy;
    }
  }
  for (const auto& [key, entry] : open) {
    const auto& [op, claim, argument] = key;
    // What to do about an operator that may be refused checks nothing.
    const bool checks = claim == Claim::Unknown && !entry.remedy.empty();
    run.notChecked(
        fmt::format("{} ({})", op, counted(entry.count, "use", "uses")),
        fmt::format("claim {}: {} First at {}.", name(claim), entry.reason, entry.where),
        !checks ? "import the vendor's operator table, probe the installed backend, or run the case"
                : entry.remedy);
  }
}

}  // namespace neuroncheck::opdb
