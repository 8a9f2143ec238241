// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/random_leaky.h"

#include <cmath>

#include <fmt/format.h>

#include "numerics/random/distribution_tests.h"
#include "numerics/random/p_values.h"

namespace neuroncheck::conformance {
namespace {

using numerics::Distribution;
using numerics::DistributionKind;
using numerics::Quantisation;
using numerics::RandomFinding;
using numerics::RandomTest;

/// Steps of the format that a few operations in it may be off by.
constexpr double kFewSteps = 4;

double stepOf(DType dtype) {
  const auto format = numerics::formatOf(dtype);
  return format ? 2 * numerics::traits(*format).unitRoundoff() : 0;
}

}  // namespace

Result<void> judgeLeaky(const Leaky& leaky, RandomFindings& out) {
  const auto n = static_cast<std::int64_t>(leaky.output.size());
  const double step = kFewSteps * stepOf(leaky.dtype);
  if (leaky.input.size() != leaky.output.size()) {
    return inputError("its operands differ in size");
  }
  const double mean = (leaky.lower + leaky.upper) / 2;
  out.what = leaky.training ? fmt::format("slopes of uniform({}, {})", leaky.lower, leaky.upper)
                            : fmt::format("a slope of {}", mean);
  out.deterministic = !leaky.training || leaky.lower == leaky.upper;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < leaky.input.size(); ++i) {
    const double x = leaky.input[i];
    const double y = leaky.output[i];
    const bool noisy = leaky.training && !leaky.noise.empty();
    const double slope = x > 0 ? 1 : (leaky.training ? (noisy ? leaky.noise[i] : y / x) : mean);
    if (std::abs(y - slope * x) > step * std::abs(x) && x != 0) {
      out.outputs[0].push_back(numerics::failed(
          RandomTest::Support, n, fmt::format("element {} is {} of input {}", i, y, x)));
      return {};
    }
    if (x < 0 && leaky.training) {
      if (!(slope >= leaky.lower - step && slope <= leaky.upper + step)) {
        out.outputs[0].push_back(numerics::failed(
            RandomTest::Support, n, fmt::format("the slope of element {} is {}", i, slope)));
        return {};
      }
      slopes.push_back(slope);
    }
  }
  out.outputs[0].push_back(numerics::passed(RandomTest::Support, n, out.what));
  if (leaky.training && leaky.lower < leaky.upper) {
    NEURONCHECK_TRY(const Distribution uniform,
                    Distribution::make(DistributionKind::Uniform, leaky.lower, leaky.upper));
    out.outputs[0].push_back(
        numerics::kolmogorovSmirnovTest(slopes, uniform, Quantisation::of(leaky.dtype, uniform)));
  }
  if (out.outputs.size() > 1) {
    out.outputs[1].push_back(
        numerics::passed(RandomTest::Support, n, "the slopes are those of the output"));
  }
  return {};
}

RandomFinding alphaDropoutTest(DType dtype, const std::vector<double>& input,
                               const std::vector<double>& output, double p) {
  const auto n = static_cast<std::int64_t>(output.size());
  const double step = kFewSteps * stepOf(dtype);
  if (p <= 0 || p >= 1) {
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (output[i] != (p <= 0 ? input[i] : 0)) {
        return numerics::failed(RandomTest::Dropout, n,
                                fmt::format("p = {} leaves {}", p, output[i]));
      }
    }
    return numerics::passed(RandomTest::Dropout, n, fmt::format("p = {}", p));
  }
  constexpr double kAlpha = 1.7580993408473766;  // of SELU
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const double kept = kAlpha * a * p;
  const double dropped = kept - kAlpha * a;
  std::int64_t ones = 0;
  std::int64_t told = 0;
  for (std::size_t i = 0; i < output.size() && i < input.size(); ++i) {
    const double whole = a * input[i] + kept;
    const double room = step * (std::abs(a * input[i]) + kAlpha * a);
    const bool isKept = std::abs(output[i] - whole) <= room;
    const bool isDropped = std::abs(output[i] - dropped) <= step * kAlpha * a;
    if (!isKept && !isDropped) {
      return numerics::failed(RandomTest::Dropout, n,
                              fmt::format("element {} of input {} is {}, neither {} nor {}", i,
                                          input[i], output[i], whole, dropped));
    }
    if (isKept != isDropped) {
      ++told;
      ones += isDropped ? 1 : 0;
    }
  }
  const double chance = numerics::twoSidedBinomial(ones, told, p);
  std::string words =
      fmt::format("{} of {} elements dropped at p = {}, chance {:.2g}", ones, told, p, chance);
  if (numerics::twoSidedBinomial(0, told, p) > numerics::kFailBelow) {
    return numerics::mistrusted(RandomTest::Dropout, n, std::move(words));
  }
  return numerics::firstStage(RandomTest::Dropout, static_cast<double>(ones), chance, n,
                              std::move(words));
}

}  // namespace neuroncheck::conformance
