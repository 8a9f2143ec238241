// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "runstore/run_schema.h"

namespace neuroncheck::runstore {
namespace {

std::string textOf(const SQLite::Column& column) {
  return column.isNull() ? std::string() : column.getString();
}

template <typename T>
T parsed(std::optional<T> value, const std::string& text) {
  if (!value) {
    throw std::runtime_error(fmt::format("unknown word '{}'", text));
  }
  return *value;
}

class Reader {
  using Ids = std::vector<std::int64_t>;

 public:
  explicit Reader(const SQLite::Database& database) : database_(database) {
    SQLite::Statement query(database, "SELECT id, value FROM text");
    while (query.executeStep()) {
      texts_[query.getColumn(0).getInt64()] = query.getColumn(1).getString();
    }
    // Run files have no index of these; asking input by input would read the whole table each time.
    SQLite::Statement models(database, "SELECT id, input_id FROM model ORDER BY id");
    while (models.executeStep()) {
      models_[models.getColumn(1).getInt64()].push_back(models.getColumn(0).getInt64());
    }
    SQLite::Statement found(database, "SELECT id, input_id, model_id FROM finding ORDER BY id");
    while (found.executeStep()) {
      Ids& ids = found.getColumn(2).isNull() ? fileFindings_[found.getColumn(1).getInt64()]
                                             : modelFindings_[found.getColumn(2).getInt64()];
      ids.push_back(found.getColumn(0).getInt64());
    }
  }

  std::string meta(const std::string& key) {
    SQLite::Statement query(database_, "SELECT value FROM meta WHERE key = ?");
    query.bind(1, key);
    if (!query.executeStep()) {
      throw std::runtime_error(fmt::format("meta has no '{}'", key));
    }
    return query.getColumn(0).getString();
  }

  [[nodiscard]] const std::map<std::int64_t, std::string>& texts() const { return texts_; }

  Result<std::vector<InputResult>> inputs() {
    std::vector<InputResult> results;
    SQLite::Statement query(
        database_,
        "SELECT id, verdict, error_code, error_message, error_context, target, document FROM input "
        "ORDER BY id");
    while (query.executeStep()) {
      InputResult input;
      input.assessment.verdict =
          parsed(parseVerdict(query.getColumn(1).getString()), query.getColumn(1).getString());
      if (!query.getColumn(2).isNull()) {
        input.error = Error{.code = parseErrorCode(query.getColumn(2).getString()),
                            .message = query.getColumn(3).getString(),
                            .context = Json::parse(query.getColumn(4).getString())};
      }
      fromJson(Json::parse(query.getColumn(5).getString()), input.assessment.target);
      const std::int64_t inputId = query.getColumn(0).getInt64();
      Json document = Json::parse(query.getColumn(6).getString());
      readModels(inputId, document, input.assessment);
      NEURONCHECK_TRY(input.inventory, inventoryFromJson(document));
      input.assessment.fileFindings = findings(fileFindings_[inputId]);
      readEvidence(inputId, input.assessment);
      results.push_back(std::move(input));
    }
    return results;
  }

 private:
  const std::string& text(const SQLite::Column& column) {
    static const std::string kNone;
    return column.isNull() ? kNone : texts_.at(column.getInt64());
  }

  void readModels(std::int64_t inputId, Json& document, Assessment& assessment) {
    document["models"] = Json::object();
    SQLite::Statement query(database_,
                            "SELECT id, name, judged, verdict, weakest_confidence, any_stale, "
                            "weakest_evidence, deciding_evidence, not_checked, "
                            "document FROM model WHERE id = ?");
    for (const std::int64_t modelId : models_[inputId]) {
      query.reset();
      query.bind(1, modelId);
      if (!query.executeStep()) {
        continue;
      }
      ModelAssessment judged;
      judged.model = query.getColumn(1).getString();
      Json model = Json::parse(query.getColumn(9).getString());
      readUses(modelId, model, judged);
      document["models"][judged.model] = std::move(model);
      if (query.getColumn(2).getInt() == 0) {
        continue;
      }
      judged.verdict =
          parsed(parseVerdict(query.getColumn(3).getString()), query.getColumn(3).getString());
      judged.weakestConfidence =
          parsed(parseConfidence(query.getColumn(4).getString()), query.getColumn(4).getString());
      judged.anyStale = query.getColumn(5).getInt() != 0;
      judged.weakestEvidence = query.getColumn(6).getString();
      judged.decidingEvidence = query.getColumn(7).getString();
      for (const Json& entry : Json::parse(query.getColumn(8).getString())) {
        fromJson(entry, judged.notChecked.emplace_back());
      }
      judged.findings = findings(modelFindings_[modelId]);
      assessment.models.push_back(std::move(judged));
    }
  }

