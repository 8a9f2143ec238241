// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "runstore/run_schema.h"

namespace neuroncheck::runstore {
namespace {

/// SQLite reads a NaN back as NULL and a negative zero as zero: those two keep their bits in a
/// blob.
void bindDouble(SQLite::Statement& statement, int at, double value) {
  if (std::isnan(value) || (value == 0 && std::signbit(value))) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    statement.bind(at, &bits, sizeof bits);
  } else {
    statement.bind(at, value);
  }
}

void bindDouble(SQLite::Statement& statement, int at, const std::optional<double>& value) {
  if (value) {
    bindDouble(statement, at, *value);
  } else {
    statement.bind(at);
  }
}

double doubleOf(const SQLite::Column& column) {
  if (!column.isBlob()) {
    return column.getDouble();
  }
  if (column.getBytes() != sizeof(double)) {
    throw std::runtime_error("a number of another size than 8 bytes");
  }
  double value = 0;
  std::memcpy(&value, column.getBlob(), sizeof value);
  return value;
}

std::optional<double> optionalOf(const SQLite::Column& column) {
  return column.isNull() ? std::optional<double>() : doubleOf(column);
}

CaseState stateOf(const SQLite::Column& column) {
  const std::string word = column.getString();
  const auto state = parseCaseState(word);
  if (!state) {
    throw std::runtime_error(fmt::format("unknown state '{}'", word));
  }
  return *state;
}

std::string listText(const std::vector<std::string>& list) { return dumpJson(Json(list), -1); }

class OutcomeReader {
 public:
  OutcomeReader(const SQLite::Database& database, const std::map<std::int64_t, std::string>& texts)
      : database_(database), texts_(texts) {}

  std::vector<Outcome> read() {
    cases();
    outcomes();
    attempts();
    metrics();
    return std::move(out_);
  }

 private:
  const std::string& text(const SQLite::Column& column) const {
    return texts_.at(column.getInt64());
  }
  std::vector<std::string> list(const SQLite::Column& column) const {
    return Json::parse(text(column)).get<std::vector<std::string>>();
  }
  Outcome& at(const SQLite::Column& column) {
    return out_.at(static_cast<std::size_t>(column.getInt64()));
  }

  void cases() {
    SQLite::Statement query(
        database_, "SELECT position, id, text, op, uses, models FROM \"case\" ORDER BY position");
    while (query.executeStep()) {
      if (query.getColumn(0).getInt64() != static_cast<std::int64_t>(out_.size())) {
        throw std::runtime_error(fmt::format("case {} of the plan is absent", out_.size()));
      }
      Outcome& outcome = out_.emplace_back();
      outcome.id = query.getColumn(1).getString();
      outcome.text = query.getColumn(2).getString();
      outcome.op = text(query.getColumn(3));
      outcome.uses = query.getColumn(4).getInt64();
      outcome.models = list(query.getColumn(5));
    }
  }

  void outcomes() {
    SQLite::Statement query(database_,
                            "SELECT case_position, state, stage, cause, message, fallbacks, "
                            "dispatch, ending, stderr_tail, notes, runs, seconds FROM outcome");
    while (query.executeStep()) {
      Outcome& outcome = at(query.getColumn(0));
      outcome.state = stateOf(query.getColumn(1));
      outcome.stage = text(query.getColumn(2));
      outcome.cause = text(query.getColumn(3));
      outcome.message = text(query.getColumn(4));
      outcome.fallbacks = list(query.getColumn(5));
      outcome.dispatch = query.getColumn(6).getString();
      outcome.ending = text(query.getColumn(7));
      outcome.stderrTail = text(query.getColumn(8));
      outcome.notes = list(query.getColumn(9));
      outcome.runs = query.getColumn(10).getInt();
      outcome.seconds = doubleOf(query.getColumn(11));
    }
  }

  void attempts() {
    SQLite::Statement query(database_,
                            "SELECT case_position, fill, seed, state FROM attempt ORDER BY "
                            "case_position, number");
    while (query.executeStep()) {
      at(query.getColumn(0))
          .attempts.push_back({.fill = query.getColumn(1).getString(),
                               .seed = static_cast<std::uint64_t>(query.getColumn(2).getInt64()),
                               .state = stateOf(query.getColumn(3)),
                               .outputs = {}});
    }
  }

  void metrics() {
    SQLite::Statement query(
        database_,
        "SELECT case_position, attempt, what, state, cause, reason, rule, elements, wrong, "
        "max_abs, max_rel, max_ulp, max_ratio, worst_index, worst_actual, worst_truth, "
        "rtol_needed, atol_needed, identical_to_cpu, constant FROM metric ORDER BY case_position, "
        "attempt, "
        "number");
    while (query.executeStep()) {
      OutputOutcome& output =
          at(query.getColumn(0)).attempts.at(query.getColumn(1).getUInt()).outputs.emplace_back();
      output.what = text(query.getColumn(2));
      output.state = stateOf(query.getColumn(3));
      output.cause = text(query.getColumn(4));
      output.reason = text(query.getColumn(5));
      output.rule = text(query.getColumn(6));
      output.elements = query.getColumn(7).getInt64();
      output.wrong = query.getColumn(8).getInt64();
      output.maxAbs = optionalOf(query.getColumn(9));
      output.maxRel = optionalOf(query.getColumn(10));
      output.maxUlp = optionalOf(query.getColumn(11));
      output.maxRatio = optionalOf(query.getColumn(12));
      output.worstIndex = query.getColumn(13).getInt64();
      output.worstActual = doubleOf(query.getColumn(14));
      output.worstTruth = doubleOf(query.getColumn(15));
      output.rtolNeeded = doubleOf(query.getColumn(16));
      output.atolNeeded = doubleOf(query.getColumn(17));
      output.identicalToCpu = query.getColumn(18).getInt() != 0;
      output.constant = optionalOf(query.getColumn(19));
    }
  }

