// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

enum class Reduction : std::uint8_t { Sum, Mean, Var, Norm, Prod, LogSumExp, CumSum };
[[nodiscard]] std::string_view name(Reduction reduction);

struct ReductionOptions {
  double correction = 1;    ///< of var: the divisor is n - correction
  bool naiveVar = false;    ///< var as mean(x^2) - mean(x)^2
  bool subtractMax = true;  ///< of logsumexp
  bool takeRoot = true;     ///< of norm
};

/// Over the last dimension of x[rows, n]; [rows], or [rows, n] for CumSum.
[[nodiscard]] Values reduce(const Machine& machine, Reduction reduction, std::int64_t rows,
                            std::int64_t n, const Values& x, const ReductionOptions& options = {});
/// S, of the same shape.
[[nodiscard]] Values reduceMagnitude(Reduction reduction, std::int64_t rows, std::int64_t n,
                                     const Values& x);
/// S of the formulas that cancel more; empty where there is none.
[[nodiscard]] Values reduceUnstable(Reduction reduction, std::int64_t rows, std::int64_t n,
                                    const Values& x);

}  // namespace neuroncheck::numerics::testing
