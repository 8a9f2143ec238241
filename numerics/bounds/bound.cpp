// SPDX-License-Identifier: Apache-2.0
#include "numerics/bounds/bound.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "numerics/format/vector_clones.h"

namespace neuroncheck::numerics {
namespace {

/// 2^floor(log2 |x|) of a normal number, 0 for zero.
double binadeOf(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000ULL);
}

/// The widest vector. Compilers finish a loop with narrower ones, or singly, where a product and a
/// sum may not become one rounding as they do in the others: a bound must not hang on where its
/// element stands.
constexpr std::size_t kLanes = 8;

bool sums(OpClass opClass) {
  return opClass == OpClass::Reduction || opClass == OpClass::Contraction ||
         opClass == OpClass::Normalisation || opClass == OpClass::Fused;
}

}  // namespace

Arithmetic declaredArithmetic(Format output) {
  return {output, output == Format::Float64 ? Format::Float64 : Format::Float32, false, false};
}

BoundModel BoundModel::of(const OutputRule& rule, double length, Arithmetic arithmetic) {
  return {arithmetic, rule.opClass, length, rule.coefficient, rule.roundings, 4, false};
}

Bounder::Bounder(const BoundModel& model) {
  const FormatTraits& out = traits(model.arithmetic.output);
  const FormatTraits& acc = traits(model.arithmetic.accumulator);
  const double uOut = out.unitRoundoff() * (model.arithmetic.roundsStochastically ? 2 : 1);
  const double uAcc = acc.unitRoundoff();
  // H itself is an fp64 evaluation: where the result is fp64 too, its error is as large.
  const double truthError = model.arithmetic.accumulator == Format::Float64 ? 2 : 1;
  const double r = model.roundings;

  Line line;
  // A narrower output is rounded twice, to the accumulator first; and H is only an fp64 number.
  line.value = r * uOut + 0x1p-51 + (out.significandBits < acc.significandBits ? 2 * uAcc : 0);
  line.constant =
      r * (model.arithmetic.flushesSubnormals ? out.minNormal() : out.minSubnormal() / 2);
  expected_ = maximal_ = line;
  if (model.exactInAccumulator) {
    return;
  }
  // Products, quotients and exponentials on the way may be subnormal numbers of the accumulator;
  // sums of such are exact.
  const double etaAcc =
      model.arithmetic.flushesSubnormals ? acc.minNormal() : acc.minSubnormal() / 2;
  expected_.constant += model.coefficient * etaAcc;
  maximal_.constant += 2 * model.coefficient * etaAcc;
  if (model.opClass == OpClass::Elementary) {
    expected_.binade = model.coefficient * 2 * uAcc * truthError;
    // Table-driven engines are within two steps of a narrow format, not within one rounding.
    const bool narrow = out.significandBits < acc.significandBits;
    maximal_.binade = 2 * expected_.binade + (narrow ? 2 * 2 * out.unitRoundoff() : 0);
  } else {
    expected_.magnitude = model.coefficient * uAcc * truthError;
    maximal_.magnitude = 2 * expected_.magnitude;
  }
  const double k = model.length;
  if (sums(model.opClass) && k > 1) {
    const double worst = 2 * uAcc * k;  // a truncating accumulator errs by up to 2u each time
    expected_.magnitude += model.lambda * std::sqrt(k) * uAcc * truthError;
    maximal_.magnitude += worst / (1 - std::min(worst, 0.5)) * (1 + uOut) * truthError;
    expected_.constant += model.lambda * std::sqrt(k) * etaAcc;
    maximal_.constant += std::max(2 * k, model.lambda * std::sqrt(k)) * etaAcc;
  }
  // A short sum has no room between the two: the worst case is never the smaller bound.
  maximal_.magnitude = std::max(maximal_.magnitude, expected_.magnitude);
}

double Bounder::evaluate(const Line& line, double truth, double magnitude) {
  return line.value * std::abs(truth) + line.magnitude * magnitude + line.binade * binadeOf(truth) +
         line.constant;
}

Bound Bounder::at(double truth, double magnitude) const {
  if (!std::isfinite(truth)) {
    return {};
  }
  return {evaluate(expected_, truth, magnitude), evaluate(maximal_, truth, magnitude)};
}

NEURONCHECK_CLONES
void Bounder::runLines(Line e, Line m, std::size_t n, const double* truth, const double* magnitude,
                       double* expected, double* maximal) {
  // An output may be `magnitude` itself, place by place.
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::abs(truth[i]);
    const double s = std::abs(magnitude[i]);
    const double binade = binadeOf(h);
    const double low = e.value * h + e.magnitude * s + e.binade * binade + e.constant;
    const double high = m.value * h + m.magnitude * s + m.binade * binade + m.constant;
    const bool finite = h <= 0x1.fffffffffffffp1023;
    expected[i] = finite ? low : 0;
    maximal[i] = finite ? high : 0;
  }
}

void Bounder::run(std::span<const double> truth, std::span<const double> magnitude,
                  std::span<double> expected, std::span<double> maximal) const {
  const double* s = magnitude.empty() ? truth.data() : magnitude.data();
  const std::size_t rest = truth.size() % kLanes;
  const std::size_t whole = truth.size() - rest;
  runLines(expected_, maximal_, whole, truth.data(), s, expected.data(), maximal.data());
  if (rest != 0) {
    std::array<double, kLanes> h{}, m{}, low{}, high{};
    std::copy_n(truth.begin() + static_cast<std::ptrdiff_t>(whole), rest, h.begin());
    std::copy_n(s + whole, rest, m.begin());
    runLines(expected_, maximal_, kLanes, h.data(), m.data(), low.data(), high.data());
    std::copy_n(low.begin(), rest, expected.begin() + static_cast<std::ptrdiff_t>(whole));
    std::copy_n(high.begin(), rest, maximal.begin() + static_cast<std::ptrdiff_t>(whole));
  }
}

double Bounder::roundingAt(double truth) const {
  return expected_.value * std::abs(truth) + expected_.constant;
}

}  // namespace neuroncheck::numerics
