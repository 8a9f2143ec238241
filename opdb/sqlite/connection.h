// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <SQLiteCpp/Database.h>

#include "core/result.h"

namespace neuroncheck::opdb::sqlite {

/// What the first bytes of a file say of it.
struct FileHeader {
  std::int64_t applicationId = 0;
  std::int64_t schemaVersion = 0;
};

/// Reads the header without SQLite. Fails with Input: not there, a folder, not readable, empty, no
/// SQLite file.
[[nodiscard]] Result<FileHeader> readHeader(const std::string& path);

/// Opens an operator database for reading only, without locks or side files, so that a read-only
/// file in a read-only folder works. One of an older schema is copied into memory and updated
/// there. Fails with Input as readHeader does, and for a foreign application, a schema newer than
/// this program knows (naming both), an unfinished file, an older one of more than 256 MiB, and for
/// views or triggers in it.
[[nodiscard]] Result<std::unique_ptr<SQLite::Database>> openReadOnly(const std::string& path);

/// Opens a copy of an operator database for writing and applies the migrations it lacks. The same
/// checks as above.
[[nodiscard]] Result<std::unique_ptr<SQLite::Database>> openForWriting(const std::string& path);

/// Makes a new, empty operator database; `path` must not exist. Fails with Output.
[[nodiscard]] Result<std::unique_ptr<SQLite::Database>> create(const std::string& path);

}  // namespace neuroncheck::opdb::sqlite
