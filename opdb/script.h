// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "opdb/claims.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The claim of an operator of which only the name is known (a call in TorchScript source): that of
/// every overload the name may mean, with nothing known of its operands. Where all of them are
/// refused, or all fall back, so is the call, with low confidence; else unknown.
[[nodiscard]] UseClaim claimOfName(const OpUse& use, const Database& database, ClaimEngine& engine);

/// What a TorchScript method leaves open: shapes that the file does not record, operators known by
/// name only, calls that were not followed.
[[nodiscard]] std::vector<NotChecked> openInScript(const Model& model);

/// Whether the method may use operators that are not listed or not known, or works on tensors of
/// which nothing is known: then nothing makes it ready.
[[nodiscard]] bool isPartlyRead(const Model& model);

}  // namespace neuroncheck::opdb
