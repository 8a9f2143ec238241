// SPDX-License-Identifier: Apache-2.0
#include "report/outcomes.h"
#include "report/report_json.h"

namespace neuroncheck::report {
namespace {

Json numberOrNull(const std::optional<double>& value) {
  return value ? finiteOrString(*value) : Json(nullptr);
}

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json outputToJson(const OutputOutcome& output) {
  return {{"what", output.what},
          {"state", name(output.state)},
          {"cause", textOrNull(output.cause)},
          {"reason", textOrNull(output.reason)},
          {"rule", textOrNull(output.rule)},
          {"elements", output.elements},
          {"wrong", output.wrong},
          {"max_abs", numberOrNull(output.maxAbs)},
          {"max_rel", numberOrNull(output.maxRel)},
          {"max_ulp", numberOrNull(output.maxUlp)},
          {"max_ratio", numberOrNull(output.maxRatio)},
          {"worst_index", output.worstIndex < 0 ? Json(nullptr) : Json(output.worstIndex)},
          {"worst_actual", finiteOrString(output.worstActual)},
          {"worst_truth", finiteOrString(output.worstTruth)},
          {"rtol_needed", finiteOrString(output.rtolNeeded)},
          {"atol_needed", finiteOrString(output.atolNeeded)},
          {"identical_to_cpu", output.identicalToCpu},
          {"constant", numberOrNull(output.constant)}};
}

Json attemptToJson(const AttemptOutcome& attempt) {
  Json outputs = Json::array();
  for (const OutputOutcome& output : attempt.outputs) {
    outputs.push_back(outputToJson(output));
  }
  return {{"fill", attempt.fill},
          {"seed", attempt.seed},
          {"state", name(attempt.state)},
          {"outputs", std::move(outputs)}};
}

/// The worst claim of the uses that ask for each case; absent for one from a file.
std::map<std::string, Claim> claimsOfCases(const RunRecord& record) {
  std::map<std::string, Claim> out;
  for (const InputResult& input : record.inputs) {
    for (const ModelAssessment& judged : input.assessment.models) {
      for (const UseClaim& use : judged.uses) {
        for (const std::string& id : use.caseIds) {
          const auto [place, isNew] = out.try_emplace(id, use.claim);
          if (!isNew && verdictOf(use.claim, true) > verdictOf(place->second, true)) {
            place->second = use.claim;
          }
        }
      }
    }
  }
  return out;
}

Json outcomeToJson(const RunRecord& record, const Outcome& outcome, const Json& claimed) {
  const RunAnswers answers = answersOf(outcome.state);
  Json attempts = Json::array();
  for (const AttemptOutcome& attempt : outcome.attempts) {
    attempts.push_back(attemptToJson(attempt));
  }
  return {{"case_id", outcome.id},
          {"case", outcome.text},
          {"op", outcome.op},
          {"claimed", claimed},
          {"compiles", name(answers.compiles)},
          {"runs_on_device", name(answers.runsOnDevice)},
          {"numbers_agree", name(answers.numbersAgree)},
          {"state", name(outcome.state)},
          {"stage", textOrNull(outcome.stage)},
          {"cause", textOrNull(outcome.cause)},
          {"message", textOrNull(outcome.message)},
          {"simulated", record.simulated},
          {"fallbacks", outcome.fallbacks},
          {"dispatch", textOrNull(outcome.dispatch)},
          {"ending", textOrNull(outcome.ending)},
          {"stderr_tail", textOrNull(outcome.stderrTail)},
          {"notes", outcome.notes},
          {"runs", outcome.runs},
          {"seconds", finiteOrString(outcome.seconds)},
          {"uses", outcome.uses},
          {"models", outcome.models},
          {"attempts", std::move(attempts)},
          {"repro", reproCommand(record, outcome)}};
}

}  // namespace

void forEachOutcome(const RunRecord& record, const std::function<void(Json)>& visit) {
  const auto claims = claimsOfCases(record);
  for (const Outcome& outcome : record.outcomes) {
    const auto claim = claims.find(outcome.id);
    visit(outcomeToJson(record, outcome,
                        claim == claims.end() ? Json(nullptr) : Json(name(claim->second))));
  }
}

}  // namespace neuroncheck::report
