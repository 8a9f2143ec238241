// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/sym_expr.h"

namespace neuroncheck {
namespace {

using Wide = __int128;

constexpr Wide kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr Wide kMin64 = std::numeric_limits<std::int64_t>::min();

// One end of an interval: a number, or minus or plus infinity. Numbers beyond 64 bits become
// infinite, so that products of two of them always fit.
struct End {
  int infinity = 0;
  Wide value = 0;
};

End finite(Wide value) {
  if (value > kMax64) {
    return {1, 0};
  }
  if (value < kMin64) {
    return {-1, 0};
  }
  return {0, value};
}

bool less(const End& a, const End& b) {
  return a.infinity != b.infinity ? a.infinity < b.infinity : a.value < b.value;
}

int sign(const End& a) {
  if (a.infinity != 0) {
    return a.infinity;
  }
  return a.value == 0 ? 0 : (a.value < 0 ? -1 : 1);
}

struct Interval {
  End low{-1, 0};
  End high{1, 0};
};

constexpr Interval kEverything{};

Interval exactly(Wide value) { return {finite(value), finite(value)}; }

End plus(const End& a, const End& b) {
  if (a.infinity != 0) {
    return a;
  }
  return b.infinity != 0 ? b : finite(a.value + b.value);
}

End times(const End& a, const End& b) {
  if (a.infinity != 0 || b.infinity != 0) {
    return {sign(a) * sign(b), 0};
  }
  return finite(a.value * b.value);
}

template <typename Op>
Interval overCorners(const Interval& a, const Interval& b, Op op) {
  const std::array<End, 4> corners{op(a.low, b.low), op(a.low, b.high), op(a.high, b.low),
                                   op(a.high, b.high)};
  return {*std::min_element(corners.begin(), corners.end(), less),
          *std::max_element(corners.begin(), corners.end(), less)};
}

// A sum that met infinities of both signs at one end stays on the safe side: each end only meets
// its own.
Interval sum(const Interval& a, const Interval& b) {
  Interval out;
  const bool lowOpen = a.low.infinity < 0 || b.low.infinity < 0;
  const bool highOpen = a.high.infinity > 0 || b.high.infinity > 0;
  out.low = lowOpen ? End{-1, 0} : plus(a.low, b.low);
  out.high = highOpen ? End{1, 0} : plus(a.high, b.high);
  return out;
}

Interval product(const Interval& a, const Interval& b) { return overCorners(a, b, times); }

Interval hull(const Interval& a, const Interval& b) {
  return {less(a.low, b.low) ? a.low : b.low, less(a.high, b.high) ? b.high : a.high};
}

Wide floorQuotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

// a/b for a divisor that is at least 1, rounded down or up. A finite value over an endless divisor
// tends to 0.
End divided(const End& a, const End& b, bool up) {
  if (a.infinity != 0) {
    return a;
  }
  if (b.infinity != 0) {
    if (a.value == 0 || (a.value > 0) != up) {
      return {0, 0};
    }
    return {0, up ? 1 : -1};
  }
  return finite(up ? -floorQuotient(-a.value, b.value) : floorQuotient(a.value, b.value));
}

Interval quotient(const Interval& a, const Interval& b, bool lowUp, bool highUp) {
  if (less(b.low, finite(1))) {
    return kEverything;
  }
  const auto down =
      overCorners(a, b, [lowUp](const End& x, const End& y) { return divided(x, y, lowUp); });
  const auto up =
      overCorners(a, b, [highUp](const End& x, const End& y) { return divided(x, y, highUp); });
  return {down.low, up.high};
}

Interval remainder(const Interval& a, const Interval& b) {
  if (less(b.low, finite(1))) {
    return kEverything;
  }
  const bool unchanged = sign(a.low) >= 0 && less(a.high, b.low);
  if (unchanged) {
    return a;
  }
  End high = plus(b.high, finite(-1));
  if (sign(a.low) >= 0 && less(a.high, high)) {
    high = a.high;
  }
  return {finite(0), high};
}

Interval power(const Interval& base, const Interval& exponent) {
  const bool fixed = exponent.low.infinity == 0 && exponent.high.infinity == 0 &&
                     exponent.low.value == exponent.high.value;
  if (!fixed || exponent.low.value < 0 || exponent.low.value > 64) {
    return kEverything;
  }
  const auto n = static_cast<int>(exponent.low.value);
  const auto raise = [n](const End& end) {
    End out = finite(1);
    for (int i = 0; i < n; ++i) {
      out = times(out, end);
    }
    return out;
  };
  const End low = raise(base.low);
  const End high = raise(base.high);
  if (n % 2 == 1 || sign(base.low) >= 0) {
    return {low, high};
  }
  if (n == 0) {
    return exactly(1);
  }
  const Interval ends = less(low, high) ? Interval{low, high} : Interval{high, low};
  return sign(base.high) <= 0 ? ends : Interval{finite(0), ends.high};
}

// Truth of "a >= b" as an interval of 0 and 1.
Interval atLeast(const Interval& a, const Interval& b) {
  const bool always = !less(a.low, b.high) && a.low.infinity == 0 && b.high.infinity == 0;
  const bool never = less(a.high, b.low);
  return {finite(always ? 1 : 0), finite(never ? 0 : 1)};
}

constexpr Interval kTruth{{0, 0}, {0, 1}};

Interval negation(const Interval& a) {
  if (sign(a.low) > 0 || sign(a.high) < 0) {
    return exactly(0);
  }
  return sign(a.low) == 0 && sign(a.high) == 0 ? exactly(1) : kTruth;
}

Interval equality(const Interval& a, const Interval& b) {
  if (less(a.high, b.low) || less(b.high, a.low)) {
    return exactly(0);
  }
  const bool bothFixed =
      a.low.infinity == 0 && b.low.infinity == 0 && !less(a.low, a.high) && !less(b.low, b.high);
  return bothFixed ? exactly(1) : kTruth;
}

class Bounds {
 public:
  Bounds(const SymRanges& ranges, bool fractions) : ranges_(ranges), fractions_(fractions) {}

