// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/result.h"
#include "core/trace.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// Completes a target from what the user gave: newest release when empty, nearest older one of the
/// same product when the database does not know the release (then releaseKnown is false). Fails
/// with Usage for an unknown chip, or when the database has no release of the product.
[[nodiscard]] Result<Target> resolveTarget(const Database& database, Target wanted);

/// Judges every use of every model against the database, and runs the rules over the whole
/// inventory. `today` (ISO date) is what the ages of evidence are counted from. `traces`, one for
/// each model or none: a use whose case was dispatched is judged by what arrived at the backend.
/// The rules are those of docs/claims.md.
[[nodiscard]] Assessment assess(const Inventory& inventory, const Target& target,
                                const Database& database, std::string_view today,
                                const std::vector<ModelTrace>& traces = {});

}  // namespace neuroncheck::opdb
