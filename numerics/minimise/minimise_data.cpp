// SPDX-License-Identifier: Apache-2.0
#include "numerics/minimise/minimise_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace neuroncheck::numerics {
namespace {

struct Slot {
  std::size_t operand;
  std::size_t index;
};

/// Forms of a value with less in it, the simplest first.
std::vector<double> simpler(double value) {
  if (!std::isfinite(value) || value == 0) {
    return {};
  }
  std::vector<double> out{std::copysign(1.0, value),
                          std::copysign(std::exp2(std::floor(std::log2(std::abs(value)))), value)};
  // Low bits of the significand away, 4 of them left, then 8, 16, 24.
  for (const int kept : {4, 8, 16, 24}) {
    const std::uint64_t mask = ~((std::uint64_t{1} << (53 - kept)) - 1);
    out.push_back(std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & mask));
  }
  std::erase(out, value);
  return out;
}

std::vector<Slot> slotsOf(const OperandValues& values, const Contributors& contributors) {
  std::vector<Slot> slots;
  for (std::size_t operand = 0; operand < contributors.size(); ++operand) {
    for (const std::size_t index : contributors[operand]) {
      if (values[operand][index] != 0) {
        slots.push_back({operand, index});
      }
    }
  }
  return slots;
}

}  // namespace

MinimisedData minimiseData(const OperandValues& values, const Contributors& contributors,
                           const std::function<bool(const OperandValues&)>& interesting,
                           const MinimiseBudget& budget) {
  BudgetedTest test(budget);
  MinimisedData result{values, 0, 0, false};
  const auto holds = [&](const OperandValues& candidate) {
    return test.holds([&] { return interesting(candidate); });
  };
  Contributors all(values.size());
  for (std::size_t operand = 0; operand < values.size(); ++operand) {
    for (std::size_t i = 0; i < values[operand].size(); ++i) {
      all[operand].push_back(i);
    }
  }
  OperandValues zero = values;
  for (auto& operand : zero) {
    std::ranges::fill(operand, 0.0);
  }
  const auto only = [&](const std::vector<Slot>& slots, const std::vector<std::size_t>& kept) {
    OperandValues candidate = zero;
    for (const std::size_t k : kept) {
      candidate[slots[k].operand][slots[k].index] = values[slots[k].operand][slots[k].index];
    }
    return candidate;
  };
  std::vector<Slot> slots = slotsOf(values, contributors);
  std::vector<std::size_t> every(slots.size());
  for (std::size_t i = 0; i < every.size(); ++i) {
    every[i] = i;
  }
  if (!holds(only(slots, every))) {
    // The failure hangs on more than the values behind one element.
    slots = slotsOf(values, all);
  }
  const auto kept =
      ddmin(slots.size(), [&](const auto& set) { return interesting(only(slots, set)); }, test);
  result.values = only(slots, kept);
  for (const std::size_t k : kept) {
    double& value = result.values[slots[k].operand][slots[k].index];
    for (const double candidate : simpler(value)) {
      const double before = value;
      value = candidate;
      if (holds(result.values)) {
        break;
      }
      value = before;
    }
  }
  result.nonZero = kept.size();
  result.tests = test.used();
  result.complete = !test.spent();
  return result;
}

std::vector<std::string> minimiseSettings(
    const std::vector<std::string>& settings,
    const std::function<bool(const std::vector<std::string>&)>& interesting,
    const MinimiseBudget& budget) {
  BudgetedTest test(budget);
  const auto pick = [&](const std::vector<std::size_t>& set) {
    std::vector<std::string> out;
    for (const std::size_t i : set) {
      out.push_back(settings[i]);
    }
    return out;
  };
  return pick(
      ddmin(settings.size(), [&](const auto& set) { return interesting(pick(set)); }, test));
}

}  // namespace neuroncheck::numerics
