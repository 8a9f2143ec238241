// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::runstore {

/// Version of the run file's tables (PRAGMA user_version).
inline constexpr int kRunFileVersion = 2;

/// Writes a run to one SQLite file, replacing `path` only when all of it is written. Output error
/// when it cannot be written.
[[nodiscard]] Result<void> save(const RunRecord& record, const std::string& path);

/// Reads a run back, equal to what was saved but for Error::where. Input error for a file that is
/// no run file, is damaged, or is of a newer version than kRunFileVersion (both named). Older
/// versions are read: version 1 has no outcomes. The file may be read-only, and may be one that a
/// run is still writing or that died: what it has committed is read.
[[nodiscard]] Result<RunRecord> load(const std::string& path);

/// Whether a file says that it is a run file; it may be damaged all the same.
[[nodiscard]] bool isRunFile(const std::string& path);

}  // namespace neuroncheck::runstore
