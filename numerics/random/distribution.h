// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "numerics/format/float_format.h"

namespace neuroncheck::numerics {

/// The distributions of torch's samplers, with their parameters in torch's order.
enum class DistributionKind : std::uint8_t {
  Uniform,      ///< [a, b): rand, uniform_
  Normal,       ///< mean a, standard deviation b: randn, normal_
  Exponential,  ///< rate a
  LogNormal,    ///< mean a and standard deviation b of the logarithm
  Cauchy,       ///< median a, scale b
  Gamma,        ///< shape a, rate 1: _standard_gamma
  Geometric,    ///< success probability a; the number of the first success, 1, 2, ...
  Poisson,      ///< rate a
  Binomial,     ///< a trials of probability b
  Integers,     ///< a, ..., b - 1 alike: randint, random_
};
[[nodiscard]] std::string_view name(DistributionKind kind);

/// One distribution. Its functions come from Boost.Math.
class Distribution {
 public:
  /// An Error when the parameters are outside the distribution's domain.
  [[nodiscard]] static Result<Distribution> make(DistributionKind kind, double a, double b = 1);

  [[nodiscard]] DistributionKind kind() const { return kind_; }
  [[nodiscard]] double a() const { return a_; }
  [[nodiscard]] double b() const { return b_; }
  [[nodiscard]] bool isDiscrete() const { return kind_ >= DistributionKind::Geometric; }
  /// P(X <= x).
  [[nodiscard]] double cdf(double x) const;
  /// P(X > x), without the cancellation of 1 - cdf(x).
  [[nodiscard]] double upperTail(double x) const;
  /// Smallest x with cdf(x) >= p, for p in (0, 1).
  [[nodiscard]] double quantile(double p) const;
  /// True when X can take the value x. What torch promises at the edges: uniform never returns b,
  /// exponential and lognormal never 0 (aten/src/ATen/native/TransformationHelper.h, torch 2.13).
  [[nodiscard]] bool canBe(double x) const;
  /// "normal(0, 1)".
  [[nodiscard]] std::string str() const;

 private:
  Distribution(DistributionKind kind, double a, double b) : kind_(kind), a_(a), b_(b) {}

  DistributionKind kind_;
  double a_;
  double b_;
};

/// How the values of a continuous distribution reached the buffer. A test must not mistake the
/// steps of a narrow format for an error of the generator: bf16 alone moves the distribution
/// function of uniform numbers by up to 2^-8.
struct Quantisation {
  Format format = Format::Float64;  ///< the output's
  /// Spacing of a grid coarser than the format's, 0 when there is none: uniform numbers are k 2^-p.
  double grid = 0;
  double origin = 0;  ///< a point of that grid

  /// The format of a dtype and the grid torch's uniform sampler has there. Float64 for dtypes
  /// without a format.
  [[nodiscard]] static Quantisation of(DType dtype, const Distribution& distribution);
  /// Distance of `x` to the next value above that can occur.
  [[nodiscard]] double stepAt(double x) const;
  /// The largest value that can occur below `x`, itself one that can occur.
  [[nodiscard]] double below(double x) const;
  /// `x` moved to a value that can occur.
  [[nodiscard]] double snap(double x) const;
  /// Too fine to be seen with any number of samples that we draw.
  [[nodiscard]] bool isFine(const Distribution& distribution) const;
};

}  // namespace neuroncheck::numerics
