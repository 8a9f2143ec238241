// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "numerics/random/distribution.h"
#include "numerics/random/random_finding.h"

namespace neuroncheck::numerics {

// Does a sample follow its distribution? Each test gives a first-stage finding; judgeInTwoStages()
// asks again. KS sees errors of scale and location, the bins what happens within and beyond them:
// at n = 65,536 a tail cut at 2.5 sigma moves D by 0.006 only, but empties a tail bin. NaN and
// values a distribution cannot take are the support test's.

/// Fails when a value is one the distribution cannot take: NaN, 1 from uniform(0, 1), 0 from an
/// exponential, a fraction from an integer distribution. No chance is involved, so no retry.
[[nodiscard]] RandomFinding supportTest(std::span<const double> samples,
                                        const Distribution& distribution);

/// Kolmogorov-Smirnov for continuous distributions. `statistic` is the largest distance of the
/// empirical distribution function to what *some* rounding of exact values to `quantisation`
/// allows, so that steps of a narrow format are never taken for errors. Mistrusted below 1,000
/// samples.
[[nodiscard]] RandomFinding kolmogorovSmirnovTest(std::span<const double> samples,
                                                  const Distribution& distribution,
                                                  const Quantisation& quantisation);
/// The textbook statistic, without regard to quantisation.
[[nodiscard]] double kolmogorovSmirnovDistance(std::span<const double> samples,
                                               const Distribution& distribution);

/// Chi-square. Continuous: 64 bins of equal probability and tail bins at 2.5, 3 and 4 sigma (of a
/// normal variate of the same probability), merged until each expects 50; the rounding to the
/// format may be any of nearest, down, up, toward zero, and nearest with the upper edge folded to
/// the lower (torch's uniform on CUDA): the best explanation counts. Discrete: one bin per value,
/// merged likewise. Mistrusted when fewer than two bins remain.
[[nodiscard]] RandomFinding chiSquareTest(std::span<const double> samples,
                                          const Distribution& distribution,
                                          const Quantisation& quantisation);

/// Counts beyond 2.5, 3 and 4 sigma on either side against the binomial, exactly, with the smallest
/// p times the number of counts. Continuous distributions only.
[[nodiscard]] RandomFinding tailCountTest(std::span<const double> samples,
                                          const Distribution& distribution,
                                          const Quantisation& quantisation);

/// Successes of a Bernoulli sampler, with p in [0, 1]: every value 0 or 1 (else Fail), and their
/// number by the exact binomial. p = 0 and p = 1 are exact. Mistrusted when no count would fail.
[[nodiscard]] RandomFinding bernoulliTest(std::span<const double> samples, double p);
/// The same with a probability for each element: exact where it is 0 or 1, and the sum of the
/// others within the normal approximation. `probabilities` has the size of `samples`.
[[nodiscard]] RandomFinding bernoulliTest(std::span<const double> samples,
                                          std::span<const double> probabilities);

/// Everything above that applies to `distribution`.
[[nodiscard]] std::vector<SampleTest> distributionTests(const Distribution& distribution,
                                                        const Quantisation& quantisation);

}  // namespace neuroncheck::numerics
