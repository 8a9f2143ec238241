// SPDX-License-Identifier: Apache-2.0
#include "cli/gate.h"

#include <gmock/gmock.h>

#include "cli/options.h"

namespace neuroncheck::cli {
namespace {

using ::testing::UnorderedElementsAre;

ModelAssessment modelOf(std::vector<UseClaim> uses, std::vector<Finding> findings = {}) {
  ModelAssessment model;
  model.uses = std::move(uses);
  model.findings = std::move(findings);
  model.verdict = Verdict::Ready;
  for (const UseClaim& use : model.uses) {
    model.verdict =
        worst(model.verdict, verdictOf(use.claim, !use.stale && use.confidence < Confidence::Low));
  }
  for (const Finding& finding : model.findings) {
    model.verdict = worst(model.verdict, verdictOf(finding.severity));
  }
  return model;
}

UseClaim claimed(Claim claim, Confidence confidence = Confidence::High, bool stale = false) {
  UseClaim use;
  use.claim = claim;
  use.confidence = confidence;
  use.stale = stale;
  return use;
}

RunRecord recordOf(ModelAssessment model) {
  RunRecord record;
  InputResult input;
  input.assessment.verdict = model.verdict;
  input.assessment.models.push_back(std::move(model));
  record.inputs.push_back(std::move(input));
  return record;
}

int defaultExit(const ModelAssessment& model) {
  return exitCodeOf(recordOf(model), *parseFailOn(kDefaultFailOn));
}

TEST(FailOn, ReadsWordsAndNone) {
  EXPECT_THAT(*parseFailOn("blocked, fallback"), UnorderedElementsAre("blocked", "fallback"));
  EXPECT_TRUE(parseFailOn("none")->empty());
}

TEST(FailOn, RefusesUnknownEmptyAndMixedNone) {
  EXPECT_FALSE(parseFailOn("blokced"));
  EXPECT_FALSE(parseFailOn(""));
  EXPECT_FALSE(parseFailOn("none,blocked"));
  EXPECT_EQ(parseFailOn("bad").error().code, ErrorCode::Usage);
}

TEST(Gate, OnlyReadyIsZeroByDefault) {
  EXPECT_EQ(defaultExit(modelOf({claimed(Claim::Native), claimed(Claim::Decomposed)})), kExitOk);
  EXPECT_EQ(defaultExit(modelOf({claimed(Claim::Native, Confidence::Low)})), kExitFindings);
  EXPECT_EQ(defaultExit(modelOf({claimed(Claim::Native, Confidence::High, true)})), kExitFindings);
  for (const Claim claim : {Claim::CpuFallback, Claim::CpuFallbackView, Claim::Unsupported,
                            Claim::Depends, Claim::Unknown}) {
    EXPECT_EQ(defaultExit(modelOf({claimed(claim)})), kExitFindings) << name(claim);
  }
}

TEST(Gate, ABlockedModelThatFallsBackHasBothWords) {
  const ModelAssessment model = modelOf({claimed(Claim::CpuFallback), claimed(Claim::Unsupported)});
  EXPECT_THAT(wordsOf(model), UnorderedElementsAre("blocked", "fallback"));
  EXPECT_EQ(exitCodeOf(recordOf(model), {"fallback"}), kExitFindings);
  EXPECT_EQ(exitCodeOf(recordOf(model), {"unknown"}), kExitOk);
}

TEST(Gate, WarningsAndNotesNeverChangeTheCode) {
  Finding warning;
  warning.severity = Severity::Warning;
  Finding error;
  error.severity = Severity::Error;
  EXPECT_EQ(defaultExit(modelOf({claimed(Claim::Native)}, {warning})), kExitOk);
  EXPECT_EQ(defaultExit(modelOf({claimed(Claim::Native)}, {error})), kExitFindings);
}

TEST(Gate, MetadataNeedsNoEvidence) {
  EXPECT_EQ(defaultExit(
                modelOf({claimed(Claim::Native), claimed(Claim::NoDeviceWork, Confidence::High)})),
            kExitOk);
}

TEST(Gate, AModelWithoutOperatorsIsNothingToCheck) {
  EXPECT_EQ(defaultExit(modelOf({})), kExitNothing);
}

TEST(Gate, AnUnreadableInputOutranksFindings) {
  RunRecord record = recordOf(modelOf({claimed(Claim::Unsupported)}));
  InputResult broken;
  broken.error = Error{.code = ErrorCode::Input, .message = "not a zip", .context = {}};
  record.inputs.push_back(broken);
  EXPECT_EQ(exitCodeOf(record, *parseFailOn(kDefaultFailOn)), kExitInput);
}

TEST(ExitCodeOfARun, IsThatOfItsStates) {
  RunRecord record;
  const auto codeWith = [&record](std::string_view words) {
    return exitCodeOfRun(record, *parseFailOn(words));
  };
  EXPECT_EQ(codeWith("none"), kExitNothing);
  record.outcomes.resize(2);
  record.outcomes[0].state = CaseState::Pass;
  record.outcomes[1].state = CaseState::PassWeak;
  EXPECT_EQ(codeWith(kDefaultFailOn), kExitOk);
  record.outcomes[1].state = CaseState::PassFallback;
  EXPECT_EQ(codeWith(kDefaultFailOn), kExitFindings);
  EXPECT_EQ(codeWith("blocked"), kExitFindings);
  EXPECT_EQ(codeWith("mismatch,crash"), kExitOk);
  EXPECT_EQ(codeWith("mismatch, pass-fallback"), kExitFindings);
  EXPECT_EQ(codeWith("none"), kExitOk);
  for (const char* refused : {"pass", "pass-weak", "passed"}) {
    EXPECT_FALSE(parseFailOn(refused)) << refused;
  }
}

TEST(ExitCodes, FollowTheDocumentedPrecedence) {
  const std::vector<int> order{kExitInternal, kExitInput,    kExitUnavailable,
                               kExitNothing,  kExitFindings, kExitOk};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j < order.size(); ++j) {
      EXPECT_EQ(combineExitCodes(order[i], order[j]), order[i]);
      EXPECT_EQ(combineExitCodes(order[j], order[i]), order[i]);
    }
  }
}

TEST(ExitCode, MethodsWithoutOperatorsLeaveTheGateToTheOthers) {
  RunRecord record = recordOf(modelOf({claimed(Claim::Native)}));
  InputResult& input = record.inputs.front();
  ModelAssessment helper = modelOf({});
  helper.model = "__len__";
  helper.verdict = Verdict::Unknown;
  input.assessment.models.push_back(helper);
  Model method;
  method.name = "__len__";
  input.inventory.models.push_back(method);
  const std::set<std::string> words = *parseFailOn(kDefaultFailOn);
  EXPECT_EQ(exitCodeOf(record, words), kExitFindings);
  input.inventory.models.back().operatorFree = true;
  EXPECT_EQ(exitCodeOf(record, words), kExitOk);
  input.assessment.models.back().verdict = Verdict::Blocked;  // a finding of its file
  EXPECT_EQ(exitCodeOf(record, words), kExitFindings);
  input.assessment.models.back().verdict = Verdict::Unknown;
  input.assessment.models.erase(input.assessment.models.begin());
  EXPECT_EQ(exitCodeOf(record, words), kExitNothing);
  record.inputs.push_back(recordOf(modelOf({claimed(Claim::Native)})).inputs.front());
  EXPECT_EQ(exitCodeOf(record, words), kExitFindings);
}

}  // namespace
}  // namespace neuroncheck::cli
