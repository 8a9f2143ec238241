// SPDX-License-Identifier: Apache-2.0
#include "opdb/sqlite/connection.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "opdb/sqlite/migrations.h"

namespace neuroncheck::opdb::sqlite {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kUserVersionOffset = 60;
constexpr std::size_t kApplicationIdOffset = 68;
/// An older database is held in memory while it is read; ours have less than a tenth of this.
constexpr std::uintmax_t kMostInMemory = 256U << 20U;

std::int64_t newestSchema() { return static_cast<std::int64_t>(migrations().size()); }

std::int64_t bigEndian(const std::array<unsigned char, kHeaderBytes>& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = (value << 8U) | bytes.at(at + i);
  }
  return static_cast<std::int32_t>(value);
}

/// "file:" form of a path: SQLite decodes %HH and ends the name at '?' and '#'.
std::string uri(const std::string& path, std::string_view query) {
  std::string text = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~+,=@").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text + std::string(query);
}

/// A database from elsewhere must not run anything of its own: no functions in its schema, no
/// views, no triggers.
Result<void> harden(SQLite::Database& database, const std::string& path) {
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  SQLite::Statement foreign(database,
                            "SELECT type, name FROM sqlite_master WHERE type NOT IN ('table', "
                            "'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1");
  if (foreign.executeStep()) {
    return inputError(fmt::format("{}: the operator database contains the {} '{}', which none has",
                                  path, foreign.getColumn(0).getString(),
                                  foreign.getColumn(1).getString()));
  }
  return {};
}

Result<void> checkTables(SQLite::Database& database, const std::string& path) {
  constexpr std::array<std::string_view, 10> kTables = {
      "meta",    "release", "op",   "expansion", "evidence",
      "support", "feature", "rule", "message",   "numeric_policy"};
  SQLite::Statement query(database,
                          "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?");
  for (const std::string_view table : kTables) {
    query.bind(1, std::string(table));
    query.executeStep();
    if (query.getColumn(0).getInt() == 0) {
      return inputError(fmt::format("{}: the operator database has no table '{}'", path, table));
    }
    query.reset();
  }
  return {};
}

void migrate(SQLite::Database& database, std::int64_t from) {
  for (std::int64_t version = from; version < newestSchema(); ++version) {
    SQLite::Transaction transaction(database);
    database.exec(std::string(migrations()[static_cast<std::size_t>(version)]));
    database.exec(fmt::format("PRAGMA user_version = {}", version + 1));
    transaction.commit();
  }
}

/// A copy in memory with the migrations that the file lacks.
std::unique_ptr<SQLite::Database> updatedCopy(SQLite::Database& database, std::int64_t version) {
  auto copy = std::make_unique<SQLite::Database>(":memory:", SQLite::OPEN_READWRITE);
  SQLite::Backup(*copy, database).executeStep();
  sqlite3_db_config(copy->getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(copy->getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  migrate(*copy, version);
  copy->exec("PRAGMA query_only = 1");
  return copy;
}

Result<void> checkVersion(const FileHeader& header, const std::string& path) {
  if (header.applicationId != kApplicationId) {
    return inputError(
        fmt::format("{} is a SQLite file of another program, not an operator database", path));
  }
  if (header.schemaVersion > newestSchema()) {
    return inputError(
        fmt::format("{} has operator database schema {}, this program knows up to {}; "
                    "use a newer neuron-check or rebuild the database",
                    path, header.schemaVersion, newestSchema()));
  }
  if (header.schemaVersion < 1) {
    return inputError(fmt::format("{} is an unfinished operator database (schema 0)", path));
  }
  return {};
}

}  // namespace

Result<FileHeader> readHeader(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return inputError(fmt::format("{}: no such operator database", path));
  }
  if (!std::filesystem::is_regular_file(status)) {
    return inputError(fmt::format("{} is not a regular file, so no operator database", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return inputError(fmt::format("{}: cannot be read: {}", path,
                                  std::error_code(errno, std::generic_category()).message()));
  }
  std::array<unsigned char, kHeaderBytes> bytes{};
  file.read(reinterpret_cast<char*>(bytes.data()), kHeaderBytes);
  if (file.gcount() == 0) {
    return inputError(fmt::format("{} is empty, not an operator database", path));
  }
  const bool complete = file.gcount() == static_cast<std::streamsize>(kHeaderBytes);
  if (!complete || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return inputError(fmt::format("{} is not a SQLite file, so no operator database", path));
  }
  return FileHeader{.applicationId = bigEndian(bytes, kApplicationIdOffset),
                    .schemaVersion = bigEndian(bytes, kUserVersionOffset)};
}

Result<std::unique_ptr<SQLite::Database>> openReadOnly(const std::string& path) {
  NEURONCHECK_TRY(const FileHeader header, readHeader(path));
  NEURONCHECK_TRY_VOID(checkVersion(header, path));
  const bool older = header.schemaVersion < newestSchema();
  try {
    if (older && std::filesystem::file_size(path) > kMostInMemory) {
      return inputError(
          fmt::format("{} has operator database schema {}, this program reads {}, and is too large "
                      "to be updated in memory",
                      path, header.schemaVersion, newestSchema()));
    }
    auto database = std::make_unique<SQLite::Database>(uri(path, "?mode=ro&immutable=1"),
                                                       SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    NEURONCHECK_TRY_VOID(harden(*database, path));
    NEURONCHECK_TRY_VOID(checkTables(*database, path));
    if (older) {
      return updatedCopy(*database, header.schemaVersion);
    }
    return database;
  } catch (const std::exception& exception) {
    return inputError(
        fmt::format("{}: the operator database is damaged: {}", path, exception.what()));
  }
}

Result<std::unique_ptr<SQLite::Database>> openForWriting(const std::string& path) {
  NEURONCHECK_TRY(const FileHeader header, readHeader(path));
  NEURONCHECK_TRY_VOID(checkVersion(header, path));
  try {
    auto database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE);
    NEURONCHECK_TRY_VOID(harden(*database, path));
    migrate(*database, header.schemaVersion);
    NEURONCHECK_TRY_VOID(checkTables(*database, path));
    return database;
  } catch (const std::exception& exception) {
    return inputError(
        fmt::format("{}: the operator database is damaged: {}", path, exception.what()));
  }
}

Result<std::unique_ptr<SQLite::Database>> create(const std::string& path) {
  if (std::filesystem::exists(path)) {
    return fail(ErrorCode::Output, fmt::format("{} exists already", path));
  }
  try {
    auto database =
        std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database->exec("PRAGMA page_size = 4096");
    database->exec("PRAGMA journal_mode = MEMORY");
    database->exec("PRAGMA synchronous = OFF");
    database->exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    migrate(*database, 0);
    return database;
  } catch (const std::exception& exception) {
    return fail(ErrorCode::Output, fmt::format("{}: {}", path, exception.what()));
  }
}

}  // namespace neuroncheck::opdb::sqlite
