// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/kernels/reduction.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kLength = 300;

/// x[rows, n] cut to the columns [from, to).
Values columns(const Values& x, std::int64_t n, std::int64_t from, std::int64_t to) {
  Values out;
  for (auto row = x.begin(); row != x.end(); row += n) {
    out.insert(out.end(), row + from, row + to);
  }
  return out;
}

Values times(Values values, double by) {
  for (double& x : values) {
    x *= by;
  }
  return values;
}

/// The operator on x[rows, n] with another n, on fp32.
Values on(Reduction reduction, const Values& x, std::int64_t n, const ReductionOptions& o = {},
          const Machine& m = Machine(Format::Float32)) {
  return reduce(m, reduction, std::ssize(x) / n, n, x, o);
}

/// Terms left out or taken twice.
void addTermFaults(Subject& s, Reduction op, const Values& x) {
  if (op != Reduction::CumSum) {
    s.fault("last term skipped", on(op, columns(x, kLength, 0, kLength - 1), kLength - 1));
    s.fault("first term skipped", on(op, columns(x, kLength, 1, kLength), kLength - 1));
    s.fault("last tile skipped", on(op, columns(x, kLength, 0, 2 * kTile), 2 * kTile));
  }
  Values twice = x;
  for (std::int64_t i = 1; i < std::ssize(x); i += kLength) {
    at(twice, i) = at(x, i - 1);
  }
  s.fault("first term for the second", on(op, twice, kLength));
  s.fault("other axis", on(op, transposed(x, kRows, kLength), kLength));
  s.fault("rows one off", on(op, rotated(x, std::ssize(x), kLength), kLength));
  s.fault("rows overlap by one", [&] {
    Values shifted = x;
    std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
    return on(op, shifted, kLength);
  }());
}

void addOwnFaults(Subject& s, Reduction op, const Values& x) {
  const auto n = static_cast<double>(kLength);
  const Values& right = s.legal.front().second;
  if (op == Reduction::Mean) {
    s.fault("divided by n - 1", times(right, n / (n - 1)));
    s.fault("not divided", times(right, n));
  } else if (op == Reduction::Var) {
    s.fault("biased", on(op, x, kLength, {0, false, true, true}));
    s.fault("deviation, not variance", [&] {
      Values roots = right;
      std::ranges::transform(right, roots.begin(), [](double v) { return std::sqrt(v); });
      return roots;
    }());
    s.fault("mean not subtracted", [&] {
      Values squares = x;
      std::ranges::transform(x, squares.begin(), [](double v) { return v * v; });
      return times(on(Reduction::Mean, squares, kLength), n / (n - 1));
    }());
  } else if (op == Reduction::Norm) {
    s.fault("no root", on(op, x, kLength, {1, false, true, false}));
    s.fault("1-norm", on(Reduction::Sum, absolute(x), kLength));
  } else if (op == Reduction::LogSumExp) {
    if (s.inputs == name(Family::High)) {
      s.fault("maximum not subtracted", on(op, x, kLength, {1, false, false, true}));
    }
    s.fault("to base 2", times(right, 1.4426950408889634));
  } else if (op == Reduction::Prod) {
    s.fault("absolute", absolute(right));
    s.fault("sum", on(Reduction::Sum, x, kLength));
  }
}

void addScanFaults(Subject& s, const Values& x) {
  const Values& right = s.legal.front().second;
  Values exclusive(right.size()), reset(right.size()), backward(right.size());
  for (std::int64_t i = 0; i < std::ssize(right); ++i) {
    const std::int64_t column = i % kLength;
    at(exclusive, i) = column == 0 ? 0 : at(right, i - 1);
    at(reset, i) = column % kTile == 0 ? at(x, i) : at(reset, i - 1) + at(x, i);
    at(backward, i) = at(right, i - column + kLength - 1 - column);
  }
  s.fault("exclusive", std::move(exclusive));
  s.fault("starts anew at tiles", std::move(reset));
  s.fault("from the end", std::move(backward));
}

/// The operator worked out in bf16 and fp16 throughout.
void addNarrowFaults(Subject& s, Reduction op, const Values& x) {
  const bool named = s.rooms.contains(HypothesisId::BFloat16Accumulation);
  s.fault("accumulated in bf16", on(op, x, kLength, {}, Machine(Format::BFloat16)),
          named ? HypothesisId::BFloat16Accumulation : HypothesisId::None);
  if (s.dtype != DType::BFloat16) {
    s.fault("inputs cast to bf16", on(op, roundedTo(Format::BFloat16, x), kLength),
            HypothesisId::BFloat16Inputs);
  }
  if (op == Reduction::Norm || op == Reduction::Var) {
    s.fault("squares in fp16", on(op, x, kLength, {}, Machine(Format::Float16)));
  }
}

Values inputsOf(const Subject& s, Reduction op, Family family) {
  Values x = fill(op == Reduction::Prod ? Family::Positive : family, s.format(), kRows * kLength,
                  seedOf(s, 1), kLength);
  if (op == Reduction::Prod) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = roundTo(s.format(), (0.97 + 0.06 * x[i]) * (i % 7 == 0 ? -1 : 1));
    }
  }
  return x;
}

Subject reduction(DType dtype, Reduction op, Family family) {
  const bool scan = op == Reduction::CumSum;
  const OutputRule rule = shippedRule("aten::" + std::string(name(op)));
  Subject s = subjectOf(
      std::string(name(op)), dtype, op == Reduction::Prod ? "near 1" : std::string(name(family)),
      scan ? std::vector<std::int64_t>{kRows, kLength} : std::vector<std::int64_t>{kRows}, rule,
      static_cast<double>(kLength));
  const Values x = inputsOf(s, op, family);
  s.truth = on(op, x, kLength, {}, Machine::exact());
  s.magnitude = reduceMagnitude(op, kRows, kLength, x);
  s.unstable = reduceUnstable(op, kRows, kLength, x);
  s.values[HypothesisId::BFloat16Inputs] =
      on(op, roundedTo(Format::BFloat16, x), kLength, {}, Machine::exact());
  if (op == Reduction::Sum || op == Reduction::Mean) {
    const Values ones(static_cast<std::size_t>(kLength), 1.0);
    s.rooms[HypothesisId::BFloat16Accumulation] =
        times(roomOf(Format::BFloat16, partialSums({kRows, kLength, 1}, x, ones, 1)),
              op == Reduction::Mean ? 1.0 / static_cast<double>(kLength) : 1.0);
  }
  addOrders(s, [&](const Machine& m) { return on(op, x, kLength, {}, m); });
  addTermFaults(s, op, x);
  if (scan) {
    addScanFaults(s, x);
  } else {
    addOwnFaults(s, op, x);
  }
  addNarrowFaults(s, op, x);
  addOutputFaults(s);
  return s;
}

}  // namespace

std::vector<Subject> reductionSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const Reduction op :
       {Reduction::Sum, Reduction::Mean, Reduction::Var, Reduction::Norm, Reduction::CumSum}) {
    subjects.push_back(reduction(dtype, op, Family::Normal));
    subjects.push_back(reduction(dtype, op, Family::Offset));
  }
  // Sums of squares beyond 65504, which fp16 does not hold.
  subjects.push_back(reduction(dtype, Reduction::Norm, Family::Large));
  subjects.push_back(reduction(dtype, Reduction::Prod, Family::Positive));
  subjects.push_back(reduction(dtype, Reduction::LogSumExp, Family::Normal));
  subjects.push_back(reduction(dtype, Reduction::LogSumExp, Family::High));
  return subjects;
}

}  // namespace neuroncheck::numerics::testing
