// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/pipeline.h"
#include "core/inventory_json.h"
#include "opdb/assess.h"
#include "opdb/database_locate.h"
#include "opdb/diff.h"
#include "opdb/export.h"
#include "opdb/import.h"
#include "opdb/location.h"
#include "opdb/query.h"
#include "opdb/query_text.h"
#include "opdb/rules.h"

namespace neuroncheck::cli {
namespace {

constexpr std::string_view kProduct = "torch-neuronx";

/// What the db commands take beside the common flags.
struct DbFlags {
  std::string text;
  std::string status;
  bool all = false;
  bool rules = false;
  std::string file;
  std::string to;
  std::string before;
  std::string after;
  std::string statusWords;
  opdb::ImportOptions import;
};

Result<void> print(const Options& options, const std::string& text) {
  return writeOutput(options.output, [&text](std::ostream& out) -> Result<void> {
    out << harmless(text);
    return {};
  });
}

std::string rulesText(const opdb::Database& database) {
  std::string text;
  for (const opdb::RuleDescription& rule : opdb::describeRules(database)) {
    text += fmt::format(
        "{:<12} {:<8} {}{}\n", rule.id, name(rule.severity), rule.title,
        rule.machineCheckable ? "" : "  (no graph can decide it: listed as not checked)");
  }
  return text;
}

Result<int> list(const Options& options, const DbFlags& flags) {
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  if (flags.rules) {
    NEURONCHECK_TRY_VOID(print(options, rulesText(database)));
    return kExitOk;
  }
  if (options.mode && !parseExecutionMode(*options.mode)) {
    return fail(ErrorCode::Usage,
                fmt::format("--mode '{}': the modes are eager and compile", *options.mode));
  }
  if (options.release) {
    Target wanted;
    wanted.release = *options.release;
    NEURONCHECK_TRY(const Target known, opdb::resolveTarget(database, wanted));
    if (!known.releaseKnown) {
      return fail(ErrorCode::Usage,
                  fmt::format("--release '{}': the database has no such release of {}",
                              *options.release, kProduct));
    }
  }
  opdb::OpFilter filter;
  filter.text = flags.text;
  filter.release = options.release.value_or("");
  filter.mode = options.mode.value_or("");
  filter.withoutRows = flags.all;
  if (!flags.status.empty()) {
    filter.status = opdb::parseSupportStatus(flags.status);
    if (!filter.status) {
      return fail(
          ErrorCode::Usage,
          fmt::format("--status '{}': use native, decomposed, cpu-fallback, unsupported or unknown",
                      flags.status));
    }
  }
  const std::vector<opdb::OpSummary> ops = opdb::listOps(database, filter);
  NEURONCHECK_TRY_VOID(print(options, opdb::text(ops)));
  return ops.empty() ? kExitNothing : kExitOk;
}

Result<int> show(const Options& options, const DbFlags& flags) {
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  NEURONCHECK_TRY(const std::vector<opdb::OpDetails> ops,
                  opdb::showOp(database, flags.text, kProduct, utcToday()));
  NEURONCHECK_TRY_VOID(print(options, opdb::text(ops)));
  return kExitOk;
}

Result<int> importFile(const Options& options, DbFlags flags) {
  flags.import.release = options.release.value_or("");
  flags.import.mode = options.mode.value_or("");
  flags.import.chip = options.chip.value_or("");
  NEURONCHECK_TRY(flags.import.statusWords, opdb::parseStatusWords(flags.statusWords));
  std::string from = options.database.value_or("");
  if (from.empty()) {
    NEURONCHECK_TRY(from, opdb::findDefaultDatabase());
  }
  std::string to = flags.to;
  if (to.empty()) {
    to = options.database.value_or(opdb::userDatabasePath().value_or(""));
  }
  if (to.empty()) {
    return fail(ErrorCode::Usage,
                "where to? Neither XDG_DATA_HOME nor HOME is set: give --to FILE");
  }
  if (std::error_code ignored; std::filesystem::equivalent(flags.file, to, ignored)) {
    return fail(ErrorCode::Usage, fmt::format("--to {}: that is the table itself", to));
  }
  NEURONCHECK_TRY(const opdb::ImportReport report,
                  opdb::importTable(from, flags.file, flags.import, to));
  NEURONCHECK_TRY_VOID(print(options, opdb::text(report)));
  if (report.inserted + report.replaced + report.merged == 0) {
    return kExitNothing;
  }
  return report.problems.empty() ? kExitOk : kExitFindings;
}

Result<int> diff(const Options& options, const DbFlags& flags) {
  std::vector<opdb::SupportChange> changes;
  if (std::filesystem::is_regular_file(flags.before) &&
      std::filesystem::is_regular_file(flags.after)) {
    NEURONCHECK_TRY(const opdb::Database before, opdb::Database::open(flags.before));
    NEURONCHECK_TRY(const opdb::Database after, opdb::Database::open(flags.after));
    changes = opdb::diffDatabases(before, after, kProduct);
  } else {
    NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
    NEURONCHECK_TRY(changes, opdb::diffReleases(database, kProduct, flags.before, flags.after,
                                                options.mode.value_or("eager")));
  }
  NEURONCHECK_TRY_VOID(print(options, opdb::text(changes)));
  return changes.empty() ? kExitOk : kExitFindings;
}

Result<int> exportRows(const Options& options) {
  const std::string format = options.format.value_or("csv");
  if (format != "csv" && format != "json") {
    return fail(ErrorCode::Usage,
                fmt::format("--format '{}': the export formats are csv and json", format));
  }
  NEURONCHECK_TRY(const opdb::Database database, openDatabase(options));
  const auto rows = opdb::exportedRows(database, kProduct, options.release.value_or(""));
  NEURONCHECK_TRY_VOID(writeOutput(options.output, [&](std::ostream& out) -> Result<void> {
    out << (format == "csv" ? opdb::exportCsv(rows) : opdb::exportJson(rows));
    return {};
  }));
  return rows.empty() ? kExitNothing : kExitOk;
}

CLI::App* addOne(CLI::App& db, CommandLine& line, const std::shared_ptr<DbFlags>& flags,
                 const char* name, const char* description,
                 const std::function<Result<int>(const Options&, const DbFlags&)>& body) {
  CLI::App* command = db.add_subcommand(name, description);
  addDatabaseFlag(*command, line.options);
  command->add_option("-o,--output", line.options.output,
                      "write to this file instead of standard output");
  command->callback([&line, flags, body]() {
    line.action = [&line, flags, body]() {
      return runCommand(line.options,
                        [&line, &flags, &body]() { return body(line.options, *flags); });
    };
  });
  return command;
}

void addImport(CLI::App& db, CommandLine& line, const std::shared_ptr<DbFlags>& flags) {
  CLI::App* command = addOne(
      db, line, flags, "import",
      "add a table of operators and statuses: our CSV, or any CSV or markdown table", importFile);
  opdb::ImportOptions& options = flags->import;
  command->add_option("file", flags->file, "the table")->required();
  command->add_option("--to", flags->to, "database to write (default: your own copy, or --db)");
  command->add_option("--release", line.options.release, "release the table speaks of");
  command->add_option("--mode", line.options.mode, "eager, compile or any");
  command->add_option("--chip", line.options.chip, "chip the table speaks of (default: all)");
  command->add_option("--op-column", options.opColumn,
                      "header word or number of the operator column");
  command->add_option("--status-column", options.statusColumn, "of the status column");
  command->add_option("--dtype-column", options.dtypeColumn, "of the dtype column");
  command->add_option("--note-column", options.noteColumn, "of the note column");
  command->add_option(
      "--words", flags->statusWords,
      "words of the status column, e.g. 'Supported=native,Falls back=cpu-fallback'");
  command->add_option("--source", options.source,
                      "where the table comes from (default: the file's name)");
  command->add_option("--date", options.date, "date of the table, YYYY-MM-DD");
  command->add_option("--evidence", options.evidence, "kind of evidence (default: documented)");
  command->add_option("--confidence", options.confidence, "high, medium or low (default: medium)");
  command->footer(
      "The embedded database is never changed. Rows that cannot be taken are listed with line and "
      "reason;\n"
      "exit code 1 when there were any, 5 when no row was taken.");
}

}  // namespace

void addDbCommand(CLI::App& app, CommandLine& line) {
  CLI::App* db =
      app.add_subcommand("db", "the operator database: list, show, import, diff, export");
  db->require_subcommand(1);
  const auto flags = std::make_shared<DbFlags>();
  CLI::App* listCommand =
      addOne(*db, line, flags, "list", "operators and what is stated of them", list);
  listCommand->add_option("text", flags->text, "part of the operator's name");
  listCommand->add_option("--release", line.options.release, "rows of this release only");
  listCommand->add_option("--mode", line.options.mode, "rows of this mode only");
  listCommand->add_option("--status", flags->status, "operators with such a row");
  listCommand->add_flag("--all", flags->all, "also operators nothing is stated of");
  listCommand->add_flag("--rules", flags->rules, "the rules instead: ids, severities, titles");
  CLI::App* showCommand = addOne(*db, line, flags, "show",
                                 "all that is known of one operator, with evidence and age", show);
  showCommand->add_option("operator", flags->text, "aten::gelu, aten::add.Tensor, gelu, ...")
      ->required();
  addImport(*db, line, flags);
  CLI::App* diffCommand = addOne(*db, line, flags, "diff",
                                 "what changed between two releases or two database files", diff);
  diffCommand->add_option("before", flags->before, "release or database file")->required();
  diffCommand->add_option("after", flags->after, "release or database file")->required();
  diffCommand->add_option("--mode", line.options.mode, "eager or compile (default: eager)");
  CLI::App* exportCommand =
      addOne(*db, line, flags, "export", "support rows as CSV or JSON, importable again",
             [](const Options& options, const DbFlags&) { return exportRows(options); });
  exportCommand->add_option("--release", line.options.release, "rows of this release only");
  exportCommand->add_option("--format", line.options.format, "csv or json (default: csv)");
}

}  // namespace neuroncheck::cli
