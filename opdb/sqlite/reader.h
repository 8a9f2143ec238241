// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "opdb/database.h"

namespace neuroncheck::opdb::sqlite {

/// The queries of the operator database, prepared once. Every call may throw SQLite::Exception on a
/// damaged file; the caller (Database) catches it.
class Reader {
 public:
  explicit Reader(std::unique_ptr<SQLite::Database> database);

  [[nodiscard]] std::string meta(const std::string& key);
  /// nullopt when the catalogue has no such operator; an Error when its row cannot be understood.
  [[nodiscard]] Result<std::optional<OpInfo>> op(const std::string& name);
  [[nodiscard]] std::vector<OpName> overloads(std::string_view packet);
  [[nodiscard]] std::vector<OpName> operatorNames();
  [[nodiscard]] std::vector<OpName> composites(const std::string& child);
  [[nodiscard]] std::vector<std::string> products();
  [[nodiscard]] std::vector<Release> releases(std::string_view product);
  /// Overload rows of `op` and packet rows of its packets.
  [[nodiscard]] std::vector<SupportRow> support(const OpName& op, std::string_view product);
  [[nodiscard]] std::vector<SupportRow> allSupport();
  [[nodiscard]] std::vector<ExpansionRow> expansions(const std::string& op);
  [[nodiscard]] std::vector<FeatureRow> features(std::string_view product);
  [[nodiscard]] std::vector<CompilerRule> rules(std::string_view product);

 private:
  SQLite::Statement& prepared(std::optional<SQLite::Statement>& slot, const char* sql);

  std::unique_ptr<SQLite::Database> database_;
  std::optional<SQLite::Statement> op_;
  std::optional<SQLite::Statement> overloads_;
  std::optional<SQLite::Statement> support_;
  std::optional<SQLite::Statement> expansions_;
};

}  // namespace neuroncheck::opdb::sqlite
