// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "opdb/database.h"
#include "opdb/table.h"

namespace neuroncheck::opdb {

/// How to read a table of operators and statuses. What our own files say in a column need not be
/// given.
struct ImportOptions {
  std::string product = "torch-neuronx";
  std::string release;  ///< needed unless the file has the column
  std::string mode;     ///< eager | compile | any; needed unless the file has the column
  std::string chip;     ///< empty: all
  /// Columns of a foreign table, by header word or number from 1; empty: told from the header
  /// words.
  std::string opColumn;
  std::string statusColumn;
  std::string dtypeColumn;
  std::string noteColumn;
  /// Words of the status column (lower case) beside those that are understood by themselves.
  std::map<std::string, SupportStatus> statusWords;
  std::string source;  ///< empty: the file's name
  std::string date;    ///< ISO date the statements were made
  std::string evidence = "documented";
  std::string confidence = "medium";
};

/// Reads "Supported=native,Partial=partial". Fails with Usage, naming the part.
[[nodiscard]] Result<std::map<std::string, SupportStatus>> parseStatusWords(std::string_view text);

struct ImportReport {
  std::string file;
  std::string database;  ///< the copy that was written; empty when there was nothing to write
  std::vector<std::string> mapping;  ///< how columns were understood, one line a table
  std::vector<std::string> notes;    ///< tables left out, releases added
  std::size_t rows = 0;              ///< rows read
  std::size_t inserted = 0;          ///< support rows that are new
  std::size_t replaced = 0;          ///< of a statement the same source made before
  std::size_t merged = 0;            ///< said already, by the database or above in the file
  std::size_t evidenceOnly = 0;  ///< of the above, with the status unknown: evidence, never a claim
  std::vector<RowProblem> problems;  ///< rows that were skipped, by line
  std::map<std::string, std::size_t>
      unknownWords;  ///< status words that were not understood, with their rows
};

/// Reads `file` (our CSV or JSON, or a foreign CSV or markdown page, told by content), checks every
/// row against the catalogue of the database `from`, and writes a copy of it with the good rows to
/// `to` (which may be the same path), in one step: a temporary file beside it, renamed. `from` is
/// never changed in place. Bad rows are skipped and reported. Fails with Input for a file or
/// database that cannot be read, Usage for options that do not fit the file, Output when the copy
/// cannot be written; then nothing has changed.
[[nodiscard]] Result<ImportReport> importTable(const std::string& from, const std::string& file,
                                               const ImportOptions& options, const std::string& to);

/// The report for a terminal.
[[nodiscard]] std::string text(const ImportReport& report);

}  // namespace neuroncheck::opdb
