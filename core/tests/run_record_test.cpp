// SPDX-License-Identifier: Apache-2.0
#include "core/run_record.h"

#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

struct Use {
  const char* op;
  Claim claim;
  std::vector<LeafClaim> leaves = {};
};

InputResult input(const char* path, const std::vector<Use>& uses,
                  std::vector<Finding> findings = {}) {
  InputResult out;
  out.inventory.path = path;
  Model& model = out.inventory.models.emplace_back();
  model.name = "model";
  ModelAssessment& judged = out.assessment.models.emplace_back();
  judged.model = "model";
  judged.findings = std::move(findings);
  judged.verdict = Verdict::Ready;
  for (const Use& use : uses) {
    OpUse op;
    op.id = static_cast<std::uint32_t>(model.uses.size());
    op.op = *OpName::parse(use.op);
    UseClaim claim;
    claim.use = op.id;
    claim.claim = use.claim;
    claim.leaves = use.leaves;
    model.uses.push_back(op);
    judged.uses.push_back(claim);
    judged.verdict = worst(judged.verdict, verdictOf(use.claim, true));
  }
  out.assessment.verdict = judged.verdict;
  return out;
}

Finding error(const char* rule, std::vector<std::string> targets) {
  Finding out;
  out.rule = rule;
  out.severity = Severity::Error;
  out.targets = std::move(targets);
  return out;
}

std::string ranked(const RunRecord& record) {
  std::string out;
  for (const Blocker& blocker : rankBlockers(record)) {
    out += blocker.what + " " + std::string(name(blocker.claim)) + " " +
           std::to_string(blocker.unblocks.size()) + "/" + std::to_string(blocker.models.size()) +
           "\n";
  }
  return out;
}

TEST(WorstVerdict, IsUnknownForNothingAndForAnUnreadableInput) {
  RunRecord record;
  EXPECT_EQ(worstVerdict(record), Verdict::Unknown);
  record.inputs = {input("a", {{"aten::relu", Claim::Native}})};
  EXPECT_EQ(worstVerdict(record), Verdict::Ready);
  record.inputs.emplace_back().error = Error{ErrorCode::Input, "damaged", {}};
  EXPECT_EQ(worstVerdict(record), Verdict::Unknown);
  record.inputs.push_back(input("b", {{"aten::lstm.input", Claim::Unsupported}}));
  EXPECT_EQ(worstVerdict(record), Verdict::Blocked);
}

TEST(RankBlockers, PutsWhatAloneBlocksMostModelsFirst) {
  RunRecord record;
  record.inputs = {
      input("a", {{"aten::roll", Claim::CpuFallback}, {"aten::relu", Claim::Native}}),
      input("b", {{"aten::roll", Claim::CpuFallback}, {"aten::sort", Claim::Unknown}}),
      input("c", {{"aten::sort", Claim::Unknown}, {"aten::lstm.input", Claim::Unsupported}}),
      input("d", {{"aten::sort", Claim::Unknown}, {"aten::lstm.input", Claim::Unsupported}}),
      input("e", {{"aten::relu", Claim::Native}, {"aten::dropout", Claim::NoDeviceWork}}),
  };
  EXPECT_EQ(ranked(record),
            "aten::roll cpu-fallback 1/2\n"
            "aten::sort unknown 0/3\n"
            "aten::lstm.input unsupported 0/2\n");
}

TEST(RankBlockers, NamesTheMissingLeafOfAComposite) {
  RunRecord record;
  record.inputs = {input("a", {{"aten::batch_norm",
                                Claim::CpuFallback,
                                {{"aten::empty", "1", true, Claim::Native, ""},
                                 {"aten::native_batch_norm", "1", true, Claim::CpuFallback, ""}}},
                               {"aten::native_batch_norm", Claim::CpuFallback}})};
  EXPECT_EQ(ranked(record), "aten::native_batch_norm cpu-fallback 1/1\n");
}

TEST(RankBlockers, CountsErrorsButNotWarningsNorRepetitions) {
  Finding warning = error("NC301", {});
  warning.severity = Severity::Warning;
  RunRecord record;
  record.inputs = {
      input("a", {{"aten::relu", Claim::Native}}, {error("NC401", {"aten::relu"}), warning}),
      input("b", {{"my::op", Claim::Unsupported}}, {error("NC201", {"my::op"})}),
      input("c", {{"my::op", Claim::Unsupported}, {"aten::relu", Claim::Native}},
            {error("NC201", {"my::op", "aten::relu"})}),
  };
  EXPECT_EQ(ranked(record),
            "my::op unsupported 1/2\n"
            "NC401 unsupported 1/1\n"
            "NC201 unsupported 0/1\n");
}

TEST(RankBlockers, AFindingOfTheFileBlocksItsModels) {
  RunRecord record;
  record.inputs = {input("a", {{"aten::relu", Claim::Native}})};
  record.inputs[0].assessment.fileFindings = {error("NC101", {})};
  EXPECT_EQ(ranked(record), "NC101 unsupported 1/1\n");
}

TEST(ModelLabel, NamesTheModelOnlyWhenTheFileHasSeveral) {
  InputResult two = input("a.pt2", {});
  EXPECT_EQ(modelLabel(two, two.assessment.models[0]), "a.pt2");
  two.inventory.models.emplace_back().name = "dec";
  EXPECT_EQ(modelLabel(two, two.assessment.models[0]), "a.pt2: model");
}

}  // namespace
}  // namespace neuroncheck
