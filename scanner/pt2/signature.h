// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/inventory.h"
#include "core/result.h"
#include "scanner/pt2/json.h"
#include "scanner/pt2/values.h"

namespace neuroncheck::scanner::pt2 {

/// Fills `model.inputs`, `model.outputs` and, from the former, `model.stored` out of a
/// `GraphSignature`. Its lists are parallel to the graph's inputs and outputs; another length is an
/// Error.
[[nodiscard]] Result<void> readSignature(Json signature, const std::vector<ArgValue>& graphInputs,
                                         const std::vector<ArgValue>& graphOutputs, Model& model,
                                         Notes& notes);

}  // namespace neuroncheck::scanner::pt2
