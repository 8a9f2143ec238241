// SPDX-License-Identifier: Apache-2.0
#include "numerics/tests/mutation/other_rules.h"

#include <cmath>

#include "numerics/metrics/metrics.h"

namespace neuroncheck::numerics::testing {
namespace {

bool allclose(const Values& expected, const Values& actual, double rtol, double atol) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i];
    const double a = actual[i];
    const bool close = a == e || std::abs(a - e) <= atol + rtol * std::abs(e);
    if (!close || (std::isinf(e) && a != e)) {
      return false;
    }
  }
  return true;
}

double distance(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Equal infinities are no distance.
    sum += a[i] == b[i] ? 0 : (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(sum);
}

double rootMeanSquare(const Values& a, const Values& b) {
  return distance(a, b) / std::sqrt(static_cast<double>(a.size()));
}

/// The multipliers of same(): wider for narrow dtypes and for few elements.
double multiplier(bool narrow, std::size_t count, double tol) {
  if (count <= 10) {
    return 10;
  }
  if (count <= 500) {
    return 8;
  }
  return narrow || count < 1000 || tol >= 2e-2 ? 3 : 2;
}

bool cosineAbove(const Values& expected, const Values& actual, double least) {
  double product = 0, e2 = 0, a2 = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    product += expected[i] * actual[i];
    e2 += expected[i] * expected[i];
    a2 += actual[i] * actual[i];
  }
  return product / std::sqrt(e2 * a2) >= least;
}

}  // namespace

OtherRules otherRules(DType dtype, const Values& truth, const Values& cpu, const Values& actual) {
  OtherRules rules;
  rules.cosine = cosineAbove(cpu, actual, 0.99);
  const auto format = formatOf(dtype);
  if (!format) {
    rules.assertClose = rules.dynamoSame = rules.errorRatio = cpu == actual;
    return rules;
  }
  const bool narrow = *format == Format::BFloat16 || *format == Format::Float16;
  const AllcloseTolerance tolerance = assertCloseDefaults(*format);
  rules.assertClose = allclose(cpu, actual, tolerance.rtol, tolerance.atol);
  const double tol = narrow ? 1e-2 : 1e-4;
  const double allowed = multiplier(narrow, truth.size(), tol) * rootMeanSquare(truth, cpu);
  rules.dynamoSame =
      allclose(cpu, actual, tol, tol) || rootMeanSquare(truth, actual) <= allowed + tol / 10;
  // AWS leaves 0/0 open (an exact reference); an exact result passes.
  const double error = distance(actual, truth);
  rules.errorRatio = error == 0 || error / distance(cpu, truth) < 1.2;
  return rules;
}

}  // namespace neuroncheck::numerics::testing
