// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/inventory_json.h"
#include "core/result.h"
#include "core/run_json.h"
#include "core/run_record.h"

namespace neuroncheck::runstore {

/// "NCRF": tells a run file from any other SQLite file.
inline constexpr int kApplicationId = 0x4E435246;
extern const char* const kCreateTables;

/// Text that repeats, each once: other tables hold its id.
class TextTable {
 public:
  explicit TextTable(SQLite::Database& database);
  [[nodiscard]] std::int64_t id(const std::string& value);

 private:
  SQLite::Database& database_;
  SQLite::Statement insert_, find_;
  std::unordered_map<std::string, std::int64_t> known_;
};

/// The tables case, outcome, attempt and metric. All throw SQLite::Exception.
class OutcomeTables {
 public:
  OutcomeTables(SQLite::Database& database, TextTable& texts);
  /// The case at a place of the plan, and what is known of it.
  void plan(std::size_t position, const Outcome& outcome);
  /// Replaces what is known of a planned case.
  void put(std::size_t position, const Outcome& outcome);

 private:
  void putAttempt(std::int64_t position, std::int64_t number, const AttemptOutcome& attempt);

  TextTable& texts_;
  SQLite::Statement case_, outcome_, attempt_, metric_, dropAttempts_, dropMetrics_;
};

/// The outcomes in the order of their plan. `texts` by id.
[[nodiscard]] std::vector<Outcome> readOutcomes(const SQLite::Database& database,
                                                const std::map<std::int64_t, std::string>& texts);

/// Writes `record` into an open, empty database. Throws SQLite::Exception.
void writeRun(SQLite::Database& database, const RunRecord& record);
/// What is only known when a run has ended: replaces what writeRun wrote of it.
void writeEnd(SQLite::Database& database, const RunRecord& record);
/// Reads a file of any version up to ours back. Throws SQLite::Exception; damaged content is an
/// Error.
[[nodiscard]] Result<RunRecord> readRun(const SQLite::Database& database, int version);

[[nodiscard]] std::string_view name(ErrorCode code);
[[nodiscard]] ErrorCode parseErrorCode(std::string_view text);

[[nodiscard]] Json toJson(const LeafClaim& leaf);
[[nodiscard]] Json toJson(const NotChecked& entry);
/// The inverses; a missing or ill-typed field throws nlohmann's exception, which load turns into an
/// Error.
void fromJson(const Json& json, LeafClaim& leaf);
void fromJson(const Json& json, NotChecked& entry);

}  // namespace neuroncheck::runstore
