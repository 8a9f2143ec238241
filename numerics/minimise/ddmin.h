// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace neuroncheck::numerics {

/// How much a minimisation may cost. `expired` is asked before each test; absent: never.
struct MinimiseBudget {
  std::size_t tests = 1000;
  std::function<bool()> expired;
  /// A failure that comes and goes counts when it shows in every one of so many repetitions.
  int repetitions = 1;
};

/// Counts tests against a budget and repeats each as often as it says.
class BudgetedTest {
 public:
  explicit BudgetedTest(const MinimiseBudget& budget) : budget_(budget) {}

  /// True when `test` holds in all repetitions. False, without a test, once the budget is spent.
  [[nodiscard]] bool holds(const std::function<bool()>& test);
  [[nodiscard]] bool spent() const;
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  const MinimiseBudget& budget_;
  std::size_t used_ = 0;
};

/// Delta debugging (Zeller and Hildebrandt, IEEE TSE 28(2), 2002): a subset of [0, count) for which
/// `interesting` still holds and from which no single element can be left out, unless the budget
/// ends first. `interesting` of the whole set is taken for granted. Subsets are ascending.
[[nodiscard]] std::vector<std::size_t> ddmin(
    std::size_t count, const std::function<bool(const std::vector<std::size_t>&)>& interesting,
    BudgetedTest& budget);

}  // namespace neuroncheck::numerics
