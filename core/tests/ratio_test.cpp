// SPDX-License-Identifier: Apache-2.0
#include "core/ratio.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace neuroncheck {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Ratio ratio(std::int64_t a, std::int64_t b) { return Ratio::make(a, b).value(); }

TEST(Ratio, IsInLowestTerms) {
  EXPECT_EQ(ratio(6, -4), ratio(-3, 2));
  EXPECT_EQ(ratio(6, -4).denominator(), 2);
  EXPECT_EQ(ratio(0, 5).denominator(), 1);
  EXPECT_EQ(Ratio::make(1, 0), std::nullopt);
  EXPECT_EQ(Ratio::make(kMin, -1), std::nullopt);
  EXPECT_EQ(ratio(kMin, kMin), Ratio(1));
}

TEST(Ratio, Rounds) {
  EXPECT_EQ(ratio(-7, 2).floor(), -4);
  EXPECT_EQ(ratio(-7, 2).ceil(), -3);
  EXPECT_EQ(ratio(7, 2).floor(), 3);
  EXPECT_EQ(ratio(7, 2).ceil(), 4);
  EXPECT_EQ(ratio(5, 2).round(), 2);
  EXPECT_EQ(ratio(7, 2).round(), 4);
  EXPECT_EQ(ratio(-5, 2).round(), -2);
  EXPECT_EQ(ratio(-4, 3).round(), -1);
  EXPECT_EQ(ratio(5, 3).round(), 2);
}

TEST(Ratio, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Ratio(kMax).plus(Ratio(1)), std::nullopt);
  EXPECT_EQ(Ratio(kMax).times(Ratio(2)), std::nullopt);
  EXPECT_EQ(Ratio(1).dividedBy(Ratio(0)), std::nullopt);
  EXPECT_EQ(Ratio(2).power(63), std::nullopt);
  EXPECT_EQ(Ratio(2).power(62), Ratio(std::int64_t{1} << 62));
  EXPECT_EQ(Ratio(-2).power(63), Ratio(kMin));
  EXPECT_EQ(Ratio(0).power(0), Ratio(1));
  EXPECT_EQ(Ratio(0).power(-1), std::nullopt);
  EXPECT_EQ(Ratio(-1).power(kMax), Ratio(-1));
  EXPECT_EQ(Ratio(3).power(-2), ratio(1, 9));
  EXPECT_EQ(Ratio(3).power(kMin), std::nullopt);
}

TEST(Ratio, TakesExactReals) {
  EXPECT_EQ(Ratio::fromReal(0.5), ratio(1, 2));
  EXPECT_EQ(Ratio::fromReal(-3), Ratio(-3));
  EXPECT_EQ(Ratio::fromReal(0.1), std::nullopt);
  EXPECT_EQ(Ratio::fromReal(1e300), std::nullopt);
  EXPECT_EQ(Ratio::fromReal(std::nan("")), std::nullopt);
}

RC_GTEST_PROP(RatioLaw, IsAField, ()) {
  const auto one = [] { return ratio(*rc::gen::inRange(-1000, 1000), *rc::gen::inRange(1, 1000)); };
  const Ratio a = one();
  const Ratio b = one();
  const Ratio c = one();
  RC_ASSERT(a.plus(b) == b.plus(a));
  RC_ASSERT(a.times(b.plus(c).value()) == a.times(b)->plus(*a.times(c)));
  RC_ASSERT(b.isZero() || a.times(b)->dividedBy(b) == a);
  RC_ASSERT((a < b) == (a.plus(c).value() < b.plus(c).value()));
  RC_ASSERT(a.floor() <= a.round() && a.round() <= a.ceil());
}

}  // namespace
}  // namespace neuroncheck
