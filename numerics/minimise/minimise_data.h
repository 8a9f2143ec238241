// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "numerics/minimise/ddmin.h"

namespace neuroncheck::numerics {

/// The values of the operands of one case, one vector each.
using OperandValues = std::vector<std::vector<double>>;

/// Which of an operand's values matter for one element of the output: for a matrix product the row
/// and the column of the worst element, for elementwise operators one value each. Everything else
/// is set to zero first, in one test.
using Contributors = std::vector<std::vector<std::size_t>>;

struct MinimisedData {
  OperandValues values;
  std::size_t nonZero = 0;  ///< values that are left
  std::size_t tests = 0;
  bool complete = false;
};

/// Simplifies values while `interesting` holds: those outside `contributors` become zero; of the
/// rest as many as possible do (ddmin); what is left loses significand bits, then becomes a power
/// of two, then one. Values stay numbers of their dtype: only bits are taken away.
[[nodiscard]] MinimisedData minimiseData(
    const OperandValues& values, const Contributors& contributors,
    const std::function<bool(const OperandValues&)>& interesting, const MinimiseBudget& budget);

/// The fewest settings (environment variables, compiler flags) under which `interesting` holds.
[[nodiscard]] std::vector<std::string> minimiseSettings(
    const std::vector<std::string>& settings,
    const std::function<bool(const std::vector<std::string>&)>& interesting,
    const MinimiseBudget& budget);

}  // namespace neuroncheck::numerics
