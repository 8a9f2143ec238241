// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numbers>

#include "numerics/tests/kernels/elementwise.h"
#include "numerics/tests/mutation/subjects.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kColumns = 64;
const Machine kFp32(Format::Float32);

/// A fault of one operator, as another formula in fp32.
struct Formula {
  std::string_view op;
  std::string_view name;
  double (*f)(double x, double y);
};

double geluTanh(double x, double /*y*/) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double bf16(double x) { return roundTo(Format::BFloat16, x); }

constexpr std::array kFormulas = {
    Formula{"add", "subtracted", [](double x, double y) { return x - y; }},
    Formula{"add", "second operand doubled", [](double x, double y) { return x + 2 * y; }},
    Formula{"add", "operands in bf16", [](double x, double y) { return bf16(x) + bf16(y); }},
    Formula{"mul", "divided", [](double x, double y) { return x / y; }},
    Formula{"mul", "sign lost", [](double x, double y) { return std::abs(x * y); }},
    Formula{"div", "by a reciprocal in bf16", [](double x, double y) { return x * bf16(1 / y); }},
    Formula{"div", "floored", [](double x, double y) { return std::floor(x / y); }},
    Formula{"div", "exchanged", [](double x, double y) { return y / x; }},
    Formula{"pow", "whole exponents",
            [](double x, double y) { return std::pow(x, std::floor(y)); }},
    Formula{"pow", "by log and exp in bf16",
            [](double x, double y) { return std::exp(bf16(y * bf16(std::log(x)))); }},
    Formula{"pow", "exchanged", [](double x, double y) { return std::pow(y, x); }},
    Formula{"sqrt", "of the size, one Newton step short",
            [](double x, double) {
              const double guess = bf16(std::sqrt(x)) * (1 + 0x1p-9);
              return guess;
            }},
    Formula{"sqrt", "reciprocal", [](double x, double) { return 1 / std::sqrt(x); }},
    Formula{"neg", "copied", [](double x, double) { return x; }},
    Formula{"neg", "absolute", [](double x, double) { return -std::abs(x); }},
    Formula{"relu", "leaky", [](double x, double) { return x > 0 ? x : 0.01 * x; }},
    Formula{"relu", "relu6", [](double x, double) { return std::clamp(x, 0.0, 2.5); }},
    Formula{"exp", "saturated", [](double x, double) { return std::exp(std::min(x, 6.0)); }},
    Formula{"exp", "small results flushed",
            [](double x, double) { return x < -7 ? 0 : std::exp(x); }},
    Formula{"exp", "to base 2", [](double x, double) { return std::exp2(x); }},
    Formula{"exp", "less one", [](double x, double) { return std::expm1(x); }},
    Formula{"exp", "argument in bf16", [](double x, double) { return std::exp(bf16(x)); }},
    Formula{"exp", "series of six terms",
            [](double x, double) {
              double sum = 1;
              for (int i = 6; i > 0; --i) {
                sum = 1 + sum * x / i;
              }
              return sum;
            }},
    Formula{"log", "log1p", [](double x, double) { return std::log1p(x); }},
    Formula{"log", "to base 2", [](double x, double) { return std::log2(x); }},
    Formula{"log", "argument at least 0.1",
            [](double x, double) { return std::log(std::max(x, 0.1)); }},
    Formula{
        "tanh", "saturates at 3",
        [](double x, double) { return std::abs(x) > 3 ? std::copysign(1.0, x) : std::tanh(x); }},
    Formula{"tanh", "clamped identity", [](double x, double) { return std::clamp(x, -1.0, 1.0); }},
    Formula{"tanh", "table of 256 steps",
            [](double x, double) { return std::tanh(std::round(x * 25.6) / 25.6); }},
    Formula{
        "erf", "by tanh",
        [](double x, double) { return std::tanh(1.1283791670955126 * x * (1 + 0.09 * x * x)); }},
    Formula{"erf", "complement", [](double x, double) { return std::erfc(x); }},
    Formula{"rsqrt", "first guess only", [](double x, double) { return bf16(1 / std::sqrt(x)); }},
    Formula{"rsqrt", "root", [](double x, double) { return std::sqrt(x); }},
    Formula{"rsqrt", "eps added", [](double x, double) { return 1 / std::sqrt(x + 1e-3); }},
    Formula{"gelu", "tanh approximation", geluTanh},
    Formula{"gelu", "sigmoid approximation",
            [](double x, double) { return x / (1 + std::exp(-1.702 * x)); }},
    Formula{"gelu", "factor forgotten",
            [](double x, double) { return x * (1 + std::erf(x / std::numbers::sqrt2)); }},
    Formula{"gelu", "relu", [](double x, double) { return std::max(x, 0.0); }},
    Formula{"silu", "hard swish",
            [](double x, double) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    Formula{"silu", "sigmoid", [](double x, double) { return 1 / (1 + std::exp(-x)); }},
    Formula{"silu", "sigmoid in bf16",
            [](double x, double) { return x * bf16(1 / (1 + std::exp(-x))); }},
    Formula{"sigmoid", "hard", [](double x, double) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    Formula{"sigmoid", "sign of the argument",
            [](double x, double) { return 1 / (1 + std::exp(x)); }},
    Formula{"sigmoid", "by tanh in bf16",
            [](double x, double) { return 0.5 * (1 + bf16(std::tanh(x / 2))); }},
};

/// The second operand read by rows where it goes by columns, one off, or not at all.
void addOperandFaults(Subject& s, const Elementwise& op, const Values& x, const Values& y) {
  const auto on = [&](const Values& a, const Values& b) {
    return apply([&](double u, double v) { return op.onMachine(kFp32, u, v); }, a, b);
  };
  s.fault("first operand one off", on(rotated(x, std::ssize(x), 1), y));
  if (op.binary) {
    s.fault("second operand one column off", on(x, rotated(y, kColumns, 1)));
    Values broadcast = y;
    for (std::int64_t i = 0; i < std::ssize(y); ++i) {
      at(broadcast, i) = at(y, i % kColumns);
    }
    s.fault("first row of the second operand throughout", on(x, broadcast));
  }
}

Subject elementwise(DType dtype, const Elementwise& op) {
  const OutputRule rule = shippedRule("aten::" + std::string(op.name));
  Subject s =
      subjectOf(std::string(op.name), dtype, "uniform over its range", {kRows, kColumns}, rule, 1);
  const auto operand = [&](std::uint64_t which) {
    Values values = fill(Family::Positive, Format::Float64, kRows * kColumns, seedOf(s, which));
    for (double& v : values) {
      v = roundTo(s.format(), op.low + (op.high - op.low) * v);
    }
    return values;
  };
  const Values x = operand(1);
  const Values y = op.binary ? operand(2) : Values();
  s.truth = apply(op.truth, x, y);
  if (op.magnitude != nullptr) {
    s.magnitude = apply(op.magnitude, x, y);
  }
  const Values right = apply([&](double u, double v) { return op.onMachine(kFp32, u, v); }, x, y);
  s.legal.emplace_back("fp32", right);
  if (op.oneFunction) {
    Random random(seedOf(s, 3));
    Values near = right;  // an engine that is up to three steps off
    for (double& v : near) {
      v = kFp32(v + static_cast<double>(random.below(7) - 3) * ulp(Format::Float32, v) * 0.75);
    }
    s.legal.emplace_back("three steps off", std::move(near));
  }
  for (const Formula& formula : kFormulas) {
    if (formula.op == op.name) {
      s.fault(std::string(formula.name),
              apply([&](double u, double v) { return kFp32(formula.f(u, v)); }, x, y));
    }
  }
  addOperandFaults(s, op, x, y);
  addOutputFaults(s, true);
  return s;
}

}  // namespace

std::vector<Subject> elementwiseSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const Elementwise& op : elementwiseOps()) {
    subjects.push_back(elementwise(dtype, op));
  }
  return subjects;
}

}  // namespace neuroncheck::numerics::testing
