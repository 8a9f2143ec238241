// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/replace_file.h"
#include "opdb/builder_catalogue.h"
#include "opdb/import.h"
#include "opdb/import_foreign.h"
#include "opdb/import_names.h"
#include "opdb/import_release.h"
#include "opdb/import_row.h"
#include "opdb/sqlite/connection.h"
#include "opdb/sqlite/writer.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

namespace fs = std::filesystem;

struct AcceptedRow {
  std::size_t line = 0;
  SupportRow row;
};

/// Our own files have more columns than an operator and a status.
bool isOurs(const Table& table) {
  const auto has = [&](std::string_view column) { return table.column(column).has_value(); };
  return has("op") && has("status") &&
         (has("scope") || has("evidence") || has("predicate") || has("vendor_test") ||
          has("product"));
}

/// Fills what the row does not say from the options.
void complete(RowFields& fields, const ImportOptions& options, const std::string& file) {
  const std::pair<std::string_view, std::string> defaults[] = {
      {"product", options.product},
      {"release", options.release},
      {"mode", options.mode},
      {"chip", options.chip},
      {"evidence", options.evidence},
      {"confidence", options.confidence},
      {"observed", options.date},
      {"source", options.source.empty() ? fs::path(file).filename().string() : options.source}};
  for (const auto& [column, value] : defaults) {
    fields.try_emplace(std::string(column), value);
  }
}

Result<std::vector<FieldRow>> jsonRows(const std::string& content, ImportReport& report) {
  const auto document = nlohmann::json::parse(content, nullptr, false);
  const bool known =
      document.is_object() && document.contains("rows") && document["rows"].is_array();
  if (!known) {
    return inputError("the JSON file is no list of support rows (an object with \"rows\")");
  }
  std::vector<FieldRow> rows;
  std::size_t number = 0;
  for (const auto& item : document["rows"]) {
    FieldRow row{.line = ++number, .fields = {}};
    bool good = item.is_object();
    for (const auto& [key, value] : item.items()) {
      good = good && value.is_string();
      if (value.is_string()) {
        row.fields.emplace(key, value.get<std::string>());
      }
    }
    ++report.rows;
    if (good) {
      rows.push_back(std::move(row));
    } else {
      report.problems.push_back({number, "the row is no object of texts"});
    }
  }
  report.mapping.emplace_back("rows of our own JSON (lines are row numbers)");
  return rows;
}

Result<std::vector<FieldRow>> readRows(const std::string& file, const Database& catalogue,
                                       const ImportOptions& options, ImportReport& report) {
  NEURONCHECK_TRY(const std::string content, readTextFile(file));
  if (content.find('\0') != std::string::npos) {
    return inputError(fmt::format("{} is no text file", file));
  }
  if (trimmed(content).starts_with('{')) {
    return jsonRows(content, report);
  }
  std::vector<Table> tables = parseMarkdownTables(content);
  if (tables.empty()) {
    tables.push_back(parseCsv(content));
    if (tables.front().header.size() < 2) {
      return inputError(fmt::format("{} holds no table (CSV or markdown)", file));
    }
    if (isOurs(tables.front())) {
      report.rows = tables.front().rows.size() + tables.front().problems.size();
      report.problems = tables.front().problems;
      report.mapping.emplace_back("columns of our own CSV");
      return fieldRows(tables.front());
    }
  }
  const OperatorNames names(catalogue);
  std::vector<FieldRow> rows;
  for (const Table& table : tables) {
    NEURONCHECK_TRY(std::vector<FieldRow> more, foreignRows(table, names, options, report));
    std::ranges::move(more, std::back_inserter(rows));
  }
  if (report.mapping.empty()) {
    return fail(
        ErrorCode::Usage,
        fmt::format(
            "{}: no table has an operator and a status column; name them with --op-column and "
            "--status-column. {}",
            file, report.notes.empty() ? "" : report.notes.front()));
  }
  return rows;
}

/// A release and a mode come from the file or from the options; they are never assumed.
Result<void> checkOptions(const std::vector<FieldRow>& rows, const ImportOptions& options) {
  const std::pair<std::string_view, const std::string&> needed[] = {{"release", options.release},
                                                                    {"mode", options.mode}};
  for (const auto& [column, option] : needed) {
    const bool missing = option.empty() && std::ranges::any_of(rows, [&](const FieldRow& row) {
                           return !row.fields.contains(column);
                         });
    if (missing) {
      return fail(ErrorCode::Usage,
                  fmt::format("the file does not say which {0} it speaks of; give --{0}", column));
    }
  }
  return {};
}

/// Says of a row that was taken which of its dtypes it does not speak of.
void noteOtherDTypes(const FieldRow& fields, ImportReport& report) {
  const auto named = dtypeList(field(fields.fields, "dtypes"));
  const std::string others = named ? dtypesOf(*named, false) : std::string();
  if (!others.empty()) {
    report.notes.push_back(
        fmt::format("line {}: dtypes {} left out, a row speaks of floating operands only",
                    fields.line, others));
  }
}

/// Two rows that say the same status are one; the caveats of both stay.
void mergeNotes(SupportRow& kept, const SupportRow& other) {
  if (!other.pathNote.empty() && kept.pathNote.find(other.pathNote) == std::string::npos) {
    kept.pathNote += kept.pathNote.empty() ? other.pathNote : "; " + other.pathNote;
  }
}

/// How little a status promises; of two statements of one source the lesser is kept.
int lesser(SupportStatus status) {
  switch (status) {
    case SupportStatus::Unsupported:
      return 5;
    case SupportStatus::CpuFallback:
      return 4;
    case SupportStatus::Partial:
      return 3;
    case SupportStatus::Decomposed:
      return 2;
    case SupportStatus::Native:
      return 1;
    case SupportStatus::Unknown:
      break;
  }
  return 0;
}

