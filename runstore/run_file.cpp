// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/replace_file.h"
#include "runstore/run_lock.h"
#include "runstore/run_schema.h"

namespace neuroncheck::runstore {
namespace {

constexpr std::string_view kSqliteMagic = "SQLite format 3";

Result<int> checkVersion(const SQLite::Database& database, const std::string& path) {
  SQLite::Statement query(
      database,
      "SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version)");
  query.executeStep();
  if (query.getColumn(0).getInt() != kApplicationId) {
    return inputError(fmt::format("{}: a SQLite file, but no run file of neuron-check", path));
  }
  const int version = query.getColumn(1).getInt();
  if (version > kRunFileVersion) {
    return inputError(fmt::format(
        "{}: run file version {}, this program knows {} and older: use a newer neuron-check", path,
        version, kRunFileVersion));
  }
  return version;
}

/// A file from elsewhere must not run anything of its own: a view that stands for a table can count
/// without end.
Result<void> harden(const SQLite::Database& database, const std::string& path) {
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  SQLite::Statement foreign(database,
                            "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', "
                            "'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1");
  if (foreign.executeStep()) {
    return inputError(fmt::format("{}: the run file contains the {} '{}', which none has", path,
                                  foreign.getColumn(0).getString(),
                                  foreign.getColumn(1).getString()));
  }
  return {};
}

Result<void> checkMagic(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return inputError(fmt::format("{}: no regular file, so no run file of neuron-check", path));
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return inputError(
        fmt::format("{}: cannot be opened: {}", path, std::generic_category().message(errno)));
  }
  std::string head(100, '\0');
  const std::size_t got = std::fread(head.data(), 1, head.size(), file);
  std::fclose(file);  // NOLINT(cert-err33-c): read only
  if (got != head.size() || !head.starts_with(kSqliteMagic)) {
    return inputError(fmt::format("{}: no run file of neuron-check (not a SQLite file)", path));
  }
  // SQLite opens a file that lost its last pages as long as no query needs them.
  const auto byte = [&head](std::size_t at) {
    return std::uint64_t{static_cast<unsigned char>(head[at])};
  };
  const std::uint64_t stated = byte(16) << 8 | byte(17);
  const std::uint64_t pageSize = stated == 1 ? 65536 : stated;
  const std::uint64_t pages = byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31);
  std::error_code error;
  // A run that died while it moved pages from its log has the missing ones there.
  const bool logged = std::filesystem::exists(path + "-wal", error);
  if (!logged && (std::filesystem::file_size(path, error) < pageSize * pages || error)) {
    return inputError(fmt::format("{}: damaged run file: it is cut short", path));
  }
  return {};
}

}  // namespace

bool isRunFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  std::array<char, 72> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  constexpr std::array<char, 4> kMark{'N', 'C', 'R', 'F'};
  return std::string_view(head.data(), head.size()).starts_with(kSqliteMagic) &&
         std::ranges::equal(kMark, std::span(head).subspan<68, 4>());
}

Result<void> save(const RunRecord& record, const std::string& path) {
  std::error_code ignored;
  std::optional<RunLock> lock;
  if (std::filesystem::is_regular_file(path, ignored)) {
    NEURONCHECK_TRY(lock, RunLock::take(path));
  }
  return replaceFile(path, [&](const std::string& partial) -> Result<void> {
    try {
      SQLite::Database database(partial, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      // The file is renamed into place only when complete: a journal would protect nothing.
      database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
      database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                kApplicationId, kRunFileVersion));
      SQLite::Transaction transaction(database);
      database.exec(kCreateTables);
      writeRun(database, record);
      transaction.commit();
      // Left by a run that died: SQLite would take them for a part of the new file.
      const auto target = std::filesystem::weakly_canonical(path).string();
      std::filesystem::remove(target + "-wal");
      std::filesystem::remove(target + "-shm");
      std::filesystem::remove(target + "-journal");
      return {};
    } catch (const std::exception& error) {
      return fail(ErrorCode::Output,
                  fmt::format("cannot write the run file {}: {}", path, error.what()));
    }
  });
}

Result<RunRecord> load(const std::string& path) {
  NEURONCHECK_TRY_VOID(checkMagic(path));
  try {
    // A run that died while it turned its three files into one left a page to put back.
    std::error_code ignored;
    const bool cut = std::filesystem::exists(path + "-journal", ignored);
    const SQLite::Database database(path, cut ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY);
    NEURONCHECK_TRY_VOID(harden(database, path));
    NEURONCHECK_TRY(const int version, checkVersion(database, path));
    auto record = readRun(database, version);
    if (!record) {
      return tl::unexpected(std::move(record).error().within(path));
    }
    return record;
  } catch (const std::exception& error) {
    return inputError(fmt::format("{}: damaged run file: {}", path, error.what()));
  }
}

}  // namespace neuroncheck::runstore
