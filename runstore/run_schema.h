// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/inventory_json.h"
#include "core/result.h"
#include "core/run_json.h"
#include "core/run_record.h"

namespace neuroncheck::runstore {

/// "NCRF": tells a run file from any other SQLite file.
inline constexpr int kApplicationId = 0x4E435246;
extern const char* const kCreateTables;

/// Writes `record` into an open, empty database. Throws SQLite::Exception.
void writeRun(SQLite::Database& database, const RunRecord& record);
/// Reads it back. Throws SQLite::Exception; damaged content is an Error.
[[nodiscard]] Result<RunRecord> readRun(const SQLite::Database& database);

[[nodiscard]] std::string_view name(ErrorCode code);
[[nodiscard]] ErrorCode parseErrorCode(std::string_view text);

[[nodiscard]] Json toJson(const LeafClaim& leaf);
[[nodiscard]] Json toJson(const NotChecked& entry);
/// The inverses; a missing or ill-typed field throws nlohmann's exception, which load turns into an
/// Error.
void fromJson(const Json& json, LeafClaim& leaf);
void fromJson(const Json& json, NotChecked& entry);

}  // namespace neuroncheck::runstore
