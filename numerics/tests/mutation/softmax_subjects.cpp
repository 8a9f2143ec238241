// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/kernels/normalisation.h"
#include "numerics/tests/mutation/subjects.h"
#include "numerics/tests/support/vector_reference.h"

namespace neuroncheck::numerics::testing {
namespace {

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kLength = 160;
const Machine kFp32(Format::Float32);

Values mapped(Values values, double (*f)(double)) {
  std::ranges::transform(values, values.begin(), f);
  return values;
}

/// Values of rows divided by the sum of another row.
Values staleDenominator(const Values& right, const Values& x) {
  Values out = right;
  for (std::int64_t i = kLength; i < std::ssize(out); ++i) {
    const std::int64_t before = i / kLength * kLength - kLength;
    double own = 0;
    double stale = 0;
    for (std::int64_t j = 0; j < kLength; ++j) {
      own += std::exp(at(x, before + kLength + j));
      stale += std::exp(at(x, before + j));
    }
    at(out, i) = at(right, i) * own / stale;
  }
  return out;
}

void addSoftmaxFaults(Subject& s, const Values& x, Family family, bool logarithm) {
  const Values right = s.legal.front().second;
  SoftmaxOptions o{logarithm, true, kLength - 1};
  s.fault("last term of the denominator skipped", softmax(kFp32, kRows, kLength, x, o));
  o.summed = kTile;
  s.fault("last tile of the denominator skipped", softmax(kFp32, kRows, kLength, x, o));
  s.fault("other axis", transposed(softmax(kFp32, kLength, kRows, transposed(x, kRows, kLength),
                                           {logarithm, true, -1}),
                                   kLength, kRows));
  s.fault("logarithm forgotten or added",
          softmax(kFp32, kRows, kLength, x, {!logarithm, true, -1}));
  s.fault("scaled by 1/2", softmax(kFp32, kRows, kLength, mapped(x, [](double v) { return v / 2; }),
                                   {logarithm, true, -1}));
  s.fault("worked out in bf16",
          softmax(Machine(Format::BFloat16), kRows, kLength, x, {logarithm, true, -1}));
  if (family == Family::High) {
    s.fault("maximum not subtracted", softmax(kFp32, kRows, kLength, x, {logarithm, false, -1}));
  } else {
    s.fault("base 2", softmax(kFp32, kRows, kLength,
                              mapped(x, [](double v) { return v * 0.6931471805599453; }),
                              {logarithm, true, -1}));
  }
  if (!logarithm && family != Family::High) {
    s.fault("denominator of the row before", staleDenominator(right, x));
    s.fault("exponentials in bf16", roundedTo(Format::BFloat16, right));
  }
}

Subject softmaxOf(DType dtype, bool logarithm, Family family) {
  Subject s = subjectOf(
      logarithm ? "log_softmax" : "softmax", dtype, std::string(name(family)), {kRows, kLength},
      shippedRule(logarithm ? "aten::log_softmax" : "aten::softmax"), static_cast<double>(kLength));
  const Values x = fill(family, s.format(), kRows * kLength, seedOf(s, 1), kLength);
  s.truth = softmax(Machine::exact(), kRows, kLength, x, {logarithm, true, -1});
  s.magnitude = softmaxMagnitude(kRows, kLength, x, logarithm);
  addOrders(s,
            [&](const Machine& m) { return softmax(m, kRows, kLength, x, {logarithm, true, -1}); });
  addSoftmaxFaults(s, x, family, logarithm);
  addOutputFaults(s);
  return s;
}

/// Some elements and one whole row at minus infinity: that row is NaN by definition.
Subject maskedSoftmax(DType dtype) {
  Subject s = subjectOf("softmax", dtype, "masked", {kRows, kLength}, shippedRule("aten::softmax"),
                        static_cast<double>(kLength));
  s.specialInputs = true;
  constexpr double inf = std::numeric_limits<double>::infinity();
  Values x = fill(Family::Normal, s.format(), kRows * kLength, seedOf(s, 1));
  for (std::int64_t i = 0; i < std::ssize(x); ++i) {
    at(x, i) = i % kLength % 5 == 3 || i / kLength == 7 ? -inf : at(x, i);
  }
  s.truth = softmax(Machine::exact(), kRows, kLength, x);
  s.magnitude = softmaxMagnitude(kRows, kLength, x, false);
  addOrders(s, [&](const Machine& m) { return softmax(m, kRows, kLength, x); });
  const Values right = s.legal.front().second;
  Values zeros = right;
  std::ranges::transform(right, zeros.begin(), [](double v) { return std::isnan(v) ? 0 : v; });
  s.fault("0 for a fully masked row", std::move(zeros));
  s.fault("mask of -1", softmax(kFp32, kRows, kLength,
                                mapped(x, [](double v) { return std::isinf(v) ? -1.0 : v; })));
  s.fault("mask ignored", softmax(kFp32, kRows, kLength,
                                  mapped(x, [](double v) { return std::isinf(v) ? 0 : v; })));
  s.fault("NaN in every row of a tile", [&] {
    Values spread = right;
    std::fill(spread.begin(), spread.begin() + 8 * kLength, std::nan(""));
    return spread;
  }());
  addOutputFaults(s);
  return s;
}

struct Attention {
  AttentionShape shape;
  Values q, k, v;

