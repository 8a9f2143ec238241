// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_schema.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace neuroncheck::runstore {

const char* const kCreateTables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE text (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
CREATE TABLE input (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, verdict TEXT NOT NULL,
  error_code TEXT, error_message TEXT, error_context TEXT,
  target TEXT NOT NULL, document TEXT NOT NULL);
CREATE TABLE model (
  id INTEGER PRIMARY KEY, input_id INTEGER NOT NULL REFERENCES input, name TEXT NOT NULL,
  judged INTEGER NOT NULL, verdict TEXT NOT NULL, weakest_confidence TEXT NOT NULL, any_stale INTEGER NOT NULL,
  weakest_evidence TEXT NOT NULL, deciding_evidence TEXT NOT NULL, not_checked TEXT NOT NULL, document TEXT NOT NULL);
CREATE TABLE op_use (
  model_id INTEGER NOT NULL REFERENCES model, use_id INTEGER NOT NULL, op INTEGER NOT NULL REFERENCES text,
  grp TEXT NOT NULL, node TEXT NOT NULL, source INTEGER REFERENCES text,
  claim TEXT, confidence TEXT, stale INTEGER, age_days INTEGER,
  reason INTEGER REFERENCES text, decided_by INTEGER REFERENCES text, remedy INTEGER REFERENCES text,
  leaves INTEGER REFERENCES text, evidence INTEGER REFERENCES text, caveats INTEGER REFERENCES text,
  case_ids INTEGER REFERENCES text, entry TEXT NOT NULL,
  PRIMARY KEY (model_id, use_id)) WITHOUT ROWID;
CREATE INDEX op_use_by_op ON op_use (op);
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, input_id INTEGER NOT NULL REFERENCES input, model_id INTEGER REFERENCES model,
  rule TEXT NOT NULL, code TEXT NOT NULL, severity TEXT NOT NULL, title TEXT NOT NULL, message TEXT NOT NULL,
  targets TEXT NOT NULL, remedy TEXT NOT NULL, evidence TEXT NOT NULL);
CREATE TABLE place (
  finding_id INTEGER NOT NULL REFERENCES finding, position INTEGER NOT NULL, model TEXT NOT NULL, node TEXT NOT NULL,
  op TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, detail TEXT NOT NULL,
  PRIMARY KEY (finding_id, position)) WITHOUT ROWID;
CREATE TABLE evidence (
  input_id INTEGER NOT NULL REFERENCES input, id TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL,
  product TEXT NOT NULL, release TEXT NOT NULL, observed TEXT NOT NULL, confidence TEXT NOT NULL, stale INTEGER NOT NULL,
  status TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (input_id, id)) WITHOUT ROWID;
CREATE TABLE "case" (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL, op INTEGER NOT NULL REFERENCES text,
  uses INTEGER NOT NULL, models INTEGER NOT NULL REFERENCES text);
CREATE TABLE outcome (
  case_position INTEGER PRIMARY KEY REFERENCES "case", state TEXT NOT NULL,
  stage INTEGER NOT NULL REFERENCES text, cause INTEGER NOT NULL REFERENCES text, message INTEGER NOT NULL REFERENCES text,
  fallbacks INTEGER NOT NULL REFERENCES text, dispatch TEXT NOT NULL, ending INTEGER NOT NULL REFERENCES text,
  stderr_tail INTEGER NOT NULL REFERENCES text, notes INTEGER NOT NULL REFERENCES text, runs INTEGER NOT NULL, seconds NOT NULL);
CREATE TABLE attempt (
  case_position INTEGER NOT NULL REFERENCES "case", number INTEGER NOT NULL, fill TEXT NOT NULL, seed INTEGER NOT NULL,
  state TEXT NOT NULL, PRIMARY KEY (case_position, number)) WITHOUT ROWID;
CREATE TABLE metric (
  case_position INTEGER NOT NULL REFERENCES "case", attempt INTEGER NOT NULL, number INTEGER NOT NULL,
  what INTEGER NOT NULL REFERENCES text, state TEXT NOT NULL, cause INTEGER NOT NULL REFERENCES text,
  reason INTEGER NOT NULL REFERENCES text, rule INTEGER NOT NULL REFERENCES text, elements INTEGER NOT NULL,
  wrong INTEGER NOT NULL, max_abs, max_rel, max_ulp, max_ratio, worst_index INTEGER NOT NULL, worst_actual NOT NULL,
  worst_truth NOT NULL, rtol_needed NOT NULL, atol_needed NOT NULL, identical_to_cpu INTEGER NOT NULL, constant,
  PRIMARY KEY (case_position, attempt, number)) WITHOUT ROWID;
)sql";

namespace {

constexpr std::array<std::pair<ErrorCode, std::string_view>, 6> kErrorCodes{
    {{ErrorCode::Usage, "usage"},
     {ErrorCode::Input, "input"},
     {ErrorCode::Unavailable, "unavailable"},
     {ErrorCode::Output, "output"},
     {ErrorCode::Internal, "internal"},
     {ErrorCode::Nothing, "nothing"}}};

template <typename T>
T parsed(std::optional<T> value, const char* what, const Json& json) {
  if (!value) {
    throw std::runtime_error(std::string("unknown ") + what + " " + json.dump());
  }
  return *value;
}

}  // namespace

std::string_view name(ErrorCode code) {
  for (const auto& [known, word] : kErrorCodes) {
    if (known == code) {
      return word;
    }
  }
  return "internal";
}

ErrorCode parseErrorCode(std::string_view text) {
  for (const auto& [code, word] : kErrorCodes) {
    if (word == text) {
      return code;
    }
  }
  throw std::runtime_error("unknown error code " + std::string(text));
}

Json toJson(const LeafClaim& leaf) {
  return {{"op", leaf.op},
          {"times", leaf.times},
          {"always", leaf.always},
          {"claim", name(leaf.claim)},
          {"reason", leaf.reason}};
}

void fromJson(const Json& json, LeafClaim& leaf) {
  json.at("op").get_to(leaf.op);
  json.at("times").get_to(leaf.times);
  json.at("always").get_to(leaf.always);
  leaf.claim = parsed(parseClaim(json.at("claim").get<std::string>()), "claim", json);
  json.at("reason").get_to(leaf.reason);
}

Json toJson(const NotChecked& entry) {
  return {{"what", entry.what}, {"why", entry.why}, {"how", entry.how}};
}

void fromJson(const Json& json, NotChecked& entry) {
  json.at("what").get_to(entry.what);
  json.at("why").get_to(entry.why);
  json.at("how").get_to(entry.how);
}

}  // namespace neuroncheck::runstore
