// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/mutation/matmul_subject.h"

#include <limits>

#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr MatmulShape kShape{64, 2048, 64};

void addHypotheses(Subject& s, const Values& a, const Values& b) {
  for (const auto& [id, format] : kCastInputs) {
    s.values[id] = matmul(Machine::exact(), kShape, roundedTo(format, a), roundedTo(format, b));
  }
  const Values every = partialSums(kShape, a, b, 1);
  s.rooms[HypothesisId::Float16Accumulation] = roomOf(Format::Float16, every);
  s.rooms[HypothesisId::BFloat16Accumulation] = roomOf(Format::BFloat16, every);
  s.rooms[HypothesisId::BFloat16TileAccumulation] =
      roomOf(Format::BFloat16, partialSums(kShape, a, b, kTile));
}

/// The first `length` terms only.
Values shortened(const Machine& machine, const Values& a, const Values& b, std::int64_t length) {
  Values left;
  for (std::int64_t i = 0; i < kShape.rows; ++i) {
    const auto row = a.begin() + i * kShape.length;
    left.insert(left.end(), row, row + length);
  }
  return matmul(machine, {kShape.rows, length, kShape.columns}, left, b);
}

void addArithmeticFaults(Subject& s, const Values& a, const Values& b) {
  const Machine fp32(Format::Float32);
  s.fault("bf16 PSUM per tile", matmul(fp32.withTileSums(Format::BFloat16), kShape, a, b),
          HypothesisId::BFloat16TileAccumulation);
  s.fault("bf16 per MAC", matmul(Machine(Format::BFloat16, Order::Fused), kShape, a, b),
          HypothesisId::BFloat16Accumulation);
  s.fault("inputs cast to bf16",
          matmul(fp32, kShape, roundedTo(Format::BFloat16, a), roundedTo(Format::BFloat16, b)),
          HypothesisId::BFloat16Inputs);
  s.faults.push_back({"output truncated",
                      s.legal.front().second,
                      HypothesisId::RoundTowardZero,
                      Rounding::TowardZero,
                      {}});
  s.fault("last k dropped", shortened(fp32, a, b, kShape.length - 1));
  s.fault("last 128-tile dropped", shortened(fp32, a, b, kShape.length - kTile));
}

void addElementFaults(Subject& s) {
  const Values& right = s.legal.front().second;
  Values wrong = right;
  at(wrong, 1234) *= 1.25;
  s.fault("one element wrong", std::move(wrong));
  Values sign = right;
  at(sign, 2345) = -at(sign, 2345);
  s.fault("one sign flipped", std::move(sign));
  Values row = right;
  std::fill(row.end() - kShape.columns, row.end(), 0.0);
  s.fault("last row unwritten", std::move(row));
  Values nan = right;
  at(nan, 3456) = std::numeric_limits<double>::quiet_NaN();
  s.fault("one NaN", std::move(nan));
  Values scaled = right;
  for (double& x : scaled) {
    x *= 1.01;
  }
  s.fault("1 % scale", std::move(scaled));
  s.fault("transposed", transposed(right, kShape.rows, kShape.columns));
}

}  // namespace

Subject matmulSubject(DType dtype, Family family) {
  Subject s;
  s.op = "matmul";
  s.inputs = name(family);
  s.dtype = dtype;
  s.sizes = {kShape.rows, kShape.columns};
  s.rule = shippedRule("aten::mm");
  s.length = static_cast<double>(kShape.length);
  const auto seed = static_cast<std::uint64_t>(dtype) * 64 + static_cast<std::uint64_t>(family);
  const Values a = fill(family, s.format(), kShape.rows * kShape.length, 2 * seed);
  const Values b = fill(family, s.format(), kShape.length * kShape.columns, 2 * seed + 1);
  s.truth = matmul(Machine::exact(), kShape, a, b);
  s.magnitude = matmul(Machine::exact(), kShape, absolute(a), absolute(b));
  for (const Order order : {Order::Sequential, Order::Blocks, Order::Pairwise}) {
    s.legal.emplace_back(name(order), matmul(Machine(Format::Float32, order), kShape, a, b));
  }
  addHypotheses(s, a, b);
  addArithmeticFaults(s, a, b);
  addElementFaults(s);
  return s;
}

}  // namespace neuroncheck::numerics::testing
