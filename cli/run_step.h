// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include "cli/options.h"
#include "conformance/plan/plan.h"
#include "core/result.h"
#include "core/run_record.h"
#include "opdb/database.h"

namespace neuroncheck::cli {

/// Usage error for a device that a case cannot be run on, or for flags of a run without one.
[[nodiscard]] Result<void> checkRunFlags(const Options& options);

/// Runs the cases of a plan on the device of --device and puts the outcomes, the device, what was
/// not run and the end into the record. With --run-file the file is written while cases run; with
/// --resume only what it has not ended is run. Progress goes to standard error. Unavailable error
/// when the device or neuron-check-torch is not there; Nothing when no case is left to run; Output
/// error when the run file cannot be begun. The value is the error of a run file that could not be
/// kept up: then the run was stopped, and what was found is in the record.
[[nodiscard]] Result<std::optional<Error>> runCases(RunRecord& record, conformance::Plan plan,
                                                    const Options& options,
                                                    const opdb::Database& database);

}  // namespace neuroncheck::cli