  void readUses(std::int64_t modelId, Json& model, ModelAssessment& judged) {
    std::map<std::string, Json> nodes;
    SQLite::Statement query(
        database_,
        "SELECT use_id, op, claim, confidence, stale, age_days, reason, decided_by, remedy, "
        "leaves, evidence, "
        "caveats, case_ids, entry FROM op_use WHERE model_id = ? ORDER BY use_id");
    query.bind(1, modelId);
    while (query.executeStep()) {
      Json& list = nodes[text(query.getColumn(1))];
      list.push_back(Json::parse(query.getColumn(13).getString()));
      if (query.getColumn(2).isNull()) {
        continue;
      }
      UseClaim use;
      use.use = query.getColumn(0).getUInt();
      use.claim =
          parsed(parseClaim(query.getColumn(2).getString()), query.getColumn(2).getString());
      use.confidence =
          parsed(parseConfidence(query.getColumn(3).getString()), query.getColumn(3).getString());
      use.stale = query.getColumn(4).getInt() != 0;
      use.ageDays = query.getColumn(5).getInt64();
      use.reason = text(query.getColumn(6));
      use.decidedBy = text(query.getColumn(7));
      use.remedy = text(query.getColumn(8));
      for (const Json& leaf : Json::parse(text(query.getColumn(9)))) {
        fromJson(leaf, use.leaves.emplace_back());
      }
      use.evidence = Json::parse(text(query.getColumn(10)));
      use.caveats = Json::parse(text(query.getColumn(11)));
      use.caseIds = Json::parse(text(query.getColumn(12)));
      ++judged.counts[use.claim];
      judged.uses.push_back(std::move(use));
    }
    for (const char* list : {"ops", "custom_ops"}) {
      for (Json& op : model.at(list)) {
        op["nodes"] = std::move(nodes.at(op.at("target").get<std::string>()));
      }
    }
  }

  std::vector<Finding> findings(const Ids& ids) {
    std::vector<Finding> results;
    SQLite::Statement query(database_,
                            "SELECT id, rule, code, severity, title, message, targets, remedy, "
                            "evidence FROM finding WHERE id = ?");
    for (const std::int64_t id : ids) {
      query.reset();
      query.bind(1, id);
      if (!query.executeStep()) {
        continue;
      }
      Finding finding;
      finding.rule = query.getColumn(1).getString();
      finding.code = query.getColumn(2).getString();
      finding.severity =
          parsed(parseSeverity(query.getColumn(3).getString()), query.getColumn(3).getString());
      finding.title = query.getColumn(4).getString();
      finding.message = query.getColumn(5).getString();
      finding.targets = Json::parse(query.getColumn(6).getString());
      finding.remedy = query.getColumn(7).getString();
      finding.evidence = Json::parse(query.getColumn(8).getString());
      readPlaces(id, finding);
      results.push_back(std::move(finding));
    }
    return results;
  }

  void readPlaces(std::int64_t findingId, Finding& finding) {
    SQLite::Statement query(database_,
                            "SELECT model, node, op, file, line, detail FROM place WHERE "
                            "finding_id = ? ORDER BY position");
    query.bind(1, findingId);
    while (query.executeStep()) {
      finding.places.push_back(
          {.model = query.getColumn(0).getString(),
           .node = query.getColumn(1).getString(),
           .op = query.getColumn(2).getString(),
           .source = {query.getColumn(3).getString(), query.getColumn(4).getInt64()},
           .detail = query.getColumn(5).getString()});
    }
  }

  void readEvidence(std::int64_t inputId, Assessment& assessment) {
    SQLite::Statement query(database_,
                            "SELECT id, kind, source, product, release, observed, confidence, "
                            "stale, status, note FROM evidence "
                            "WHERE input_id = ?");
    query.bind(1, inputId);
    while (query.executeStep()) {
      Evidence evidence;
      evidence.id = query.getColumn(0).getString();
      evidence.kind = textOf(query.getColumn(1));
      evidence.source = textOf(query.getColumn(2));
      evidence.product = textOf(query.getColumn(3));
      evidence.release = textOf(query.getColumn(4));
      evidence.observed = textOf(query.getColumn(5));
      evidence.confidence =
          parsed(parseConfidence(query.getColumn(6).getString()), query.getColumn(6).getString());
      evidence.stale = query.getColumn(7).getInt() != 0;
      evidence.status = textOf(query.getColumn(8));
      evidence.note = textOf(query.getColumn(9));
      assessment.evidence[evidence.id] = std::move(evidence);
    }
  }

  const SQLite::Database& database_;
  std::map<std::int64_t, std::string> texts_;
  std::map<std::int64_t, Ids> models_;         ///< by input
  std::map<std::int64_t, Ids> fileFindings_;   ///< by input
  std::map<std::int64_t, Ids> modelFindings_;  ///< by model
};

}  // namespace

Result<RunRecord> readRun(const SQLite::Database& database, int version) {
  Reader reader(database);
  RunRecord record;
  record.tool = reader.meta("tool");
  record.command = Json::parse(reader.meta("command"));
  record.started = reader.meta("started");
  record.finished = reader.meta("finished");
  fromJson(Json::parse(reader.meta("environment")), record.environment);
  fromJson(Json::parse(reader.meta("target")), record.target);
  record.database = reader.meta("database");
  record.device = reader.meta("device");
  record.simulated = reader.meta("simulated") == "true";
  NEURONCHECK_TRY(record.inputs, reader.inputs());
  if (version < 2) {
    return record;  // version 1 kept no outcomes
  }
  record.seed = std::stoull(reader.meta("seed"));
  record.profile = reader.meta("profile");
  record.shard = reader.meta("shard");
  for (const Json& entry : Json::parse(reader.meta("not_run"))) {
    fromJson(entry, record.notRun.emplace_back());
  }
  record.outcomes = readOutcomes(database, reader.texts());
  return record;
}

}  // namespace neuroncheck::runstore
