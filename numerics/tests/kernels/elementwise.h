// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "numerics/tests/kernels/machine.h"

namespace neuroncheck::numerics::testing {

/// An elementwise operator: its definition, and how a machine works it out.
struct Elementwise {
  std::string_view name;
  bool binary = false;
  bool oneFunction = false;         ///< of a table or a series, not of a formula of several steps
  double low = -4, high = 4;        ///< where its inputs are drawn from
  double (*truth)(double, double);  ///< in fp64; the second operand is unused by unary ones
  double (*onMachine)(const Machine&, double, double);
  double (*magnitude)(double, double);  ///< S; null: |H|
};
[[nodiscard]] std::span<const Elementwise> elementwiseOps();

[[nodiscard]] Values apply(const std::function<double(double, double)>& f, const Values& x,
                           const Values& y);

}  // namespace neuroncheck::numerics::testing
