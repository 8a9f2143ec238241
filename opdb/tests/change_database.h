// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace neuroncheck::opdb {

/// Runs SQL on a database file.
inline void change(const std::string& path, const char* sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE).exec(sql);
}

/// Takes back what the migrations after the first did.
inline void makeSchema1(const std::string& path) {
  change(path,
         "ALTER TABLE expansion DROP COLUMN only_if; "
         "ALTER TABLE expansion DROP COLUMN truncated; PRAGMA user_version = 1");
}

}  // namespace neuroncheck::opdb
