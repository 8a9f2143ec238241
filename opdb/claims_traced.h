// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/inventory.h"
#include "core/trace.h"
#include "opdb/claims_engine.h"

namespace neuroncheck::opdb {

/// The answer for a use whose case was dispatched: the worst of what arrived at the backend, each
/// judged as a use of its own; unsupported when it raised. `traced.notTraced` must be empty.
[[nodiscard]] Judgement judgeTraced(RuleEngine& engine, const OpUse& use, const TracedCase& traced);

}  // namespace neuroncheck::opdb