std::string keyOf(const SupportRow& row) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", row.op, name(row.scope), row.product,
                     row.release, row.mode, row.chip, row.dtypes, row.predicate, row.evidence,
                     row.source);
}

/// A row in words of the database; releases are looked up once.
Result<SupportRow> acceptedRow(const RowFields& fields, const Database& catalogue,
                               std::map<std::string, Result<std::string>>& releases) {
  NEURONCHECK_TRY(SupportRow row, supportRowOf(fields, catalogue));
  const std::string key = row.product + '\n' + row.release;
  auto known = releases.find(key);
  if (known == releases.end()) {
    known = releases.emplace(key, importedRelease(catalogue, row.product, row.release)).first;
  }
  NEURONCHECK_TRY(row.release, known->second);
  return row;
}

std::vector<AcceptedRow> accept(const std::vector<FieldRow>& rows, const Database& catalogue,
                                ImportReport& report) {
  std::vector<AcceptedRow> accepted;
  std::map<std::string, std::size_t> positions;
  std::map<std::string, Result<std::string>> releases;
  for (const FieldRow& fields : rows) {
    auto row = acceptedRow(fields.fields, catalogue, releases);
    if (!row) {
      report.problems.push_back({fields.line, row.error().message});
      continue;
    }
    noteOtherDTypes(fields, report);
    const auto [known, fresh] = positions.emplace(keyOf(*row), accepted.size());
    if (fresh) {
      accepted.push_back({fields.line, *std::move(row)});
      continue;
    }
    AcceptedRow& first = accepted[known->second];
    if (first.row.status == row->status) {
      ++report.merged;
      mergeNotes(first.row, *row);
      continue;
    }
    const bool keepsFirst = lesser(first.row.status) >= lesser(row->status);
    report.problems.push_back(
        {fields.line,
         fmt::format("{} is {} here and {} in line {}: the statement that promises less is kept",
                     row->op, name(row->status), name(first.row.status), first.line)});
    if (!keepsFirst) {
      first = {.line = fields.line, .row = *std::move(row)};
    }
  }
  return accepted;
}

Result<void> store(const std::string& database, const std::vector<AcceptedRow>& rows,
                   ImportReport& report) {
  NEURONCHECK_TRY(auto connection, sqlite::openForWriting(database));
  try {
    sqlite::Writer writer(std::move(connection));
    for (const AcceptedRow& accepted : rows) {
      const SupportRow& row = accepted.row;
      if (writer.addRelease(row.product, row.release, row.observed)) {
        report.notes.push_back(
            fmt::format("release {} {} was not known and is added by its version number",
                        row.product, row.release));
      }
      const sqlite::Stored stored = writer.store(row);
      report.inserted += stored == sqlite::Stored::Inserted ? 1U : 0U;
      report.replaced += stored == sqlite::Stored::Replaced ? 1U : 0U;
      report.merged += stored == sqlite::Stored::Merged ? 1U : 0U;
      report.evidenceOnly += row.status == SupportStatus::Unknown ? 1U : 0U;
    }
    writer.commit(false);
    return {};
  } catch (const std::exception& exception) {
    return fail(ErrorCode::Output, fmt::format("{}: {}", database, exception.what()));
  }
}

Result<void> writeCopy(const std::string& from, const std::string& to,
                       const std::vector<AcceptedRow>& rows, ImportReport& report) {
  std::error_code ignored;
  if (const fs::path folder = fs::path(to).parent_path(); !folder.empty()) {
    fs::create_directories(folder, ignored);
  }
  return replaceFile(to, [&](const std::string& partial) -> Result<void> {
    std::error_code error;
    fs::copy_file(from, partial, error);
    if (!error) {
      fs::permissions(partial, fs::perms::owner_read | fs::perms::owner_write,
                      fs::perm_options::add, error);
    }
    if (error) {
      return fail(ErrorCode::Output, fmt::format("{}: {}", to, error.message()));
    }
    return store(partial, rows, report);
  });
}

}  // namespace

Result<ImportReport> importTable(const std::string& from, const std::string& file,
                                 const ImportOptions& options, const std::string& to) {
  NEURONCHECK_TRY_VOID(checkEvidenceKind(options.evidence));
  NEURONCHECK_TRY(const Database catalogue, Database::open(from));
  ImportReport report;
  report.file = file;
  if (!options.release.empty()) {
    NEURONCHECK_TRY(const std::string release,
                    importedRelease(catalogue, options.product, options.release));
    if (release != options.release) {
      report.notes.push_back(fmt::format("release {} is {}", options.release, release));
    }
  }
  NEURONCHECK_TRY(std::vector<FieldRow> rows, readRows(file, catalogue, options, report));
  NEURONCHECK_TRY_VOID(checkOptions(rows, options));
  for (FieldRow& row : rows) {
    complete(row.fields, options, file);
  }
  const std::vector<AcceptedRow> accepted = accept(rows, catalogue, report);
  std::ranges::sort(report.problems, {}, [](const RowProblem& problem) {
    return std::pair<std::size_t, std::string_view>(problem.line, problem.reason);
  });
  if (!catalogue.damage().empty()) {
    return inputError(catalogue.damage());
  }
  if (!accepted.empty()) {
    NEURONCHECK_TRY_VOID(writeCopy(from, to, accepted, report));
    report.database = to;
  }
  return report;
}

}  // namespace neuroncheck::opdb
