// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "torch_host/casework/execution.h"

namespace neuroncheck::casework {

/// The very numbers of the operands, computed in fp64 (complex128). Numbers among the arguments are
/// rounded to fp32 first where a kernel of the case's dtypes would get them so (`roundNumbers`).
/// With `defaultDouble` a dtype that the case leaves open is fp64.
[[nodiscard]] Manner inFloat64(bool roundNumbers, bool defaultDouble);
/// The same in fp32, for operands that are narrower.
[[nodiscard]] Manner inFloat32();
/// fp64 on operands changed as a hypothesis says ("bf16-inputs", "int64-as-int32", ...); nullopt
/// for one that is not about operands.
[[nodiscard]] std::optional<Manner> underHypothesis(std::string_view name, bool roundNumbers);

/// Whether kernels get the numbers of this case in fp32: it has floating-point operands, none of
/// them fp64.
[[nodiscard]] bool computesInFloat32(const CaseSpec& spec);

}  // namespace neuroncheck::casework