  [[nodiscard]] Interval of(const SymExpr& expr) const {
    Interval out = unclamped(expr);
    // A low end that left 64 bits upwards is still at least the largest integer; the other end
    // likewise.
    if (out.low.infinity > 0) {
      out.low = finite(kMax64);
    }
    if (out.high.infinity < 0) {
      out.high = finite(kMin64);
    }
    return out;
  }

 private:
  [[nodiscard]] Interval unclamped(const SymExpr& expr) const {
    switch (expr.kind()) {
      case SymExpr::Kind::Integer:
      case SymExpr::Kind::Bool:
        return exactly(expr.integer());
      case SymExpr::Kind::Real:
        return ofReal(expr.real());
      case SymExpr::Kind::Symbol:
        return ofSymbol(expr.head());
      case SymExpr::Kind::Call:
        break;
    }
    std::vector<Interval> args;
    args.reserve(expr.args().size());
    for (const SymExprPtr& arg : expr.args()) {
      args.push_back(of(*arg));
    }
    const std::string& head = expr.head();
    if (!args.empty() && (head == "Add" || head == "Mul" || head == "Max" || head == "Min")) {
      return folded(head, args);
    }
    switch (args.size()) {
      case 1:
        return unary(head, args[0]);
      case 2:
        return binary(head, args[0], args[1]);
      case 3:
        return ternary(head, args);
      default:
        return isTruth(head) ? kTruth : kEverything;
    }
  }

  static bool isTruth(const std::string& head) { return head == "And" || head == "Or"; }

  static Interval ofReal(double value) {
    if (!(std::abs(value) < 9.0e18)) {
      return kEverything;
    }
    return {finite(static_cast<Wide>(std::floor(value))),
            finite(static_cast<Wide>(std::ceil(value)))};
  }

  [[nodiscard]] Interval ofSymbol(const std::string& name) const {
    const auto found = ranges_.find(name);
    if (found == ranges_.end()) {
      return kEverything;
    }
    const SymRange& range = found->second;
    if (range.min && range.max && *range.min > *range.max) {
      return kEverything;
    }
    return {range.min ? finite(*range.min) : End{-1, 0},
            range.max ? finite(*range.max) : End{1, 0}};
  }

