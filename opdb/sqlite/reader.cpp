// SPDX-License-Identifier: Apache-2.0
#include "opdb/sqlite/reader.h"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "opdb/words.h"

namespace neuroncheck::opdb::sqlite {
namespace {

constexpr const char* kSupportColumns =
    "SELECT s.id, s.op, s.scope, s.status, s.product, s.release, s.mode, s.chip, s.dtypes, "
    "s.predicate, s.otherwise, s.path_note, s.vendor_test, s.note, e.kind, e.confidence, "
    "e.observed, e.source FROM support s JOIN evidence e ON e.id = s.evidence_id ";

std::string text(const SQLite::Statement& row, int column) {
  return row.getColumn(column).getString();
}
bool flag(const SQLite::Statement& row, int column) { return row.getColumn(column).getInt() != 0; }

/// A word the program does not know (a hand-edited file) reads as "no statement", never as support.
SupportStatus statusOf(const std::string& word) {
  return parseSupportStatus(word).value_or(SupportStatus::Unknown);
}
Confidence confidenceOf(const std::string& word) {
  return parseConfidence(word).value_or(Confidence::None);
}

SupportRow supportRow(const SQLite::Statement& row) {
  SupportRow out;
  out.id = row.getColumn(0).getInt64();
  out.op = text(row, 1);
  out.scope = parseRowScope(text(row, 2)).value_or(RowScope::Feature);
  out.status = statusOf(text(row, 3));
  out.product = text(row, 4);
  out.release = text(row, 5);
  out.mode = text(row, 6);
  out.chip = text(row, 7);
  out.dtypes = text(row, 8);
  out.predicate = text(row, 9);
  if (const std::string otherwise = text(row, 10); !otherwise.empty()) {
    out.otherwise = statusOf(otherwise);
  }
  out.pathNote = text(row, 11);
  out.vendorTest = text(row, 12);
  out.note = text(row, 13);
  out.evidence = text(row, 14);
  out.confidence = confidenceOf(text(row, 15));
  out.observed = text(row, 16);
  out.source = text(row, 17);
  return out;
}

std::vector<OpName> names(SQLite::Statement& query) {
  std::vector<OpName> result;
  while (query.executeStep()) {
    if (auto parsed = OpName::parse(query.getColumn(0).getString())) {
      result.push_back(*std::move(parsed));
    }
  }
  return result;
}

}  // namespace

Reader::Reader(std::unique_ptr<SQLite::Database> database) : database_(std::move(database)) {}

SQLite::Statement& Reader::prepared(std::optional<SQLite::Statement>& slot, const char* sql) {
  if (!slot) {
    slot.emplace(*database_, sql);
  } else {
    slot->tryReset();  // reset() would throw again what the last step threw
  }
  return *slot;
}

std::string Reader::meta(const std::string& key) {
  SQLite::Statement query(*database_, "SELECT value FROM meta WHERE key = ?");
  query.bind(1, key);
  return query.executeStep() ? text(query, 0) : std::string();
}

Result<std::optional<OpInfo>> Reader::op(const std::string& name) {
  SQLite::Statement& row = prepared(
      op_,
      "SELECT schema, tags, dispatch_class, structured_twin, cpu_kernel, throws_only, view, "
      "mutates, core_decomposition FROM op WHERE name = ?");
  row.bind(1, name);
  if (!row.executeStep()) {
    return std::nullopt;
  }
  NEURONCHECK_TRY(FunctionSchema schema, FunctionSchema::parse(text(row, 0)));
  if (schema.name.str() != name) {
    return inputError(fmt::format("operator '{}' has the schema of '{}'", name, schema.name.str()));
  }
  OpInfo info;
  info.schema = std::move(schema);
  info.tags = splitWords(text(row, 1), ' ');
  info.dispatchClass = parseDispatchClass(text(row, 2)).value_or(DispatchClass::Unknown);
  info.structuredTwin = OpName::parse(text(row, 3));
  info.cpuKernel = flag(row, 4);
  info.throwsOnly = flag(row, 5);
  info.view = parseViewClass(text(row, 6)).value_or(ViewClass::None);
  info.mutates = flag(row, 7);
  info.coreDecomposition = flag(row, 8);
  return info;
}

std::vector<OpName> Reader::overloads(std::string_view packet) {
  SQLite::Statement& query =
      prepared(overloads_, "SELECT name FROM op WHERE packet = ? ORDER BY name");
  query.bind(1, std::string(packet));
  return names(query);
}

std::vector<OpName> Reader::operatorNames() {
  SQLite::Statement query(*database_, "SELECT name FROM op ORDER BY name");
  return names(query);
}

std::vector<OpName> Reader::composites(const std::string& child) {
  SQLite::Statement query(*database_,
                          "SELECT DISTINCT op FROM expansion WHERE child = ? ORDER BY op");
  query.bind(1, child);
  return names(query);
}

std::vector<std::string> Reader::products() {
  SQLite::Statement query(*database_, "SELECT DISTINCT product FROM release ORDER BY product");
  std::vector<std::string> result;
  while (query.executeStep()) {
    result.push_back(text(query, 0));
  }
  return result;
}

std::vector<Release> Reader::releases(std::string_view product) {
  SQLite::Statement query(*database_,
                          "SELECT product, name, sort_order, sdk, date, torch, compiler, "
                          "registrations_complete, note FROM release WHERE product = ? "
                          "ORDER BY sort_order, name");
  query.bind(1, std::string(product));
  std::vector<Release> result;
  while (query.executeStep()) {
    Release release;
    release.product = text(query, 0);
    release.name = text(query, 1);
    release.order = query.getColumn(2).getInt64();
    release.sdk = text(query, 3);
    release.date = text(query, 4);
    release.torch = text(query, 5);
    release.compiler = text(query, 6);
    release.registrationsComplete = flag(query, 7);
    release.note = text(query, 8);
    result.push_back(std::move(release));
  }
  return result;
}

std::vector<SupportRow> Reader::support(const OpName& op, std::string_view product) {
  static const std::string kSql = std::string(kSupportColumns) +
                                  "WHERE s.product = ?1 AND ((s.op = ?2 AND s.scope = 'overload') "
                                  "OR (s.op IN (?3, ?4) AND s.scope = 'packet')) ORDER BY s.id";
  SQLite::Statement& query = prepared(support_, kSql.c_str());
  query.bind(1, std::string(product));
  query.bind(2, op.str());
  query.bind(3, op.packet());
  query.bind(4, functionalPacket(op));
  std::vector<SupportRow> rows;
  while (query.executeStep()) {
    rows.push_back(supportRow(query));
  }
  return rows;
}

std::vector<SupportRow> Reader::allSupport() {
  SQLite::Statement query(*database_, std::string(kSupportColumns) + "ORDER BY s.id");
  std::vector<SupportRow> rows;
  while (query.executeStep()) {
    rows.push_back(supportRow(query));
  }
  return rows;
}

std::vector<ExpansionRow> Reader::expansions(const std::string& op) {
  SQLite::Statement& query =
      prepared(expansions_,
               "SELECT op, child, times, always, plumbing, condition, "
               "only_if, args, samples, source, truncated FROM expansion WHERE op = ? "
               "ORDER BY id");
  query.bind(1, op);
  std::vector<ExpansionRow> rows;
  while (query.executeStep()) {
    ExpansionRow row;
    row.op = text(query, 0);
    row.child = text(query, 1);
    row.times = text(query, 2);
    row.always = flag(query, 3);
    row.plumbing = flag(query, 4);
    row.condition = text(query, 5);
    row.onlyIf = text(query, 6);
    row.argsJson = text(query, 7);
    row.samples = query.getColumn(8).getInt64();
    row.source = text(query, 9);
    row.truncated = flag(query, 10);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<FeatureRow> Reader::features(std::string_view product) {
  SQLite::Statement query(
      *database_,
      "SELECT f.feature, f.applies_to, f.mode, f.status, f.message, f.release, "
      "e.kind, e.confidence, e.source, e.observed FROM feature f "
      "JOIN evidence e ON e.id = f.evidence_id WHERE f.product = ? ORDER BY f.id");
  query.bind(1, std::string(product));
  std::vector<FeatureRow> rows;
  while (query.executeStep()) {
    FeatureRow row;
    row.id = text(query, 0);
    row.appliesTo = text(query, 1);
    row.mode = text(query, 2);
    row.status = statusOf(text(query, 3));
    row.message = text(query, 4);
    row.release = text(query, 5);
    row.evidence = text(query, 6);
    row.confidence = confidenceOf(text(query, 7));
    row.source = text(query, 8);
    row.observed = text(query, 9);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CompilerRule> Reader::rules(std::string_view product) {
  SQLite::Statement query(
      *database_,
      "SELECT r.code, r.title, r.targets, r.scope, r.mode, r.predicate, "
      "r.machine_checkable, r.note, r.product, r.release, r.answers_for, e.kind, "
      "e.confidence, e.source FROM rule r JOIN evidence e ON e.id = "
      "r.evidence_id WHERE r.answers_for = ? ORDER BY r.id");
  query.bind(1, std::string(product));
  std::vector<CompilerRule> rows;
  while (query.executeStep()) {
    CompilerRule row;
    row.code = text(query, 0);
    row.title = text(query, 1);
    row.targets = splitWords(text(query, 2), ' ');
    row.scope = parseRowScope(text(query, 3)).value_or(RowScope::Feature);
    row.mode = text(query, 4);
    row.predicate = text(query, 5);
    row.machineCheckable = flag(query, 6);
    row.note = text(query, 7);
    row.product = text(query, 8);
    row.release = text(query, 9);
    row.answersFor = text(query, 10);
    row.evidence = text(query, 11);
    row.confidence = confidenceOf(text(query, 12));
    row.source = text(query, 13);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace neuroncheck::opdb::sqlite
