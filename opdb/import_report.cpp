// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "opdb/import.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {

Result<std::map<std::string, SupportStatus>> parseStatusWords(std::string_view text) {
  std::map<std::string, SupportStatus> words;
  for (const std::string& part : splitWords(text, ',')) {
    const std::size_t equals = part.rfind('=');
    const std::string word =
        equals == std::string::npos ? std::string() : lowered(trimmed(part.substr(0, equals)));
    const auto status =
        equals == std::string::npos
            ? std::nullopt
            : parseSupportStatus(trimmed(std::string_view(part).substr(equals + 1)));
    if (word.empty() || !status) {
      return fail(
          ErrorCode::Usage,
          fmt::format(
              "'{}' is not of the form word=status with a status of native, partial, decomposed, "
              "cpu-fallback, unsupported, unknown",
              part));
    }
    words.insert_or_assign(word, *status);
  }
  return words;
}

std::string text(const ImportReport& report) {
  std::string out;
  for (const std::string& line : report.mapping) {
    out += fmt::format("  {}\n", line);
  }
  for (const std::string& note : report.notes) {
    out += fmt::format("  {}\n", note);
  }
  for (const RowProblem& problem : report.problems) {
    out += fmt::format("{}:{}: skipped: {}\n", report.file, problem.line, problem.reason);
  }
  for (const auto& [word, rows] : report.unknownWords) {
    out += fmt::format("status word '{}' in {} row{}: say what it means with --words '{}=...'\n",
                       word, rows, rows == 1 ? "" : "s", word);
  }
  out += fmt::format("{} rows read: {} new, {} replaced, {} said before, {} reported", report.rows,
                     report.inserted, report.replaced, report.merged, report.problems.size());
  if (report.evidenceOnly > 0) {
    out += fmt::format("; {} with status unknown are evidence only", report.evidenceOnly);
  }
  out += report.database.empty() ? "\nnothing to write: the database is unchanged\n"
                                 : fmt::format("\nwritten to {}\n", report.database);
  return out;
}

}  // namespace neuroncheck::opdb
