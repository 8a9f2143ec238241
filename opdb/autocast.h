// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/inventory.h"

namespace neuroncheck::opdb {

/// A subgraph that runs under torch.autocast.
struct AutocastRegion {
  std::string graph;
  std::optional<DType> dtype;  ///< absent where autocast is switched off
};

[[nodiscard]] std::vector<AutocastRegion> autocastRegions(const Model& model);

/// Autocast casts the operands before the operator is dispatched, and the graph does not show it: a
/// product of float32 and bfloat16 tensors is one of bfloat16 tensors when it runs. Returns the use
/// as it runs where its floating-point operands differ within an active region; nullopt where the
/// graph says what runs.
[[nodiscard]] std::optional<OpUse> asAutocastRunsIt(const OpUse& use,
                                                    const std::vector<AutocastRegion>& regions);

}  // namespace neuroncheck::opdb
