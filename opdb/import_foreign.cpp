// SPDX-License-Identifier: Apache-2.0
#include "opdb/import_foreign.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::array<std::string_view, 12> kOpHeaders = {
    "op",      "operator",   "operators", "aten op",  "aten operator", "operator name",
    "op name", "pytorch op", "torch op",  "function", "api",           "name"};
/// Nothing longer is taken by itself: "CPU fallback supported", "Unsupported", "Supported on trn1"
/// ask something else.
constexpr std::array<std::string_view, 4> kStatusHeaders = {"status", "support", "supported",
                                                            "support status"};
constexpr std::array<std::string_view, 6> kDTypeHeaders = {
    "dtype", "dtypes", "data type", "data types", "supported dtypes", "supported data types"};
/// What is said there limits the status beside it.
constexpr std::array<std::string_view, 12> kCaveatHeaders = {
    "note",       "notes",        "comment",           "comments",
    "limitation", "limitations",  "known limitations", "remark",
    "remarks",    "restrictions", "constraints",       "caveats"};
constexpr std::array<std::string_view, 2> kNoteHeaders = {"description", "details"};

using StatusSpelling = std::pair<std::string_view, SupportStatus>;
constexpr std::array<StatusSpelling, 27> kStatusSpellings = {{
    {"native", SupportStatus::Native},
    {"supported", SupportStatus::Native},
    {"fully supported", SupportStatus::Native},
    {"full", SupportStatus::Native},
    {"yes", SupportStatus::Native},
    {"✅", SupportStatus::Native},
    {"✔", SupportStatus::Native},
    {"✓", SupportStatus::Native},
    {"partial", SupportStatus::Partial},
    {"partially supported", SupportStatus::Partial},
    {"decomposed", SupportStatus::Decomposed},
    {"cpu-fallback", SupportStatus::CpuFallback},
    {"cpu fallback", SupportStatus::CpuFallback},
    {"fallback", SupportStatus::CpuFallback},
    {"falls back to cpu", SupportStatus::CpuFallback},
    {"cpu", SupportStatus::CpuFallback},
    {"unsupported", SupportStatus::Unsupported},
    {"not supported", SupportStatus::Unsupported},
    {"no", SupportStatus::Unsupported},
    {"❌", SupportStatus::Unsupported},
    {"✗", SupportStatus::Unsupported},
    {"unknown", SupportStatus::Unknown},
    {"untested", SupportStatus::Unknown},
    {"not tested", SupportStatus::Unknown},
    {"n/a", SupportStatus::Unknown},
    {"-", SupportStatus::Unknown},
    {"?", SupportStatus::Unknown},
}};

struct Columns {
  std::optional<std::size_t> op;
  std::optional<std::size_t> status;
  std::optional<std::size_t> dtype;
  std::vector<std::size_t> caveats;  ///< about the status
  std::optional<std::size_t> note;   ///< about anything else
};

tl::unexpected<Error> columnError(const Table& table, std::string_view what) {
  return fail(ErrorCode::Usage, fmt::format("table in line {}: {}; its columns are: {}", table.line,
                                            what, fmt::join(table.header, " | ")));
}

/// A column by header word or number from 1.
Result<std::optional<std::size_t>> named(const Table& table, const std::string& wanted) {
  if (const auto column = table.column(wanted)) {
    return column;
  }
  std::size_t number = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto parsed = std::from_chars(wanted.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= 1 &&
      number <= table.header.size()) {
    return number - 1;
  }
  return std::nullopt;
}

std::optional<std::size_t> firstOf(const Table& table, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (const auto column = table.column(word)) {
      return column;
    }
  }
  return std::nullopt;
}

/// A header in lower case, without the emphasis that markdown leaves around a word.
std::string headerWord(const std::string& header) {
  constexpr std::string_view kEmphasis = "*_` \t";
  const std::size_t begin = header.find_first_not_of(kEmphasis);
  if (begin == std::string::npos) {
    return {};
  }
  return lowered(
      std::string_view(header).substr(begin, header.find_last_not_of(kEmphasis) - begin + 1));
}

bool speaksOfSupport(const std::string& header) {
  const std::string word = lowered(header);
  return word.find("type") == std::string::npos &&
         (word.find("status") != std::string::npos || word.find("support") != std::string::npos);
}

/// A column in which "yes" means that something does not work.
bool isNegative(const std::string& header) {
  const std::string word = lowered(header);
  constexpr std::array<std::string_view, 6> kNegative = {"unsupported",   "not supported",
                                                         "not-supported", "not_supported",
                                                         "no support",    "not yet supported"};
  return std::ranges::any_of(kNegative, [&](std::string_view negative) {
    return word.find(negative) != std::string::npos;
  });
}

Result<std::optional<std::size_t>> statusColumn(const Table& table) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (std::ranges::find(kStatusHeaders, headerWord(table.header[i])) != kStatusHeaders.end()) {
      candidates.push_back(i);
    }
  }
  if (candidates.size() > 1) {
    return columnError(table,
                       "several columns could hold the status; name one with --status-column");
  }
  if (candidates.empty() && std::ranges::any_of(table.header, speaksOfSupport)) {
    return columnError(table, fmt::format("no column is called {}; name the one that holds the "
                                          "status with --status-column",
                                          fmt::join(kStatusHeaders, ", ")));
  }
  return candidates.empty() ? std::nullopt : std::optional(candidates.front());
}

