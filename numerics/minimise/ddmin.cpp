// SPDX-License-Identifier: Apache-2.0
#include "numerics/minimise/ddmin.h"

#include <algorithm>
#include <numeric>

namespace neuroncheck::numerics {

bool BudgetedTest::spent() const {
  return used_ >= budget_.tests || (budget_.expired && budget_.expired());
}

bool BudgetedTest::holds(const std::function<bool()>& test) {
  for (int i = 0; i < budget_.repetitions; ++i) {
    if (spent()) {
      return false;
    }
    ++used_;
    if (!test()) {
      return false;
    }
  }
  return budget_.repetitions > 0;
}

std::vector<std::size_t> ddmin(
    std::size_t count, const std::function<bool(const std::vector<std::size_t>&)>& interesting,
    BudgetedTest& budget) {
  std::vector<std::size_t> kept(count);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const auto holds = [&](const std::vector<std::size_t>& set) {
    return budget.holds([&] { return interesting(set); });
  };
  if (count > 0 && holds({})) {
    return {};
  }
  std::size_t parts = 2;
  while (kept.size() >= 2 && !budget.spent()) {
    bool smaller = false;
    const auto chunk = [&](std::size_t i) { return i * kept.size() / parts; };
    // One part alone, then all but one part.
    for (const bool alone : {true, false}) {
      for (std::size_t i = 0; i < parts && !smaller; ++i) {
        const auto from = kept.begin() + static_cast<std::ptrdiff_t>(chunk(i));
        const auto to = kept.begin() + static_cast<std::ptrdiff_t>(chunk(i + 1));
        std::vector<std::size_t> candidate;
        if (alone) {
          candidate.assign(from, to);
        } else {
          candidate.assign(kept.begin(), from);
          candidate.insert(candidate.end(), to, kept.end());
        }
        // With two parts the rest of one is the other: asked already.
        if (candidate.size() == kept.size() || (!alone && parts == 2) || !holds(candidate)) {
          continue;
        }
        kept = std::move(candidate);
        parts = alone ? 2 : std::max<std::size_t>(parts - 1, 2);
        smaller = true;
      }
    }
    if (!smaller) {
      if (parts >= kept.size()) {
        break;
      }
      parts = std::min(parts * 2, kept.size());
    }
  }
  return kept;
}

}  // namespace neuroncheck::numerics
