// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/torch_client.h"
#include "core/assessment.h"
#include "core/inventory.h"
#include "core/trace.h"
#include "opdb/database.h"

namespace neuroncheck::cli {

/// Dispatches the distinct cases of every model on neuron-check-torch's recorder with the release's
/// operators registered. One trace for each model. Unavailable error when there is no
/// neuron-check-torch; what single cases meet is in their results.
[[nodiscard]] Result<std::vector<ModelTrace>> traceModels(const Inventory& inventory,
                                                          const Target& target,
                                                          const opdb::Database& database,
                                                          const std::vector<std::string>& libraries,
                                                          TorchClient& torch);

}  // namespace neuroncheck::cli