Result<Columns> chooseColumns(const Table& table, const ImportOptions& options) {
  Columns columns;
  const auto choose = [&](const std::string& wanted,
                          auto guess) -> Result<std::optional<std::size_t>> {
    if (!wanted.empty()) {
      return named(table, wanted);
    }
    return guess();
  };
  NEURONCHECK_TRY(columns.op, choose(options.opColumn, [&] { return firstOf(table, kOpHeaders); }));
  NEURONCHECK_TRY(columns.status,
                  choose(options.statusColumn, [&]() -> Result<std::optional<std::size_t>> {
                    if (!columns.op) {
                      return std::nullopt;
                    }
                    return statusColumn(table);
                  }));
  NEURONCHECK_TRY(columns.dtype,
                  choose(options.dtypeColumn, [&] { return firstOf(table, kDTypeHeaders); }));
  if (!options.noteColumn.empty()) {
    NEURONCHECK_TRY(const auto note, named(table, options.noteColumn));
    columns.caveats.assign(note ? 1 : 0, note.value_or(0));
    return columns;
  }
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (std::ranges::find(kCaveatHeaders, headerWord(table.header[i])) != kCaveatHeaders.end()) {
      columns.caveats.push_back(i);
    }
  }
  columns.note = firstOf(table, kNoteHeaders);
  return columns;
}

std::optional<SupportStatus> statusOf(const std::string& cell, bool negative,
                                      const ImportOptions& options) {
  const std::string word = lowered(cell);
  if (const auto mapped = options.statusWords.find(word); mapped != options.statusWords.end()) {
    return mapped->second;
  }
  if (negative) {  // only the user can say what "yes" means there
    return std::nullopt;
  }
  // A sign may stand before a word that says the same: "✅ Supported".
  const auto spelled = [](std::string_view text) -> std::optional<SupportStatus> {
    const auto* found = std::ranges::find(kStatusSpellings, text, &StatusSpelling::first);
    return found == kStatusSpellings.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto known = spelled(word)) {
    return known;
  }
  const std::size_t space = word.find(' ');
  if (space == std::string::npos) {
    return std::nullopt;
  }
  const auto sign = spelled(word.substr(0, space));
  const auto rest = spelled(trimmed(std::string_view(word).substr(space)));
  return sign && rest == sign ? rest : std::nullopt;
}

std::string describe(const Table& table, const Columns& columns) {
  const auto word = [&](const std::optional<std::size_t>& column) {
    return column ? fmt::format("'{}'", table.header[*column]) : std::string("none");
  };
  std::vector<std::string> notes;
  notes.reserve(columns.caveats.size() + 1);
  for (const std::size_t column : columns.caveats) {
    notes.push_back(word(column));
  }
  if (columns.note) {
    notes.push_back(word(columns.note));
  }
  return fmt::format("table in line {}{}: operator = {}, status = {}, dtypes = {}, note = {}",
                     table.line, table.title.empty() ? "" : fmt::format(" ({})", table.title),
                     word(columns.op), word(columns.status), word(columns.dtype),
                     notes.empty() ? "none" : fmt::format("{}", fmt::join(notes, " + ")));
}

/// What the columns say beside the status. Next to "supported" it is a caveat, which the check
/// shows with the operator (path_note); next to anything less it explains the status (note).
std::pair<std::string, std::string> notesOf(const TableRow& row, const Columns& columns,
                                            SupportStatus status) {
  std::vector<std::string> caveats;
  for (const std::size_t column : columns.caveats) {
    const std::string& cell = row.cells[column];
    if (cell.find_first_not_of("-–— ") != std::string::npos) {
      caveats.push_back(cell);
    }
  }
  std::string caveat = fmt::format("{}", fmt::join(caveats, "; "));
  std::string note = columns.note ? row.cells[*columns.note] : std::string();
  const bool promises = status == SupportStatus::Native || status == SupportStatus::Decomposed;
  if (!promises && !caveat.empty()) {
    note = note.empty() ? caveat : caveat + "; " + note;
    caveat.clear();
  }
  return {std::move(caveat), std::move(note)};
}

}  // namespace

Result<std::vector<FieldRow>> foreignRows(const Table& table, const OperatorNames& names,
                                          const ImportOptions& options, ImportReport& report) {
  NEURONCHECK_TRY(const Columns columns, chooseColumns(table, options));
  std::vector<FieldRow> rows;
  if (!columns.op || !columns.status) {
    report.notes.push_back(fmt::format(
        "table in line {} left out: no column for the {} (its columns are: {})", table.line,
        columns.op ? "status" : "operator", fmt::join(table.header, " | ")));
    return rows;
  }
  report.mapping.push_back(describe(table, columns));
  report.problems.insert(report.problems.end(), table.problems.begin(), table.problems.end());
  report.rows += table.rows.size() + table.problems.size();
  const bool negative = isNegative(table.header[*columns.status]);
  for (const TableRow& row : table.rows) {
    const std::string& word = row.cells[*columns.status];
    const auto status = statusOf(word, negative, options);
    if (!status) {
      ++report.unknownWords[word];
      report.problems.push_back(
          {row.line, fmt::format("the status word '{}' is not understood", word)});
      continue;
    }
    const std::vector<std::string> ops = OperatorNames::split(row.cells[*columns.op]);
    if (ops.empty()) {
      report.problems.push_back({row.line, "no operator is named"});
    }
    const auto [caveat, note] = notesOf(row, columns, *status);
    for (const std::string& op : ops) {
      const auto match = names.resolve(op);
      if (!match) {
        report.problems.push_back({row.line, match.error().message});
        continue;
      }
      RowFields fields = {{"op", match->op},
                          {"scope", std::string(name(match->scope))},
                          {"status", std::string(name(*status))},
                          {"dtypes", columns.dtype ? row.cells[*columns.dtype] : ""},
                          {"path_note", caveat},
                          {"note", note}};
      rows.push_back({row.line, std::move(fields)});
    }
  }
  return rows;
}

}  // namespace neuroncheck::opdb
