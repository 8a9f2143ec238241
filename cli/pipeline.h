// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/torch_client.h"
#include "core/result.h"
#include "core/run_record.h"
#include "opdb/database.h"
#include "scanner/open.h"

namespace neuroncheck::cli {

/// Opens the database of --db, else of neuron-check.toml, else the embedded one. The error says
/// where it looked.
[[nodiscard]] Result<opdb::Database> openDatabase(const Options& options);

/// What reading inputs needs beside the file; made once per command.
struct ScanContext {
  const opdb::Database& database;
  scanner::ScanOptions scan;
  bool weightsOnly = false;
};
/// Fails with Usage for an --input-shape or --load-library that cannot be. `torch` is asked when a
/// file needs libtorch, and must outlive the context.
[[nodiscard]] Result<ScanContext> scanContext(const Options& options,
                                              const opdb::Database& database, TorchClient& torch);

/// Reads one input. Never fails as a whole: what could not be read is in InputResult::error, with
/// the kind when it was found. A file of tensors without a program is an Error too, with what it
/// holds in the inventory; with `weightsOnly` it is a model without operators instead.
[[nodiscard]] InputResult scanInput(const std::string& path, const ScanContext& context);

/// Usage error when --input-shape or --load-library was given and all inputs were read, none of
/// which can take it.
[[nodiscard]] Result<void> checkScriptFlags(const Options& options,
                                            const std::vector<InputResult>& inputs);

/// Scans and judges every input. Stops between inputs when a signal arrived; the rest are then
/// reported as not read.
[[nodiscard]] Result<RunRecord> runCheck(const Options& options, const opdb::Database& database,
                                         std::vector<std::string> command);

/// Keeps the uses whose operator matches `pattern` (shell wildcards over "aten::add.Tensor"; empty
/// keeps all) and numbers them anew. Returns the number of uses left out, per model.
std::vector<std::size_t> filterOperators(Inventory& inventory, const std::string& pattern);

/// Operating system and machine, for RunRecord::environment.
[[nodiscard]] std::string hostName();

/// Exit code when a signal stopped the run (130 or 143), else `code`.
[[nodiscard]] int withSignal(int code);

}  // namespace neuroncheck::cli
