// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/assessment.h"
#include "core/inventory_json.h"
#include "core/run_record.h"

namespace neuroncheck {

/// What every report and run file says of the target: product, release, answering_release,
/// release_known, chip, mode, and under `defaulted` whether release, chip and mode were chosen by
/// nobody.
[[nodiscard]] Json toJson(const Target& target);
/// The versions a run was made with, "unknown" where not known; `host` is null when not recorded.
[[nodiscard]] Json toJson(const Environment& environment);

/// The inverses. A missing or ill-typed field throws nlohmann::json::exception, an unknown mode
/// std::runtime_error.
void fromJson(const Json& json, Target& target);
void fromJson(const Json& json, Environment& environment);

}  // namespace neuroncheck