  [[nodiscard]] Values on(const Machine& m) const { return attention(m, shape, q, k, v); }
  [[nodiscard]] Values onFp32() const { return on(kFp32); }
};

void addAttentionFaults(Subject& s, const Attention& right) {
  Attention a = right;
  a.shape.scale = 1;
  s.fault("scale missing", a.onFp32());
  a.shape.scale = right.shape.scale * right.shape.scale;
  s.fault("scale twice", a.onFp32());
  a = right;
  a.shape.causal = !a.shape.causal;
  s.fault(a.shape.causal ? "masked without need" : "mask missing", a.onFp32());
  if (right.shape.causal) {
    a = right;
    a.shape.diagonal = 1;
    s.fault("mask one off, looks ahead", a.onFp32());
    a.shape.diagonal = -1;
    s.fault("mask one off, not itself", a.onFp32());
  } else {
    a = right;
    a.shape.causal = true;
    a.shape.diagonal = a.shape.keys - 2;
    s.fault("last key skipped by the first query", a.onFp32());
  }
  const std::int64_t head = right.shape.keys * right.shape.depth;
  a = right;
  a.k = rotated(right.k, std::ssize(right.k), head);
  a.v = rotated(right.v, std::ssize(right.v), head);
  s.fault("keys and values of another head", a.onFp32());
  a = right;
  a.v = rotated(right.v, head, right.shape.depth);
  s.fault("values one row off", a.onFp32());
  a = right;
  a.k = rotated(right.k, right.shape.depth, 1);
  s.fault("keys one column off", a.onFp32());
  a = right;
  std::swap(a.k, a.v);
  s.fault("keys and values exchanged", a.onFp32());
  s.fault("worked out in bf16", right.on(Machine(Format::BFloat16)));
  a = right;
  a.q = roundedTo(Format::BFloat16, a.q);
  a.k = roundedTo(Format::BFloat16, a.k);
  a.v = roundedTo(Format::BFloat16, a.v);
  s.fault("inputs cast to bf16", a.onFp32(), HypothesisId::BFloat16Inputs);
}

Subject attentionOf(DType dtype, bool causal) {
  Attention a;
  a.shape = {3, 20, 20, 32, 0.17677669529663687, causal, 0};
  const AttentionShape& shape = a.shape;
  Subject s = subjectOf(causal ? "sdpa, causal" : "sdpa", dtype, "normal",
                        {shape.heads, shape.queries, shape.depth},
                        shippedRule("aten::scaled_dot_product_attention"),
                        static_cast<double>(std::max(shape.depth, shape.keys)));
  const std::int64_t n = shape.heads * shape.keys * shape.depth;
  a.q = fill(Family::Normal, s.format(), n, seedOf(s, 1));
  a.k = fill(Family::Normal, s.format(), n, seedOf(s, 2));
  a.v = fill(Family::Normal, s.format(), n, seedOf(s, 3));
  s.truth = a.on(Machine::exact());
  s.magnitude = attentionMagnitude(shape, a.q, a.k, a.v);
  s.values[HypothesisId::BFloat16Inputs] =
      attention(Machine::exact(), shape, roundedTo(Format::BFloat16, a.q),
                roundedTo(Format::BFloat16, a.k), roundedTo(Format::BFloat16, a.v));
  addOrders(s, [&](const Machine& m) { return a.on(m); });
  addAttentionFaults(s, a);
  addOutputFaults(s);
  return s;
}

}  // namespace

std::vector<Subject> softmaxSubjects(DType dtype) {
  std::vector<Subject> subjects;
  for (const bool logarithm : {false, true}) {
    subjects.push_back(softmaxOf(dtype, logarithm, Family::Normal));
    subjects.push_back(softmaxOf(dtype, logarithm, Family::High));
  }
  subjects.push_back(maskedSoftmax(dtype));
  return subjects;
}

std::vector<Subject> attentionSubjects(DType dtype) {
  std::vector<Subject> subjects;
  subjects.push_back(attentionOf(dtype, false));
  subjects.push_back(attentionOf(dtype, true));
  return subjects;
}

}  // namespace neuroncheck::numerics::testing
