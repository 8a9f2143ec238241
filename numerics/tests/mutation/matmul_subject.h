// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numerics/tests/kernels/contraction.h"
#include "numerics/tests/mutation/subject.h"

namespace neuroncheck::numerics::testing {

/// A matrix product with its hypotheses and the twelve faults of the mutation table.
[[nodiscard]] Subject matmulSubject(DType dtype, Family family);

}  // namespace neuroncheck::numerics::testing
