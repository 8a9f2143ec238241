// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options.h"
#include "conformance/plan/plan.h"
#include "core/result.h"
#include "core/run_record.h"
#include "opdb/database.h"

namespace neuroncheck::cli {

/// Usage error for a device that a case cannot be run on, or for flags of a run without one.
[[nodiscard]] Result<void> checkRunFlags(const Options& options);

/// Runs the cases of a plan on the device of --device and puts the outcomes, the device and what
/// was not run into the record. Progress goes to standard error. Unavailable error when the device
/// or neuron-check-torch is not there; Nothing when no case is left to run.
[[nodiscard]] Result<void> runCases(RunRecord& record, conformance::Plan plan,
                                    const Options& options, const opdb::Database& database);

}  // namespace neuroncheck::cli
