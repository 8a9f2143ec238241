// SPDX-License-Identifier: Apache-2.0
#include "numerics/minimise/minimise_case.h"

#include <unordered_set>

namespace neuroncheck::numerics {

MinimisedCase minimiseCase(const CaseSpec& spec,
                           const std::function<bool(const CaseSpec&)>& interesting,
                           const MinimiseBudget& budget) {
  BudgetedTest test(budget);
  MinimisedCase result{spec, {}, 0, false};
  std::unordered_set<std::uint64_t> seen{spec.identity()};
  const auto holds = [&](const CaseSpec& candidate) {
    return test.holds([&] { return interesting(candidate); });
  };
  if (!holds(spec)) {
    result.tests = test.used();
    return result;
  }
  bool changed = true;
  while (changed && !test.spent()) {
    changed = false;
    for (const CaseStage& stage : caseStages()) {
      bool again = true;
      while (again && !test.spent()) {
        again = false;
        for (const CaseSpec& candidate : stage.candidates(result.spec)) {
          if (!seen.insert(candidate.identity()).second || !holds(candidate)) {
            continue;
          }
          result.spec = candidate;
          result.trail.push_back({stage.name, candidate.str()});
          again = changed = true;
          break;
        }
      }
    }
  }
  result.complete = !test.spent();
  result.tests = test.used();
  return result;
}

}  // namespace neuroncheck::numerics
