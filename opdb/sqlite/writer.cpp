// SPDX-License-Identifier: Apache-2.0
#include "opdb/sqlite/writer.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/words.h"

namespace neuroncheck::opdb::sqlite {
namespace {

/// Binds values in order from parameter 1 on and runs the statement once.
class Binder {
 public:
  explicit Binder(SQLite::Statement& statement) : statement_(statement) {}
  Binder& operator<<(const std::string& value) {
    statement_.bind(++at_, value);
    return *this;
  }
  Binder& operator<<(std::string_view value) { return *this << std::string(value); }
  Binder& operator<<(std::int64_t value) {
    statement_.bind(++at_, value);
    return *this;
  }
  Binder& operator<<(bool value) { return *this << static_cast<std::int64_t>(value ? 1 : 0); }

 private:
  SQLite::Statement& statement_;
  int at_ = 0;
};

std::string otherwiseWord(const SupportRow& row) {
  return row.otherwise ? std::string(name(*row.otherwise)) : std::string();
}

std::int64_t versionNumber(std::string_view part) {
  std::int64_t number = 0;
  std::from_chars(part.data(), part.data() + part.size(), number);
  return number;
}

}  // namespace

bool versionLess(const std::string& a, const std::string& b) {
  const auto split = [](const std::string& text) {
    const std::size_t dash = text.find('-');
    return std::pair(splitWords(text.substr(0, dash), '.'),
                     dash == std::string::npos ? std::string() : text.substr(dash));
  };
  const auto [left, leftSuffix] = split(a);
  const auto [right, rightSuffix] = split(b);
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::int64_t x = i < left.size() ? versionNumber(left[i]) : 0;
    const std::int64_t y = i < right.size() ? versionNumber(right[i]) : 0;
    if (x != y) {
      return x < y;
    }
  }
  if (leftSuffix.empty() != rightSuffix.empty()) {
    return rightSuffix.empty();
  }
  return leftSuffix < rightSuffix;
}

Writer::Writer(std::unique_ptr<SQLite::Database> database)
    : database_(std::move(database)),
      transaction_(std::make_unique<SQLite::Transaction>(*database_)) {}

SQLite::Statement& Writer::prepared(std::optional<SQLite::Statement>& slot, const char* sql) {
  if (!slot) {
    slot.emplace(*database_, sql);
  } else {
    slot->tryReset();
  }
  return *slot;
}

