// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/model_diff.h"
#include "core/result.h"

namespace neuroncheck::report {

/// Writes what changed between models, one ModelDiff per pair, as "terminal", "json"
/// ("neuron-check/diff/1") or "md". Usage error for any other format.
[[nodiscard]] Result<void> writeDiff(const std::vector<ModelDiff>& diffs, const Target& target,
                                     std::string_view format, std::ostream& out);

}  // namespace neuroncheck::report
