// SPDX-License-Identifier: Apache-2.0
// Legal results are never refused: ten thousand small products and dots in every order, and the
// calibration of lambda.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/mutation/evidence.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

struct SmallProduct {
  DType dtype = DType::Float32;
  Family family = Family::Normal;
  MatmulShape shape;
  Values a, b, truth, magnitude;
};

SmallProduct smallProduct(std::uint64_t seed) {
  constexpr std::array dtypes = {DType::Float32, DType::BFloat16, DType::Float16};
  constexpr std::array families = {Family::Normal,   Family::NormalF32, Family::Small,
                                   Family::Positive, Family::HeavyTail, Family::Offset};
  constexpr std::array<std::int64_t, 14> lengths = {1,   2,   3,   7,   31,  64,  127,
                                                    128, 129, 200, 255, 257, 384, 513};
  Random random(seed);
  SmallProduct p;
  p.dtype = dtypes.at(seed % dtypes.size());
  p.family = families.at(seed / 3 % families.size());
  const bool dot = random.below(4) == 0;
  p.shape = {dot ? 1 : 3, lengths.at(static_cast<std::size_t>(random.below(14))), dot ? 1 : 4};
  if (p.dtype == DType::Float16 && p.family == Family::HeavyTail) {
    p.family = Family::Normal;  // its products are beyond fp16
  }
  if (p.dtype == DType::Float16 && p.family == Family::Small) {
    // Below a hundred terms most results are a few of fp16's smallest steps: rightly mistrusted.
    p.shape.length = std::max<std::int64_t>(p.shape.length, 127);
  }
  const Format format = *formatOf(p.dtype);
  p.a = fill(p.family, format, p.shape.rows * p.shape.length, 2 * seed);
  p.b = fill(p.family, format, p.shape.length * p.shape.columns, 2 * seed + 1);
  p.truth = matmul(Machine::exact(), p.shape, p.a, p.b);
  p.magnitude = matmul(Machine::exact(), p.shape, absolute(p.a), absolute(p.b));
  return p;
}

Judgement judged(const SmallProduct& p, const Values& result) {
  const Output output(p.dtype, {p.shape.rows, p.shape.columns}, result,
                      ruleOf(OpClass::Contraction), static_cast<double>(p.shape.length));
  VectorReference reference(p.truth);
  reference.set({Quantity::Magnitude, {}}, p.magnitude);
  return judge(output.request, reference);
}

TEST(LegalOrders, TenThousandSeedsAreNeverRefused) {
  std::int64_t results = 0, passed = 0, weak = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const SmallProduct p = smallProduct(seed);
    for (const Order order : kLegalOrders) {
      const Judgement j = judged(p, matmul(Machine(Format::Float32, order), p.shape, p.a, p.b));
      ++results;
      passed += j.state == CaseState::Pass ? 1 : 0;
      weak += j.state == CaseState::PassWeak ? 1 : 0;
      EXPECT_EQ(j.state, CaseState::Pass)
          << "seed " << seed << ", " << name(order) << ", " << shortName(p.dtype) << ", "
          << name(p.family) << ", k = " << p.shape.length << ": " << j.reason;
    }
  }
  expectEvidence("orders",
                 fmt::format("10000 seeds, {} results in {} orders: `pass` {}, `pass-weak` {}, "
                             "refused {}.\n",
                             results, kLegalOrders.size(), passed, weak, results - passed - weak));
}

struct Column {
  std::string_view name;
  Machine machine;
};

const std::array kColumns = {
    Column{"sequential", Machine(Format::Float32)},
    Column{"reversed", Machine(Format::Float32, Order::Reversed)},
    Column{"blocks of 128", Machine(Format::Float32, Order::Blocks)},
    Column{"pairwise", Machine(Format::Float32, Order::Pairwise)},
    Column{"8 lanes", Machine(Format::Float32, Order::Lanes)},
    Column{"fused", Machine(Format::Float32, Order::Fused)},
    Column{"bf16 per MAC", Machine(Format::BFloat16, Order::Fused)},
    Column{"truncating", Machine(Format::Float32, Order::Fused, Rounding::TowardZero)},
};
constexpr std::size_t kNearestColumns = 6;

/// Dot products of bf16 numbers: their products are exact in fp32.
struct Dots {
  MatmulShape shape;
  Values a, b, truth, magnitude;
};

/// Worst |error| / (sqrt(k) u S) of a machine.
double worstRatio(const Machine& machine, const Dots& dots) {
  const double unit =
      traits(machine.format()).unitRoundoff() * std::sqrt(static_cast<double>(dots.shape.length));
  const Values result = matmul(machine, dots.shape, dots.a, dots.b);
  double worst = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    worst = std::max(worst, std::abs(result[i] - dots.truth[i]) / (unit * dots.magnitude[i]));
  }
  return worst;
}

/// Rounded up to two digits.
std::string twoDigits(double value) {
  const double step = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return fmt::format("{:.4g}", std::ceil(value / step) * step);
}

void expectCalibrated(std::size_t column, Family family, std::int64_t k, double ratio) {
  constexpr double lambda = 4;
  if (column < kNearestColumns) {
    EXPECT_LT(ratio, lambda / 2) << name(family) << ", " << kColumns.at(column).name
                                 << ", k = " << k;
  }
}

TEST(Calibration, NoOrderOfRoundingToNearestNeedsHalfOfLambda) {
  std::string text = "| inputs | k |";
  std::string line = "|---|---|";
  for (const Column& column : kColumns) {
    text += fmt::format(" {} |", column.name);
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (const Family family : {Family::Normal, Family::Positive, Family::HeavyTail}) {
    for (const std::int64_t k : {128, 2048, 32768}) {
      const std::int64_t side = k == 32768 ? 6 : 20;
      Dots dots{{side, k, side},
                fill(family, Format::BFloat16, side * k, 2 * static_cast<std::uint64_t>(k)),
                fill(family, Format::BFloat16, side * k, 2 * static_cast<std::uint64_t>(k) + 1),
                {},
                {}};
      dots.truth = matmul(Machine::exact(), dots.shape, dots.a, dots.b);
      dots.magnitude = matmul(Machine::exact(), dots.shape, absolute(dots.a), absolute(dots.b));
      text += fmt::format("| {} | {} |", name(family), k);
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        const double ratio = worstRatio(kColumns.at(i).machine, dots);
        expectCalibrated(i, family, k, ratio);
        text += fmt::format(" <= {} |", twoDigits(ratio));
      }
      text += "\n";
    }
  }
  expectEvidence("calibration", text);
}

TEST(Calibration, ATruncatingAccumulatorIsWeakAndNothingElse) {
  for (const std::int64_t k : {128, 2048, 32768}) {
    SmallProduct p;
    p.shape = {6, k, 6};
    p.a = fill(Family::Positive, Format::BFloat16, 6 * k, 1);
    p.b = fill(Family::Positive, Format::BFloat16, 6 * k, 2);
    p.truth = matmul(Machine::exact(), p.shape, p.a, p.b);
    p.magnitude = p.truth;
    const Machine truncating(Format::Float32, Order::Fused, Rounding::TowardZero);
    const Judgement j = judged(p, matmul(truncating, p.shape, p.a, p.b));
    // Up to a few hundred terms it is no worse than an unlucky order.
    EXPECT_EQ(j.state, k == 128 ? CaseState::Pass : CaseState::PassWeak)
        << k << ": " << j.cause << ", " << j.reason;
    EXPECT_EQ(j.cause, k == 128 ? "" : "bias") << k;
  }
}

}  // namespace
}  // namespace neuroncheck::numerics::testing
