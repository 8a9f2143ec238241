// SPDX-License-Identifier: Apache-2.0
#include "numerics/random/distribution.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/cauchy.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/geometric.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <boost/math/distributions/uniform.hpp>
#include <cmath>

namespace neuroncheck::numerics {
namespace {

namespace bm = boost::math;
using bm::policies::discrete_quantile;
using bm::policies::domain_error;
using bm::policies::errno_on_error;
using bm::policies::overflow_error;

// Values and infinities instead of exceptions; a quantile that is an integer and not a fraction.
using Policy = bm::policies::policy<domain_error<errno_on_error>, overflow_error<errno_on_error>,
                                    discrete_quantile<bm::policies::integer_round_up>,
                                    bm::policies::promote_double<false>>;

constexpr std::array<std::string_view, 10> kNames = {
    "uniform", "normal",    "exponential", "lognormal", "cauchy",
    "gamma",   "geometric", "poisson",     "binomial",  "integers"};

/// Calls `use` with Boost's distribution and the argument that Boost understands.
template <typename Use>
double withBoost(const Distribution& d, Use use) {
  const double a = d.a();
  const double b = d.b();
  switch (d.kind()) {
    case DistributionKind::Uniform:
      return use(bm::uniform_distribution<double, Policy>(a, b));
    case DistributionKind::Normal:
      return use(bm::normal_distribution<double, Policy>(a, b));
    case DistributionKind::Exponential:
      return use(bm::exponential_distribution<double, Policy>(a));
    case DistributionKind::LogNormal:
      return use(bm::lognormal_distribution<double, Policy>(a, b));
    case DistributionKind::Cauchy:
      return use(bm::cauchy_distribution<double, Policy>(a, b));
    case DistributionKind::Gamma:
      return use(bm::gamma_distribution<double, Policy>(a));
    case DistributionKind::Geometric:
      return use(bm::geometric_distribution<double, Policy>(a));
    case DistributionKind::Poisson:
      return use(bm::poisson_distribution<double, Policy>(a));
    case DistributionKind::Binomial:
      return use(bm::binomial_distribution<double, Policy>(a, b));
    case DistributionKind::Integers:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Boost counts the failures before a success, torch the trial of the success.
double boostArgument(DistributionKind kind, double x) {
  const double whole = kind >= DistributionKind::Geometric ? std::floor(x) : x;
  return kind == DistributionKind::Geometric ? whole - 1 : whole;
}

double lowEdge(const Distribution& d) {
  switch (d.kind()) {
    case DistributionKind::Uniform:
    case DistributionKind::Integers:
      return d.a();
    case DistributionKind::Normal:
    case DistributionKind::Cauchy:
      return -std::numeric_limits<double>::infinity();
    case DistributionKind::Geometric:
      return 1;
    default:
      return 0;
  }
}

double highEdge(const Distribution& d) {
  switch (d.kind()) {
    case DistributionKind::Uniform:
      return d.b();
    case DistributionKind::Integers:
      return d.b() - 1;
    case DistributionKind::Binomial:
      return d.a();
    default:
      return std::numeric_limits<double>::infinity();
  }
}

bool parametersFit(DistributionKind kind, double a, double b) {
  switch (kind) {
    case DistributionKind::Uniform:
      return a < b;
    case DistributionKind::Integers:
      return a < b && a == std::floor(a) && b == std::floor(b);
    case DistributionKind::Normal:
    case DistributionKind::LogNormal:
    case DistributionKind::Cauchy:
      return b > 0;
    case DistributionKind::Exponential:
    case DistributionKind::Gamma:
    case DistributionKind::Poisson:
      return a > 0;
    case DistributionKind::Geometric:
      return a > 0 && a < 1;
    case DistributionKind::Binomial:
      return a >= 1 && a == std::floor(a) && b > 0 && b < 1;
  }
  return false;
}

}  // namespace

std::string_view name(DistributionKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

Result<Distribution> Distribution::make(DistributionKind kind, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b) || !parametersFit(kind, a, b)) {
    return inputError(fmt::format("{}({}, {}) is no distribution", name(kind), a, b));
  }
  return Distribution(kind, a, b);
}

double Distribution::cdf(double x) const {
  if (x < lowEdge(*this)) {
    return 0;
  }
  if (x >= highEdge(*this)) {
    return 1;
  }
  if (kind_ == DistributionKind::Integers) {
    return (std::floor(x) - a_ + 1) / (b_ - a_);
  }
  const double at = boostArgument(kind_, x);
  return withBoost(*this, [at](const auto& boost) { return bm::cdf(boost, at); });
}

double Distribution::upperTail(double x) const {
  if (x < lowEdge(*this)) {
    return 1;
  }
  if (x >= highEdge(*this)) {
    return 0;
  }
  if (kind_ == DistributionKind::Integers) {
    return (b_ - 1 - std::floor(x)) / (b_ - a_);
  }
  const double at = boostArgument(kind_, x);
  return withBoost(*this, [at](const auto& boost) { return bm::cdf(bm::complement(boost, at)); });
}

double Distribution::quantile(double p) const {
  if (kind_ == DistributionKind::Integers) {
    return std::min(a_ + std::ceil(p * (b_ - a_)) - 1, b_ - 1);
  }
  const double at = withBoost(*this, [p](const auto& boost) { return bm::quantile(boost, p); });
  if (kind_ != DistributionKind::Geometric) {
    return at;
  }
  // Boost's geometric quantile is no integer; the one above, or its neighbour after rounding.
  const double trial = std::max(std::ceil(at + 1), 1.0);
  if (cdf(trial) < p) {
    return trial + 1;
  }
  return cdf(trial - 1) >= p ? trial - 1 : trial;
}

bool Distribution::canBe(double x) const {
  if (!std::isfinite(x) || (isDiscrete() && x != std::floor(x))) {
    return false;
  }
  switch (kind_) {
    case DistributionKind::Uniform:
      return x >= a_ && x < b_;
    case DistributionKind::Exponential:
    case DistributionKind::LogNormal:
      return x > 0;
    default:
      return x >= lowEdge(*this) && x <= highEdge(*this);
  }
}

std::string Distribution::str() const {
  const bool one = kind_ == DistributionKind::Exponential || kind_ == DistributionKind::Gamma ||
                   kind_ == DistributionKind::Geometric || kind_ == DistributionKind::Poisson;
  return one ? fmt::format("{}({})", name(kind_), a_)
             : fmt::format("{}({}, {})", name(kind_), a_, b_);
}

Quantisation Quantisation::of(DType dtype, const Distribution& distribution) {
  Quantisation result;
  result.format = formatOf(dtype).value_or(Format::Float64);
  if (distribution.kind() == DistributionKind::Uniform) {
    result.origin = distribution.a();
    result.grid = (distribution.b() - distribution.a()) * traits(result.format).unitRoundoff();
  }
  return result;
}

double Quantisation::stepAt(double x) const { return std::max(ulp(format, x), grid); }

double Quantisation::below(double x) const {
  // At a positive power of two the neighbour below is half an ulp away.
  const double half = x - ulp(format, x) / 2;
  const bool isHalf = x > 0 && roundTo(format, half) == half;
  return std::min(isHalf ? half : roundTo(format, x - ulp(format, x)), x - grid);
}

double Quantisation::snap(double x) const {
  const double onGrid = grid > 0 ? origin + std::round((x - origin) / grid) * grid : x;
  return roundTo(format, onGrid);
}

bool Quantisation::isFine(const Distribution& distribution) const {
  constexpr double kFine = 0x1p-20;
  const double scale =
      distribution.kind() == DistributionKind::Uniform ? distribution.b() - distribution.a() : 1;
  return traits(format).unitRoundoff() <= kFine && grid <= kFine * scale;
}

}  // namespace neuroncheck::numerics