void Writer::setMeta(const std::string& key, const std::string& value) {
  SQLite::Statement statement(*database_, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
  Binder(statement) << key << value;
  statement.exec();
}

void Writer::insert(const OpRecord& op) {
  SQLite::Statement& statement =
      prepared(insertOp_, "INSERT INTO op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(statement) << op.name << op.packet << op.schema << op.tags << op.variants
                    << op.dispatchClass << op.structuredTwin << op.cpuKernel << op.throwsOnly
                    << op.view << op.mutates << op.coreDecomposition;
  statement.exec();
}

void Writer::insert(const ExpansionRow& row) {
  SQLite::Statement& statement = prepared(
      insertExpansion_,
      "INSERT INTO expansion (op, child, times, always, plumbing, condition, only_if, args, "
      "samples, source, truncated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(statement) << row.op << row.child << row.times << row.always << row.plumbing
                    << row.condition << row.onlyIf << row.argsJson << row.samples << row.source
                    << row.truncated;
  statement.exec();
}

void Writer::insert(const Release& release) {
  SQLite::Statement statement(*database_, "INSERT INTO release VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(statement) << release.product << release.name << release.order << release.sdk
                    << release.date << release.torch << release.compiler
                    << release.registrationsComplete << release.note;
  statement.exec();
}

void Writer::insert(const FeatureRow& row, const std::string& product) {
  SQLite::Statement statement(*database_,
                              "INSERT INTO feature (feature, product, applies_to, mode, status, "
                              "message, release, evidence_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(statement) << row.id << product << row.appliesTo << row.mode << name(row.status)
                    << row.message << row.release
                    << evidence(row.evidence, row.source, product, row.release, row.observed,
                                row.confidence);
  statement.exec();
}

void Writer::insert(const CompilerRule& rule) {
  SQLite::Statement statement(
      *database_,
      "INSERT INTO rule (code, title, targets, scope, mode, predicate, machine_checkable, note, "
      "product, release, answers_for, evidence_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(statement) << rule.code << rule.title << fmt::format("{}", fmt::join(rule.targets, " "))
                    << name(rule.scope) << rule.mode << rule.predicate << rule.machineCheckable
                    << rule.note << rule.product << rule.release << rule.answersFor
                    << evidence(rule.evidence, rule.source, rule.product, rule.release, "",
                                rule.confidence);
  statement.exec();
}

std::int64_t Writer::evidence(const std::string& kind, const std::string& source,
                              const std::string& product, const std::string& release,
                              const std::string& observed, Confidence confidence) {
  SQLite::Statement& insertion =
      prepared(insertEvidence_,
               "INSERT OR IGNORE INTO evidence (kind, source, product, release, observed, "
               "confidence) VALUES (?, ?, ?, ?, ?, ?)");
  Binder(insertion) << kind << source << product << release << observed
                    << neuroncheck::name(confidence);
  insertion.exec();
  SQLite::Statement& query = prepared(
      findEvidence_,
      "SELECT id FROM evidence WHERE kind = ? AND source = ? AND product = ? AND release = ? "
      "AND observed = ? AND confidence = ?");
  Binder(query) << kind << source << product << release << observed
                << neuroncheck::name(confidence);
  query.executeStep();
  return query.getColumn(0).getInt64();
}

std::optional<std::pair<std::int64_t, bool>> Writer::findSupport(const SupportRow& row) {
  SQLite::Statement& query = prepared(
      findSupport_,
      "SELECT s.id, s.status = ? AND s.otherwise = ? AND s.path_note = ? AND s.vendor_test = ? "
      "AND s.note = ? AND e.observed = ? AND e.confidence = ? "
      "FROM support s JOIN evidence e ON e.id = s.evidence_id "
      "WHERE s.op = ? AND s.product = ? AND s.scope = ? AND s.release = ? AND s.mode = ? "
      "AND s.chip = ? AND s.dtypes = ? AND s.predicate = ? AND e.kind = ? AND e.source = ?");
  Binder(query) << name(row.status) << otherwiseWord(row) << row.pathNote << row.vendorTest
                << row.note << row.observed << neuroncheck::name(row.confidence) << row.op
                << row.product << name(row.scope) << row.release << row.mode << row.chip
                << row.dtypes << row.predicate << row.evidence << row.source;
  if (!query.executeStep()) {
    return std::nullopt;
  }
  return std::pair(query.getColumn(0).getInt64(), query.getColumn(1).getInt() != 0);
}

Stored Writer::store(const SupportRow& row) {
  const auto known = findSupport(row);
  if (known && known->second) {
    return Stored::Merged;
  }
  const std::int64_t evidenceId =
      evidence(row.evidence, row.source, row.product, row.release, row.observed, row.confidence);
  if (known) {
    SQLite::Statement& update =
        prepared(updateSupport_,
                 "UPDATE support SET status = ?, otherwise = ?, path_note = ?, vendor_test = ?, "
                 "note = ?, evidence_id = ? WHERE id = ?");
    Binder(update) << name(row.status) << otherwiseWord(row) << row.pathNote << row.vendorTest
                   << row.note << evidenceId << known->first;
    update.exec();
    return Stored::Replaced;
  }
  SQLite::Statement& insertion =
      prepared(insertSupport_,
               "INSERT INTO support (op, scope, status, product, release, mode, chip, dtypes, "
               "predicate, otherwise, path_note, vendor_test, note, evidence_id) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Binder(insertion) << row.op << name(row.scope) << name(row.status) << row.product << row.release
                    << row.mode << row.chip << row.dtypes << row.predicate << otherwiseWord(row)
                    << row.pathNote << row.vendorTest << row.note << evidenceId;
  insertion.exec();
  return Stored::Inserted;
}

bool Writer::addRelease(const std::string& product, const std::string& name,
                        const std::string& date) {
  SQLite::Statement query(
      *database_, "SELECT name, sort_order FROM release WHERE product = ? ORDER BY sort_order");
  query.bind(1, product);
  std::int64_t order = 1;
  while (query.executeStep()) {
    const std::string known = query.getColumn(0).getString();
    if (known == name) {
      return false;
    }
    if (versionLess(known, name)) {
      order = query.getColumn(1).getInt64() + 1;
    }
  }
  SQLite::Statement shift(
      *database_,
      "UPDATE release SET sort_order = sort_order + 1 WHERE product = ? AND sort_order >= ?");
  Binder(shift) << product << order;
  shift.exec();
  Release release;
  release.product = product;
  release.name = name;
  release.order = order;
  release.date = date;
  release.note = "added by an import";
  insert(release);
  return true;
}

void Writer::commit(bool compact) {
  transaction_->commit();
  transaction_.reset();
  for (auto* slot : {&insertOp_, &insertExpansion_, &insertSupport_, &updateSupport_, &findSupport_,
                     &insertEvidence_, &findEvidence_}) {
    slot->reset();
  }
  if (compact) {
    database_->exec("VACUUM");
  }
}

}  // namespace neuroncheck::opdb::sqlite