  static Interval folded(const std::string& head, const std::vector<Interval>& args) {
    Interval out = args.front();
    for (std::size_t i = 1; i < args.size(); ++i) {
      const Interval& next = args[i];
      if (head == "Add") {
        out = sum(out, next);
      } else if (head == "Mul") {
        out = product(out, next);
      } else if (head == "Max") {
        out = {less(out.low, next.low) ? next.low : out.low,
               less(out.high, next.high) ? next.high : out.high};
      } else {
        out = {less(next.low, out.low) ? next.low : out.low,
               less(next.high, out.high) ? next.high : out.high};
      }
    }
    return out;
  }

  static Interval unary(const std::string& head, const Interval& a) {
    // Rounding an interval with whole ends keeps it.
    constexpr std::array<std::string_view, 7> kKeeping{"Identity",    "ToFloat",   "TruncToInt",
                                                       "FloorToInt",  "CeilToInt", "RoundToInt",
                                                       "TruncToFloat"};
    if (std::find(kKeeping.begin(), kKeeping.end(), head) != kKeeping.end()) {
      return a;
    }
    if (head == "Not") {
      return negation(a);
    }
    return isTruth(head) ? kTruth : kEverything;
  }

  [[nodiscard]] Interval binary(const std::string& head, const Interval& a,
                                const Interval& b) const {
    if (head == "FloorDiv" || head == "CleanDiv") {
      return quotient(a, b, false, false);
    }
    if (head == "CeilDiv") {
      return quotient(a, b, true, true);
    }
    if (head == "TrueDiv" || head == "IntTrueDiv" || head == "FloatTrueDiv" || head == "Rational") {
      return quotient(a, b, false, true);
    }
    if (head == "Mod" || head == "PythonMod") {
      return fractions_ ? kEverything : remainder(a, b);
    }
    if (head == "Pow" || head == "PowByNatural" || head == "FloatPow") {
      return power(a, b);
    }
    if (head == "GreaterThan" || head == "LessThan") {
      return head == "GreaterThan" ? atLeast(a, b) : atLeast(b, a);
    }
    if (head == "StrictGreaterThan" || head == "StrictLessThan") {
      return negation(head == "StrictGreaterThan" ? atLeast(b, a) : atLeast(a, b));
    }
    if (head == "Equality" || head == "Unequality") {
      return head == "Equality" ? equality(a, b) : negation(equality(a, b));
    }
    return isTruth(head) ? kTruth : kEverything;
  }

  [[nodiscard]] Interval ternary(const std::string& head, const std::vector<Interval>& args) const {
    if (head == "Where") {
      return hull(args[1], args[2]);
    }
    if (head == "ModularIndexing") {
      return fractions_ ? kEverything
                        : remainder(quotient(args[0], args[1], false, false), args[2]);
    }
    return isTruth(head) ? kTruth : kEverything;
  }

  const SymRanges& ranges_;
  bool fractions_;  // some value may lie between two integers
};

bool hasFractions(const SymExpr& expr) {
  constexpr std::array<std::string_view, 6> kFractional{"Rational", "TrueDiv",      "IntTrueDiv",
                                                        "Pow",      "FloatTrueDiv", "FloatPow"};
  const bool own =
      expr.kind() == SymExpr::Kind::Real ||
      (expr.kind() == SymExpr::Kind::Call &&
       std::find(kFractional.begin(), kFractional.end(), expr.head()) != kFractional.end());
  return own || std::any_of(expr.args().begin(), expr.args().end(),
                            [](const SymExprPtr& arg) { return hasFractions(*arg); });
}

}  // namespace

SymRange SymExpr::bounds(const SymRanges& ranges) const {
  const Interval interval = Bounds(ranges, hasFractions(*this)).of(*this);
  SymRange out;
  if (interval.low.infinity == 0) {
    out.min = static_cast<std::int64_t>(interval.low.value);
  }
  if (interval.high.infinity == 0) {
    out.max = static_cast<std::int64_t>(interval.high.value);
  }
  return out;
}

}  // namespace neuroncheck
