// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/trust.h"

#include <fmt/format.h>

namespace neuroncheck::numerics::detail {
namespace {

// oneDNN's benchdnn mistrusts a result with more than 30 % to 95 % zeros, by driver.
constexpr double kZerosOfExact = 0.95;
constexpr double kZerosOfOthers = 0.75;
constexpr double kHalf = 0.5;

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string reasonOf(const JudgeRequest& request, const Metrics& m, const Trust& trust) {
  const bool constantAllowed = request.rule.constantAllowed;
  const double nan = share(m.classes.expected(ValueClass::NotANumber), m.count);
  if (nan > kHalf && !request.specialInputs && !request.rule.nanAllowed) {
    return fmt::format("{:.0f} % of the truth is NaN, and nothing says that it should be",
                       100 * nan);
  }
  const bool oneValue = m.count > 1 && m.finitePairs == m.count && m.truthMin == m.truthMax;
  if (oneValue && !constantAllowed) {
    return fmt::format(
        "every element of the truth is {:.9g}: a result nobody computed could look "
        "the same",
        m.truthMin);
  }
  const double limit = request.rule.opClass == OpClass::Exact ? kZerosOfExact : kZerosOfOthers;
  if (trust.zeroShare > limit && !constantAllowed) {
    return fmt::format("{:.0f} % of the truth is zero: a skipped result could look the same",
                       100 * trust.zeroShare);
  }
  if (trust.saturatedShare > kHalf && !request.specialInputs && !constantAllowed) {
    return fmt::format("{:.0f} % of the truth is infinite or the largest number of its format",
                       100 * trust.saturatedShare);
  }
  if (trust.uselessShare > kHalf && request.rule.opClass != OpClass::Exact) {
    return fmt::format(
        "the bound is as large as the value for {:.0f} % of the elements: it would "
        "let anything pass",
        100 * trust.uselessShare);
  }
  return {};
}

}  // namespace

Trust trustOf(const JudgeRequest& request, const Metrics& m) {
  Trust trust;
  trust.zeroShare = share(
      m.classes.expected(ValueClass::PositiveZero) + m.classes.expected(ValueClass::NegativeZero),
      m.count);
  trust.saturatedShare = share(m.saturatedTruth, m.count);
  trust.uselessShare = share(m.uselessBounds, m.finitePairs - m.relUndefined);
  trust.reason = reasonOf(request, m, trust);
  trust.trusted = trust.reason.empty();
  return trust;
}

}  // namespace neuroncheck::numerics::detail
