// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/dtype.h"
#include "numerics/tests/kernels/random.h"

namespace neuroncheck::numerics::testing {

/// What the comparisons in use elsewhere would let pass. `cpu` is the same operator worked out in
/// fp32 and rounded to the dtype, `truth` in fp64.
struct OtherRules {
  bool assertClose = false;  ///< torch.testing.assert_close with its defaults, against cpu
  bool dynamoSame = false;   ///< torch/_dynamo/utils.py same(), tol 1e-4 (fp32) or 1e-2
  bool cosine = false;       ///< cosine similarity with cpu of at least 0.99
  bool errorRatio = false;   ///< AWS's R = ||target - truth|| / ||cpu - truth|| below 1.2
};
[[nodiscard]] OtherRules otherRules(DType dtype, const Values& truth, const Values& cpu,
                                    const Values& actual);

}  // namespace neuroncheck::numerics::testing
