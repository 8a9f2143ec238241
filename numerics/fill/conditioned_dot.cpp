// SPDX-License-Identifier: Apache-2.0
// Dot products of prescribed condition: T. Ogita, S. M. Rump, S. Oishi, "Accurate Sum and Dot
// Product", SIAM J. Sci. Comput. 26 (2005) 1955-1988, algorithm 6.1 (GenDot).
#include <algorithm>
#include <cmath>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {
namespace {

/// A sum kept as two doubles, and the products of fp64 values exactly (Dekker, Knuth): the residual
/// is needed to twice the format's precision, by the same operations on every machine.
struct LongSum {
  double high = 0;
  double low = 0;

  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum + low;
    low -= high - sum;
  }
  void addProduct(double a, double b) {
    constexpr double kSplit = 134217729;  // 2^27 + 1
    const double product = a * b;
    const double a1 = kSplit * a - (kSplit * a - a);
    const double b1 = kSplit * b - (kSplit * b - b);
    const double a2 = a - a1;
    const double b2 = b - b1;
    add(product);
    add(a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2));
  }
};

/// +-[1/2, 1) 2^exponent. Unlike the paper's (-1, 1) never near zero: a quotient by it stays in
/// range.
double spread(std::uint64_t word, int exponent) {
  const double magnitude = 0.5 + 0.5 * unitInterval(word << 1U);
  return std::ldexp((word >> 63U) != 0 ? -magnitude : magnitude, exponent);
}

bool inRange(const FormatTraits& t, int half, std::int64_t first, int conditionLog2) {
  // Each term of the second half removes at least the format's precision of what is left.
  const std::int64_t needed = conditionLog2 / std::max(t.significandBits - 1, 1) + 2;
  return conditionLog2 >= 0 && first >= needed && half + 5 <= t.maxExponent();
}

}  // namespace

ConditionedDot conditionedDot(Format format, std::int64_t length, int conditionLog2, int factors,
                              std::uint64_t seed) {
  const CounterRandom random(seed, 0);
  const bool sum = factors == 1;
  const int half = sum ? conditionLog2 : conditionLog2 / 2;
  const std::int64_t first = length / 2;
  ConditionedDot dot;
  if (!inRange(traits(format), half, first, conditionLog2)) {
    return dot;
  }
  const auto word = [&](std::int64_t i, std::int64_t which) {
    return random.word(CounterRandom::Stream::Shared, 4 * i + which);
  };
  std::vector<double> left(static_cast<std::size_t>(length));
  std::vector<double> right(left.size());
  LongSum total;
  double magnitude = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    int exponent = 0;
    if (i < first) {
      // Exponents at random, with both ends met.
      exponent =
          i == 0 ? half + 1 : (i == first - 1 ? 0 : static_cast<int>(below(word(i, 0), half + 1)));
    } else {
      const std::int64_t steps = length - first;
      exponent =
          static_cast<int>(half * (steps - 1 - (i - first)) / std::max<std::int64_t>(steps - 1, 1));
    }
    const double x = sum ? 1 : roundTo(format, spread(word(i, 1), exponent));
    double wanted = spread(word(i, 2), exponent);
    if (i == length - 1) {
      // The paper leaves the last remainder about 1, so the condition grows with the length; here
      // the last term makes it what was asked for.
      wanted = std::copysign(std::ldexp(magnitude, 1 - conditionLog2), wanted);
    }
    const double y = roundTo(format, i < first ? wanted : (wanted - total.high) / x);
    if (!std::isfinite(2 * y) || std::abs(2 * y) > traits(format).maxFinite()) {
      return dot;  // rows are scaled by two
    }
    total.addProduct(x, y);
    magnitude += std::abs(x * y);
    left[static_cast<std::size_t>(i)] = x;
    right[static_cast<std::size_t>(i)] = y;
  }
  const IndexPermutation order(length, word(0, 3));
  dot.left.resize(left.size());
  dot.right.resize(right.size());
  for (std::int64_t i = 0; i < length; ++i) {
    const auto to = static_cast<std::size_t>(order.at(i));
    dot.left[to] = left[static_cast<std::size_t>(i)];
    dot.right[to] = right[static_cast<std::size_t>(i)];
  }
  return dot;
}

}  // namespace neuroncheck::numerics