  const SQLite::Database& database_;
  const std::map<std::int64_t, std::string>& texts_;
  std::vector<Outcome> out_;
};

}  // namespace

TextTable::TextTable(SQLite::Database& database)
    : database_(database),
      insert_(database, "INSERT OR IGNORE INTO text (value) VALUES (?)"),
      find_(database, "SELECT id FROM text WHERE value = ?") {}

std::int64_t TextTable::id(const std::string& value) {
  const auto [entry, isNew] = known_.try_emplace(value, 0);
  if (!isNew) {
    return entry->second;
  }
  insert_.reset();
  insert_.bind(1, value);
  if (insert_.exec() == 1) {
    return entry->second = database_.getLastInsertRowid();
  }
  find_.reset();
  find_.bind(1, value);
  find_.executeStep();
  entry->second = find_.getColumn(0).getInt64();
  find_.reset();
  return entry->second;
}

OutcomeTables::OutcomeTables(SQLite::Database& database, TextTable& texts)
    : texts_(texts),
      case_(database, "INSERT INTO \"case\" VALUES (?, ?, ?, ?, ?, ?)"),
      outcome_(database,
               "INSERT OR REPLACE INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      attempt_(database, "INSERT INTO attempt VALUES (?, ?, ?, ?, ?)"),
      metric_(database,
              "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
              "?, ?)"),
      dropAttempts_(database, "DELETE FROM attempt WHERE case_position = ?"),
      dropMetrics_(database, "DELETE FROM metric WHERE case_position = ?") {}

void OutcomeTables::plan(std::size_t position, const Outcome& outcome) {
  case_.reset();
  case_.bind(1, static_cast<std::int64_t>(position));
  case_.bind(2, outcome.id);
  case_.bind(3, outcome.text);
  case_.bind(4, texts_.id(outcome.op));
  case_.bind(5, outcome.uses);
  case_.bind(6, texts_.id(listText(outcome.models)));
  case_.exec();
  put(position, outcome);
}

void OutcomeTables::put(std::size_t position, const Outcome& outcome) {
  const auto at = static_cast<std::int64_t>(position);
  for (SQLite::Statement* drop : {&dropAttempts_, &dropMetrics_}) {
    drop->reset();
    drop->bind(1, at);
    drop->exec();
  }
  outcome_.reset();
  outcome_.bind(1, at);
  outcome_.bind(2, std::string(neuroncheck::name(outcome.state)));
  outcome_.bind(3, texts_.id(outcome.stage));
  outcome_.bind(4, texts_.id(outcome.cause));
  outcome_.bind(5, texts_.id(outcome.message));
  outcome_.bind(6, texts_.id(listText(outcome.fallbacks)));
  outcome_.bind(7, outcome.dispatch);
  outcome_.bind(8, texts_.id(outcome.ending));
  outcome_.bind(9, texts_.id(outcome.stderrTail));
  outcome_.bind(10, texts_.id(listText(outcome.notes)));
  outcome_.bind(11, outcome.runs);
  bindDouble(outcome_, 12, outcome.seconds);
  outcome_.exec();
  for (std::size_t i = 0; i < outcome.attempts.size(); ++i) {
    putAttempt(at, static_cast<std::int64_t>(i), outcome.attempts[i]);
  }
}

void OutcomeTables::putAttempt(std::int64_t position, std::int64_t number,
                               const AttemptOutcome& attempt) {
  attempt_.reset();
  attempt_.bind(1, position);
  attempt_.bind(2, number);
  attempt_.bind(3, attempt.fill);
  attempt_.bind(4, static_cast<std::int64_t>(attempt.seed));
  attempt_.bind(5, std::string(neuroncheck::name(attempt.state)));
  attempt_.exec();
  for (std::size_t i = 0; i < attempt.outputs.size(); ++i) {
    const OutputOutcome& output = attempt.outputs[i];
    metric_.reset();
    metric_.bind(1, position);
    metric_.bind(2, number);
    metric_.bind(3, static_cast<std::int64_t>(i));
    metric_.bind(4, texts_.id(output.what));
    metric_.bind(5, std::string(neuroncheck::name(output.state)));
    metric_.bind(6, texts_.id(output.cause));
    metric_.bind(7, texts_.id(output.reason));
    metric_.bind(8, texts_.id(output.rule));
    metric_.bind(9, output.elements);
    metric_.bind(10, output.wrong);
    bindDouble(metric_, 11, output.maxAbs);
    bindDouble(metric_, 12, output.maxRel);
    bindDouble(metric_, 13, output.maxUlp);
    bindDouble(metric_, 14, output.maxRatio);
    metric_.bind(15, output.worstIndex);
    bindDouble(metric_, 16, output.worstActual);
    bindDouble(metric_, 17, output.worstTruth);
    bindDouble(metric_, 18, output.rtolNeeded);
    bindDouble(metric_, 19, output.atolNeeded);
    metric_.bind(20, output.identicalToCpu ? 1 : 0);
    bindDouble(metric_, 21, output.constant);
    metric_.exec();
  }
}

std::vector<Outcome> readOutcomes(const SQLite::Database& database,
                                  const std::map<std::int64_t, std::string>& texts) {
  return OutcomeReader(database, texts).read();
}

}  // namespace neuroncheck::runstore
