// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include "opdb/database.h"

namespace neuroncheck::opdb::sqlite {

/// One operator as the table keeps it.
struct OpRecord {
  std::string name;
  std::string packet;
  std::string schema;
  std::string tags;      ///< words separated by a space
  std::string variants;  ///< the same
  std::string dispatchClass;
  std::string structuredTwin;
  bool cpuKernel = false;
  bool throwsOnly = false;
  std::string view;
  bool mutates = false;
  bool coreDecomposition = false;
};

/// What became of a support row: a new one, an equal one that was there already, or one of the same
/// source that it replaces.
enum class Stored : std::uint8_t { Inserted, Merged, Replaced };

/// Writes into an operator database within one transaction: nothing is kept unless commit() is
/// reached. Every call may throw SQLite::Exception; the callers (builder and import) catch it.
class Writer {
 public:
  explicit Writer(std::unique_ptr<SQLite::Database> database);

  void setMeta(const std::string& key, const std::string& value);
  void insert(const OpRecord& op);
  void insert(const ExpansionRow& row);
  void insert(const Release& release);
  void insert(const FeatureRow& row, const std::string& product);
  void insert(const CompilerRule& rule);
  /// Rows agree when operator, scope, product, release, mode, chip, dtypes, predicate, evidence
  /// kind and source do.
  Stored store(const SupportRow& row);
  /// Adds a release at its place among the product's by version number; no effect when it is known.
  /// Returns whether it was added.
  bool addRelease(const std::string& product, const std::string& name, const std::string& date);
  /// Commits and compacts the file. With `compact` the content alone decides the bytes of the file.
  void commit(bool compact);

 private:
  SQLite::Statement& prepared(std::optional<SQLite::Statement>& slot, const char* sql);
  std::int64_t evidence(const std::string& kind, const std::string& source,
                        const std::string& product, const std::string& release,
                        const std::string& observed, Confidence confidence);
  /// The id and whether every other column agrees, of a row with the same key.
  std::optional<std::pair<std::int64_t, bool>> findSupport(const SupportRow& row);

  std::unique_ptr<SQLite::Database> database_;
  std::unique_ptr<SQLite::Transaction> transaction_;
  std::optional<SQLite::Statement> insertOp_;
  std::optional<SQLite::Statement> insertExpansion_;
  std::optional<SQLite::Statement> insertSupport_;
  std::optional<SQLite::Statement> updateSupport_;
  std::optional<SQLite::Statement> findSupport_;
  std::optional<SQLite::Statement> insertEvidence_;
  std::optional<SQLite::Statement> findEvidence_;
};

/// Orders version texts part by part, numbers as numbers ("2.12.3" < "2.13.3.0" < "2.14.3.0");
/// "0.1.0-pre" < "0.1.0".
[[nodiscard]] bool versionLess(const std::string& a, const std::string& b);

}  // namespace neuroncheck::opdb::sqlite
