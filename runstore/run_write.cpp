// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <utility>

#include "runstore/run_schema.h"

namespace neuroncheck::runstore {
namespace {

class Writer {
 public:
  explicit Writer(SQLite::Database& database)
      : database_(database),
        texts_(database),
        newUse_(
            database,
            "INSERT INTO op_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)") {}

  void outcomes(const std::vector<Outcome>& outcomes) {
    OutcomeTables tables(database_, texts_);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      tables.plan(i, outcomes[i]);
    }
  }

  void input(const InputResult& input) {
    Json document = neuroncheck::toJson(input.inventory);
    Json models = std::move(document["models"]);
    document.erase("models");
    SQLite::Statement insert(database_, "INSERT INTO input VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, input.inventory.path);
    insert.bind(2, std::string(neuroncheck::name(input.inventory.kind)));
    insert.bind(3, std::string(neuroncheck::name(input.assessment.verdict)));
    if (input.error) {
      insert.bind(4, std::string(name(input.error->code)));
      insert.bind(5, input.error->message);
      insert.bind(6, Json(input.error->context).dump());
    }
    insert.bind(7, toJson(input.assessment.target).dump());
    insert.bind(8, dumpJson(document, -1));
    insert.exec();
    const std::int64_t inputId = database_.getLastInsertRowid();
    for (const auto& [id, evidence] : input.assessment.evidence) {
      evidenceRow(inputId, id, evidence);
    }
    for (const Finding& finding : input.assessment.fileFindings) {
      findingRow(inputId, 0, finding);
    }
    for (std::size_t i = 0; i < input.inventory.models.size(); ++i) {
      const Model& model = input.inventory.models[i];
      const ModelAssessment* judged =
          i < input.assessment.models.size() ? &input.assessment.models[i] : nullptr;
      modelRow(inputId, model, judged, std::move(models[model.name]));
    }
  }

 private:
  std::int64_t textId(const std::string& value) { return texts_.id(value); }

  void modelRow(std::int64_t inputId, const Model& model, const ModelAssessment* judged,
                Json document) {
    static const ModelAssessment kNotJudged;
    const ModelAssessment& assessment = judged != nullptr ? *judged : kNotJudged;
    Json notChecked = Json::array();
    for (const NotChecked& entry : assessment.notChecked) {
      notChecked.push_back(toJson(entry));
    }
    std::vector<std::pair<std::int64_t, Json>> entries = takeNodes(document);
    SQLite::Statement insert(database_,
                             "INSERT INTO model VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, inputId);
    insert.bind(2, model.name);
    insert.bind(3, judged != nullptr ? 1 : 0);
    insert.bind(4, std::string(neuroncheck::name(assessment.verdict)));
    insert.bind(5, std::string(neuroncheck::name(assessment.weakestConfidence)));
    insert.bind(6, assessment.anyStale ? 1 : 0);
    insert.bind(7, assessment.weakestEvidence);
    insert.bind(8, assessment.decidingEvidence);
    insert.bind(9, dumpJson(notChecked, -1));
    insert.bind(10, dumpJson(document, -1));
    insert.exec();
    const std::int64_t modelId = database_.getLastInsertRowid();
    useRows(modelId, model, assessment, entries);
    for (const Finding& finding : assessment.findings) {
      findingRow(inputId, modelId, finding);
    }
  }

  // Takes the nodes out of a model document (they go to op_use) and leaves the operators' order and
  // counts behind.
  static std::vector<std::pair<std::int64_t, Json>> takeNodes(Json& document) {
    std::vector<std::pair<std::int64_t, Json>> entries;
    for (const char* list : {"ops", "custom_ops"}) {
      for (Json& op : document[list]) {
        for (Json& node : op["nodes"]) {
          const std::int64_t id = node["id"];
          entries.emplace_back(id, std::move(node));
        }
        op.erase("nodes");
      }
    }
    return entries;
  }

  void useRows(std::int64_t modelId, const Model& model, const ModelAssessment& assessment,
               const std::vector<std::pair<std::int64_t, Json>>& entries) {
    std::unordered_map<std::int64_t, const UseClaim*> claims;
    for (const UseClaim& use : assessment.uses) {
      claims[use.use] = &use;
    }
    std::unordered_map<std::int64_t, const Json*> byId;
    for (const auto& [id, entry] : entries) {
      byId[id] = &entry;
    }
    for (const OpUse& use : model.uses) {
      newUse_.reset();
      newUse_.clearBindings();
      newUse_.bind(1, modelId);
      newUse_.bind(2, use.id);
      newUse_.bind(3, textId(use.op.str()));
      newUse_.bind(4, std::string(neuroncheck::name(use.group)));
      newUse_.bind(5, use.node);
      if (use.source.known()) {
        newUse_.bind(6, textId(use.source.str()));
      }
      if (const auto found = claims.find(use.id); found != claims.end()) {
        bindClaim(*found->second);
      }
      newUse_.bind(18, dumpJson(*byId.at(use.id), -1));
      newUse_.exec();
    }
  }

  void bindClaim(const UseClaim& claim) {
    Json leaves = Json::array();
    for (const LeafClaim& leaf : claim.leaves) {
      leaves.push_back(toJson(leaf));
    }
    newUse_.bind(7, std::string(neuroncheck::name(claim.claim)));
    newUse_.bind(8, std::string(neuroncheck::name(claim.confidence)));
    newUse_.bind(9, claim.stale ? 1 : 0);
    newUse_.bind(10, claim.ageDays);
    newUse_.bind(11, textId(claim.reason));
    newUse_.bind(12, textId(claim.decidedBy));
    newUse_.bind(13, textId(claim.remedy));
    newUse_.bind(14, textId(dumpJson(leaves, -1)));
    newUse_.bind(15, textId(dumpJson(Json(claim.evidence), -1)));
    newUse_.bind(16, textId(dumpJson(Json(claim.caveats), -1)));
    newUse_.bind(17, textId(dumpJson(Json(claim.caseIds), -1)));
  }

  void findingRow(std::int64_t inputId, std::int64_t modelId, const Finding& finding) {
    SQLite::Statement insert(database_,
                             "INSERT INTO finding VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, inputId);
    if (modelId != 0) {
      insert.bind(2, modelId);
    }
    insert.bind(3, finding.rule);
    insert.bind(4, finding.code);
    insert.bind(5, std::string(neuroncheck::name(finding.severity)));
    insert.bind(6, finding.title);
    insert.bind(7, finding.message);
    insert.bind(8, dumpJson(Json(finding.targets), -1));
    insert.bind(9, finding.remedy);
    insert.bind(10, dumpJson(Json(finding.evidence), -1));
    insert.exec();
    const std::int64_t findingId = database_.getLastInsertRowid();
    SQLite::Statement place(database_, "INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < finding.places.size(); ++i) {
      const FindingPlace& each = finding.places[i];
      place.reset();
      place.bind(1, findingId);
      place.bind(2, static_cast<std::int64_t>(i));
      place.bind(3, each.model);
      place.bind(4, each.node);
      place.bind(5, each.op);
      place.bind(6, each.source.file);
      place.bind(7, each.source.line);
      place.bind(8, each.detail);
      place.exec();
    }
  }

  void evidenceRow(std::int64_t inputId, const std::string& id, const Evidence& evidence) {
    SQLite::Statement insert(database_,
                             "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, inputId);
    insert.bind(2, id);
    insert.bind(3, evidence.kind);
    insert.bind(4, evidence.source);
    insert.bind(5, evidence.product);
    insert.bind(6, evidence.release);
    insert.bind(7, evidence.observed);
    insert.bind(8, std::string(neuroncheck::name(evidence.confidence)));
    insert.bind(9, evidence.stale ? 1 : 0);
    insert.bind(10, evidence.status);
    insert.bind(11, evidence.note);
    insert.exec();
  }

  SQLite::Database& database_;
  TextTable texts_;
  SQLite::Statement newUse_;
};

void meta(SQLite::Database& database, const std::string& key, const std::string& value) {
  SQLite::Statement insert(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
  insert.bind(1, key);
  insert.bind(2, value);
  insert.exec();
}

}  // namespace

void writeRun(SQLite::Database& database, const RunRecord& record) {
  for (const auto& [key, value] : {std::pair<const char*, std::string>{"tool", record.tool},
                                   {"command", dumpJson(Json(record.command), -1)},
                                   {"started", record.started},
                                   {"target", toJson(record.target).dump()},
                                   {"database", record.database},
                                   {"device", record.device},
                                   {"simulated", record.simulated ? "true" : "false"},
                                   {"seed", std::to_string(record.seed)},
                                   {"profile", record.profile},
                                   {"shard", record.shard}}) {
    meta(database, key, value);
  }
  writeEnd(database, record);
  Writer writer(database);
  for (const InputResult& input : record.inputs) {
    writer.input(input);
  }
  writer.outcomes(record.outcomes);
}

void writeEnd(SQLite::Database& database, const RunRecord& record) {
  Json notRun = Json::array();
  for (const NotChecked& entry : record.notRun) {
    notRun.push_back(toJson(entry));
  }
  meta(database, "finished", record.finished);
  meta(database, "environment", dumpJson(toJson(record.environment), -1));
  meta(database, "not_run", dumpJson(notRun, -1));
}

}  // namespace neuroncheck::runstore
