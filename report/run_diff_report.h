// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/run_diff.h"

namespace neuroncheck::report {

/// Writes what changed between two runs as "terminal", "md" (the same lines, as a list) or "json"
/// ("neuron-check/run-diff/1"). `simulated`: one of them ran on a simulated device, which is said.
/// Usage error for any other format.
[[nodiscard]] Result<void> writeRunDiff(const RunDiff& diff, bool simulated,
                                        std::string_view format, std::ostream& out);

}  // namespace neuroncheck::report
