// SPDX-License-Identifier: Apache-2.0
#include "report/report_json.h"

#include <algorithm>

#include "core/run_json.h"
#include "report/outcomes.h"
#include "report/summary.h"
#include "report/tally.h"

namespace neuroncheck::report {
namespace {

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json countsToJson(const std::map<Claim, std::int64_t>& counts) {
  Json out = Json::object();
  for (const Claim claim :
       {Claim::NoDeviceWork, Claim::Native, Claim::Decomposed, Claim::CpuFallback,
        Claim::CpuFallbackView, Claim::Unsupported, Claim::Depends, Claim::Unknown}) {
    const auto found = counts.find(claim);
    out[std::string(name(claim))] = found == counts.end() ? 0 : found->second;
  }
  return out;
}

Json leavesToJson(const std::vector<LeafClaim>& leaves) {
  Json out = Json::array();
  for (const LeafClaim& leaf : leaves) {
    out.push_back({{"op", leaf.op},
                   {"times", leaf.times},
                   {"always", leaf.always},
                   {"claimed", name(leaf.claim)},
                   {"reason", leaf.reason}});
  }
  return out;
}

Json useToJson(const OpUse& use, const UseClaim& claim, const OutcomeIndex& outcomes) {
  const RunAnswers answers = answersOf(claim, outcomes);
  return {{"use_id", claim.use},
          {"claimed", name(claim.claim)},
          {"compiles", name(answers.compiles)},
          {"runs_on_device", name(answers.runsOnDevice)},
          {"numbers_agree", name(answers.numbersAgree)},
          {"confidence", name(claim.confidence)},
          {"stale", claim.stale},
          {"age_days", claim.ageDays < 0 ? Json(nullptr) : Json(claim.ageDays)},
          {"reason", claim.reason},
          {"decided_by", textOrNull(claim.decidedBy)},
          {"remedy", textOrNull(claim.remedy)},
          {"leaf_ops", leavesToJson(claim.leaves)},
          {"evidence", claim.evidence},
          {"caveats", claim.caveats},
          {"case_ids", claim.caseIds},
          {"node", nodeToJson(use)}};
}

bool isWorse(const UseClaim& a, const UseClaim& b) {
  const Verdict left = verdictOf(a.claim, true);
  const Verdict right = verdictOf(b.claim, true);
  return left > right ||
         (left == right && b.claim == Claim::NoDeviceWork && a.claim != Claim::NoDeviceWork);
}

void addOnce(std::vector<std::string>& out, const std::vector<std::string>& more) {
  for (const std::string& text : more) {
    if (std::ranges::find(out, text) == out.end()) {
      out.push_back(text);
    }
  }
}

/// One operator of a model: the inventory's entry, with the claim of its worst use.
Json operatorToJson(const ModelView& view, const std::vector<const UseClaim*>& claims,
                    const OutcomeIndex& outcomes) {
  const OpUse& first = view.model->uses[claims.front()->use];
  const UseClaim* worstUse = claims.front();
  Confidence confidence = Confidence::High;
  bool stale = false;
  std::vector<std::string> evidence;
  Json uses = Json::array();
  for (const UseClaim* claim : claims) {
    worstUse = isWorse(*claim, *worstUse) ? claim : worstUse;
    confidence = weakest(confidence, claim->confidence);
    stale = stale || claim->stale;
    addOnce(evidence, claim->evidence);
    uses.push_back(useToJson(view.model->uses[claim->use], *claim, outcomes));
  }
  return {{"input", view.input->inventory.path},
          {"model", view.model->name},
          {"target", first.op.str()},
          {"group", name(first.group)},
          {"count", claims.size()},
          {"claimed", name(worstUse->claim)},
          {"confidence", name(confidence)},
          {"stale", stale},
          {"evidence", evidence},
          {"leaf_ops", leavesToJson(worstUse->leaves)},
          {"uses", std::move(uses)}};
}

Json findingToJson(const std::string& input, const Json& model, const Finding& finding) {
  Json places = Json::array();
  for (const FindingPlace& place : finding.places) {
    places.push_back({{"model", place.model},
                      {"node", place.node},
                      {"op", place.op},
                      {"source", textOrNull(place.source.str())},
                      {"detail", place.detail}});
  }
  return {{"input", input},
          {"model", model},
          {"rule", finding.rule},
          {"code", textOrNull(finding.code)},
          {"severity", name(finding.severity)},
          {"title", finding.title},
          {"message", finding.message},
          {"targets", finding.targets},
          {"places", std::move(places)},
          {"remedy", textOrNull(finding.remedy)},
          {"evidence", finding.evidence}};
}

Json modelToJson(const ModelAssessment& judged) {
  return {{"name", judged.model},
          {"verdict", name(judged.verdict)},
          {"weakest_confidence", name(judged.weakestConfidence)},
          {"any_stale", judged.anyStale},
          {"weakest_evidence", textOrNull(judged.weakestEvidence)},
          {"deciding_evidence", textOrNull(judged.decidingEvidence)},
          {"counts", countsToJson(judged.counts)}};
}

}  // namespace

Json headerToJson(const RunRecord& record) {
  Json device = {{"name", record.device}, {"simulated", record.simulated}};
  if (record.device != "none") {
    device["seed"] = record.seed;
    device["profile"] = textOrNull(record.profile);
    device["shard"] = textOrNull(record.shard);
  }
  return {{"schema", kReportSchema},
          {"tool", record.tool},
          {"command", record.command},
          {"started", record.started},
          {"environment", toJson(record.environment)},
          {"target", toJson(record.target)},
          {"database", textOrNull(record.database)},
          {"device", std::move(device)}};
}

Json footerToJson(const RunRecord& record) {
  std::map<Claim, std::int64_t> counts;
  for (const InputResult& input : record.inputs) {
    for (const ModelAssessment& judged : input.assessment.models) {
      for (const auto& [claim, count] : judged.counts) {
        counts[claim] += count;
      }
    }
  }
  Json blockers = Json::array();
  for (const Blocker& blocker : blockersByWorst(record)) {
    blockers.push_back(
        {{"what", blocker.what},
         {"title", blocker.title.empty() ? Json(nullptr) : Json(blocker.title)},
         {"kind", blocker.kind},
         {"claimed", blocker.kind == "operator" ? Json(name(blocker.claim)) : Json(nullptr)},
         {"models", blocker.models},
         {"unblocks", blocker.unblocks}});
  }
  return {{"verdict", name(worstVerdict(record))},
          {"counts", countsToJson(counts)},
          {"blockers", std::move(blockers)},
          {"finished", record.finished}};
}

Json inputToJson(const InputResult& input) {
  const Inventory& inventory = input.inventory;
  Json out = {{"path", inventory.path},
              {"kind", name(inventory.kind)},
              {"sha256", textOrNull(inventory.sha256)},
              {"size", inventory.size},
              {"producer", textOrNull(inventory.producer)},
              {"dialect", inventory.models.empty() ? Json(nullptr)
                                                   : textOrNull(inventory.models.front().dialect)},
              {"verdict", name(input.error ? Verdict::Unknown : input.assessment.verdict)},
              {"error", input.error ? Json(input.error->text()) : Json(nullptr)}};
  out["models"] = Json::array();
  for (std::size_t i = 0; i < input.assessment.models.size(); ++i) {
    Json model = modelToJson(input.assessment.models[i]);
    if (i < inventory.models.size() && inventory.models[i].shapes != ShapeOrigin::Recorded) {
      model["shapes"] = name(inventory.models[i].shapes);
      model["approximate"] = inventory.models[i].approximate;
      if (!decides(inventory.models[i], input.assessment.models[i])) {
        model["operator_free"] = true;
      }
    }
    out["models"].push_back(std::move(model));
  }
  return out;
}

Json evidenceToJson(const Evidence& evidence) {
  return {{"id", evidence.id},
          {"kind", evidence.kind},
          {"source", evidence.source},
          {"product", evidence.product},
          {"release", textOrNull(evidence.release)},
          {"observed", textOrNull(evidence.observed)},
          {"confidence", name(evidence.confidence)},
          {"stale", evidence.stale},
          {"status", evidence.status},
          {"note", textOrNull(evidence.note)}};
}

void forEachOperator(const RunRecord& record, const std::function<void(Json)>& visit) {
  const OutcomeIndex outcomes = outcomesById(record);
  for (const ModelView& view : modelViews(record)) {
    std::vector<OpName> order;
    std::map<OpName, std::vector<const UseClaim*>> claims;
    for (const UseClaim& claim : view.judged->uses) {
      if (claim.use < view.model->uses.size()) {
        const OpName& op = view.model->uses[claim.use].op;
        auto& list = claims[op];
        if (list.empty()) {
          order.push_back(op);
        }
        list.push_back(&claim);
      }
    }
    for (const OpName& op : order) {
      visit(operatorToJson(view, claims.at(op), outcomes));
    }
  }
}

void forEachFinding(const RunRecord& record, const std::function<void(Json)>& visit) {
  for (const InputResult& input : record.inputs) {
    for (const Finding& finding : input.assessment.fileFindings) {
      visit(findingToJson(input.inventory.path, nullptr, finding));
    }
    for (const ModelAssessment& judged : input.assessment.models) {
      for (const Finding& finding : judged.findings) {
        visit(findingToJson(input.inventory.path, judged.model, finding));
      }
    }
  }
}

void forEachNotChecked(const RunRecord& record, const std::function<void(Json)>& visit) {
  for (const auto& [question, why] : openQuestions(record)) {
    visit({{"input", nullptr},
           {"model", nullptr},
           {"what", question},
           {"why", why},
           {"how", nullptr}});
  }
  for (const NotChecked& entry : record.notRun) {
    visit({{"input", nullptr},
           {"model", nullptr},
           {"what", entry.what},
           {"why", entry.why},
           {"how", textOrNull(entry.how)}});
  }
  for (const InputResult& input : record.inputs) {
    for (const ModelAssessment& judged : input.assessment.models) {
      for (const NotChecked& entry : judged.notChecked) {
        visit({{"input", input.inventory.path},
               {"model", judged.model},
               {"what", entry.what},
               {"why", entry.why},
               {"how", textOrNull(entry.how)}});
      }
    }
  }
}

std::map<std::string, Evidence> evidenceOf(const RunRecord& record) {
  std::map<std::string, Evidence> out;
  for (const InputResult& input : record.inputs) {
    out.insert(input.assessment.evidence.begin(), input.assessment.evidence.end());
  }
  return out;
}

}  // namespace neuroncheck::report
