// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/p_values.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/kolmogorov_smirnov.hpp>
#include <cmath>
#include <numbers>

#include "core/result.h"

namespace neuroncheck::numerics {
namespace {

namespace bm = boost::math;
using Policy = bm::policies::policy<bm::policies::domain_error<bm::policies::errno_on_error>,
                                    bm::policies::overflow_error<bm::policies::errno_on_error>,
                                    bm::policies::underflow_error<bm::policies::ignore_error>,
                                    bm::policies::promote_double<false>>;

double probability(double p) { return std::clamp(p, 0.0, 1.0); }

}  // namespace

double twoSidedNormal(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

double kolmogorovSmirnovTail(double d, std::int64_t n) {
  // Boost's series gives -0 and values a little above 1 at the ends.
  const bm::kolmogorov_smirnov_distribution<double, Policy> distribution(static_cast<double>(n));
  return d <= 0 ? 1 : probability(bm::cdf(bm::complement(distribution, d)));
}

double kolmogorovSmirnovLimit(double alpha, std::int64_t n) {
  const bm::kolmogorov_smirnov_distribution<double, Policy> distribution(static_cast<double>(n));
  return bm::quantile(bm::complement(distribution, alpha));
}

double twoSidedChiSquare(double statistic, double degrees) {
  const bm::chi_squared_distribution<double, Policy> distribution(degrees);
  const double below = bm::cdf(distribution, statistic);
  const double above = bm::cdf(bm::complement(distribution, statistic));
  return probability(2 * std::min(below, above));
}

double twoSidedBinomial(std::int64_t count, std::int64_t n, double p) {
  if (p <= 0 || p >= 1) {
    return count == (p <= 0 ? 0 : n) ? 1 : 0;
  }
  const bm::binomial_distribution<double, Policy> distribution(static_cast<double>(n), p);
  return probability(
      2 * std::min(bm::cdf(distribution, static_cast<double>(count)), upperBinomial(count, n, p)));
}

double upperBinomial(std::int64_t count, std::int64_t n, double p) {
  if (count <= 0 || p >= 1) {
    return 1;
  }
  if (p <= 0 || count > n) {
    return 0;
  }
  const bm::binomial_distribution<double, Policy> distribution(static_cast<double>(n), p);
  return probability(bm::cdf(bm::complement(distribution, static_cast<double>(count - 1))));
}

double pearson(std::span<const std::int64_t> observed, std::span<const double> expected) {
  NEURONCHECK_CHECK(observed.size() == expected.size(), "a bin without an expectation");
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double difference = static_cast<double>(observed[i]) - expected[i];
    sum += difference * difference / expected[i];
  }
  return sum;
}

}  // namespace neuroncheck::numerics
