// SPDX-License-Identifier: Apache-2.0
// Verdicts of models (docs/claims.md, rules 20 and 21).
#include "opdb/assess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::f32;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::kToday;
using ::testing::Not;
using testing::Row;
using testing::tensor;
using testing::TestDatabase;
using testing::use;

OpUse unary(const std::string& op) { return use(op, {{.name = "self", .value = f32({2})}}); }

Inventory inventoryOf(std::vector<OpUse> uses) {
  Inventory inventory;
  inventory.path = "model.pt2";
  inventory.kind = FileKind::ExportedProgram;
  Model model;
  model.name = "model";
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].id = static_cast<std::uint32_t>(i);
    uses[i].inCatalogue = true;
  }
  model.uses = std::move(uses);
  inventory.models.push_back(std::move(model));
  return inventory;
}

ModelAssessment assessModel(const TestDatabase& database, const std::string& release,
                            std::vector<OpUse> uses) {
  Assessment assessment =
      assess(inventoryOf(std::move(uses)), database.target(release), database.get(), kToday);
  EXPECT_EQ(assessment.models.size(), 1U);
  EXPECT_EQ(assessment.verdict, assessment.models.front().verdict);
  return std::move(assessment.models.front());
}

TEST(Assess, AllNativeOnFreshEvidenceIsReady) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  const ModelAssessment model =
      assessModel(database, "2.0", {unary("aten::relu"), unary("aten::view"), unary("aten::relu")});
  EXPECT_EQ(model.verdict, Verdict::Ready);
  EXPECT_EQ(model.counts.at(Claim::Native), 2);
  EXPECT_EQ(model.counts.at(Claim::NoDeviceWork), 1);
  EXPECT_EQ(model.uses.size(), 3U);
  EXPECT_EQ(model.uses[2].use, 2U);
  EXPECT_EQ(model.weakestEvidence, "support:1");
  EXPECT_EQ(model.weakestConfidence, Confidence::High);
  EXPECT_FALSE(model.anyStale);
}

TEST(Assess, StaleEvidenceIsUnconfirmed) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  const ModelAssessment model = assessModel(database, "4.0", {unary("aten::relu")});
  EXPECT_EQ(model.verdict, Verdict::ReadyUnconfirmed);
  EXPECT_TRUE(model.anyStale);
}

TEST(Assess, LowConfidenceIsUnconfirmedAndNamed) {
  const TestDatabase database(
      {Row{.op = "aten::relu"}, Row{.op = "aten::silu", .confidence = "low"}});
  const ModelAssessment model =
      assessModel(database, "2.0", {unary("aten::relu"), unary("aten::silu")});
  EXPECT_EQ(model.verdict, Verdict::ReadyUnconfirmed);
  EXPECT_EQ(model.weakestEvidence, "support:2");
  EXPECT_EQ(model.weakestConfidence, Confidence::Low);
}

TEST(Assess, NamesWhatTheVerdictRestsOnApartFromTheWeakest) {
  const TestDatabase database({Row{.op = "aten::relu", .confidence = "low"},
                               Row{.op = "aten::silu", .status = "unsupported"}});
  const ModelAssessment model =
      assessModel(database, "2.0", {unary("aten::relu"), unary("aten::silu"), unary("aten::view")});
  EXPECT_EQ(model.verdict, Verdict::Blocked);
  EXPECT_EQ(model.weakestEvidence, "support:1");
  EXPECT_EQ(model.decidingEvidence, "support:2");
}

TEST(Assess, AUseWithoutEvidenceIsTheWeakest) {
  const TestDatabase database({Row{.op = "aten::silu", .status = "unsupported"}});
  const ModelAssessment model =
      assessModel(database, "2.0", {unary("custom::thing"), unary("aten::silu")});
  EXPECT_EQ(model.weakestEvidence, "");
  EXPECT_EQ(model.weakestConfidence, Confidence::None);
  EXPECT_EQ(model.decidingEvidence, "support:1");
}

/// f(x) -> conv2d, where the file has the result of f not contiguous.
std::vector<OpUse> convolutionAfter(const std::string& op, OpGroup group, TensorPtr from,
                                    TensorPtr made) {
  OpUse first = use(op, {{.name = "self", .value = std::move(from)}});
  first.group = group;
  first.outputs = {made};
  OpUse conv = use("aten::conv2d", {{.name = "input", .value = made},
                                    {.name = "weight", .value = f32({4, 3, 2, 2})}});
  return {first, conv};
}

TEST(Assess, StridesThatAKernelChoseDecideNothing) {
  const TestDatabase database(
      {Row{.op = "aten::relu"}, Row{.op = "aten::convolution",
                                    .predicate = "contiguous(input) && contiguous(weight)",
                                    .otherwise = "unsupported"}});
  const TensorPtr plain = f32({1, 3, 8, 8});
  const auto channelsLast = [] { return tensor(DType::Float32, {1, 3, 8, 8}, {{192, 1, 24, 3}}); };
  const ModelAssessment byKernel = assessModel(
      database, "2.0", convolutionAfter("aten::relu", OpGroup::Compute, plain, channelsLast()));
  EXPECT_EQ(byKernel.uses[1].claim, Claim::Depends);
  EXPECT_EQ(byKernel.uses[1].decidedBy, "input");
  EXPECT_THAT(byKernel.uses[1].reason, HasSubstr("choice of the kernels"));
  EXPECT_THAT(byKernel.uses[1].remedy, HasSubstr(".contiguous()"));
  EXPECT_FALSE(byKernel.uses[1].caseIds.empty());

  const ModelAssessment byView = assessModel(
      database, "2.0", convolutionAfter("aten::view", OpGroup::View, plain, channelsLast()));
  EXPECT_EQ(byView.uses[1].claim, Claim::Unsupported) << "a view of an input is the model's own";

  auto chain = convolutionAfter("aten::relu", OpGroup::Compute, plain, channelsLast());
  const auto viewed = convolutionAfter("aten::view", OpGroup::View,
                                       std::get<TensorPtr>(chain[0].outputs[0]), plain);
  chain.pop_back();
  chain.insert(chain.end(), viewed.begin(), viewed.end());
  EXPECT_EQ(assessModel(database, "2.0", chain).uses[2].claim, Claim::Depends)
      << "contiguous in the file only because the kernel's choice was undone";

  const ModelAssessment straight = assessModel(
      database, "2.0", convolutionAfter("aten::relu", OpGroup::Compute, plain, f32({1, 3, 8, 8})));
  EXPECT_EQ(straight.uses[1].claim, Claim::Decomposed);
}

TEST(Assess, AHigherOrderOperatorOfWhichNothingIsKnownLeavesTheModelUnknown) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  Inventory inventory = inventoryOf({unary("aten::relu")});
  HigherOrderUse flex;
  flex.name = "flex_attention";
  inventory.models.front().higherOrder.push_back(flex);
  const Assessment assessment = assess(inventory, database.target("2.0"), database.get(), kToday);
  EXPECT_EQ(assessment.verdict, Verdict::Unknown);
  EXPECT_THAT(assessment.models.front().notChecked,
              Contains(Field(&NotChecked::what, HasSubstr("flex_attention"))));
}

TEST(Assess, AnOperatorArgumentOfNoKnownFormLeavesTheModelUnknown) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  Inventory inventory = inventoryOf({unary("aten::relu")});
  HigherOrderUse outer;
  outer.name = "auto_functionalized";
  outer.args = {
      {.name = "", .value = OperatorRef{.target = "mymodule.kernel"}, .isDefault = false}};
  inventory.models.front().higherOrder.push_back(outer);
  EXPECT_EQ(assess(inventory, database.target("2.0"), database.get(), kToday).verdict,
            Verdict::Unknown);
}

TEST(Assess, RowsSpeakOfStridedTensors) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  for (const Layout layout : {Layout::Unknown, Layout::Mkldnn, Layout::Jagged}) {
    TensorValue value = *f32({2});
    value.spec.layout = layout;
    const ModelAssessment model =
        assessModel(database, "2.0",
                    {use("aten::relu",
                         {{.name = "self", .value = std::make_shared<const TensorValue>(value)}})});
    EXPECT_EQ(model.uses[0].claim, Claim::Unknown);
    EXPECT_THAT(model.uses[0].reason, HasSubstr("has layout"));
  }
}

struct OneUse {
  std::string status;
  Verdict verdict;
};
class AssessStatus : public ::testing::TestWithParam<OneUse> {};

TEST_P(AssessStatus, TheWorstUseDecides) {
  const TestDatabase database(
      {Row{.op = "aten::relu"}, Row{.op = "aten::silu", .status = GetParam().status}});
  EXPECT_EQ(assessModel(database, "2.0", {unary("aten::relu"), unary("aten::silu")}).verdict,
            GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(Words, AssessStatus,
                         ::testing::Values(OneUse{"native", Verdict::Ready},
                                           OneUse{"cpu-fallback", Verdict::RunsWithFallback},
                                           OneUse{"unknown", Verdict::Unknown},
                                           OneUse{"unsupported", Verdict::Blocked}));

// Public report: "100 % supported" that was not.
TEST(Assess, AClaimNeverStandsForACheckThatWasNotMade) {
  const TestDatabase database({});
  const ModelAssessment model = assessModel(database, "2.0", {unary("aten::relu")});
  EXPECT_EQ(model.verdict, Verdict::Unknown);
  EXPECT_EQ(model.uses.front().claim, Claim::Unknown);
}

TEST(Assess, AnOperatorInsideAHigherOrderOneCounts) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  Inventory inventory = inventoryOf({unary("aten::relu")});
  HigherOrderUse outer;
  outer.name = "auto_functionalized_v2";
  outer.node = "call";
  outer.args.push_back({.name = "", .value = OperatorRef{.target = "mylib::accumulate_"}});
  inventory.models.front().higherOrder.push_back(outer);
  const Assessment assessment = assess(inventory, database.target("2.0"), database.get(), kToday);
  EXPECT_EQ(assessment.verdict, Verdict::Unknown);
  EXPECT_THAT(assessment.models.front().notChecked,
              Contains(Field(&NotChecked::what,
                             AllOf(HasSubstr("mylib::accumulate_"), HasSubstr("call")))));
}

TEST(Assess, TheCopyThatWritesAMutatedBufferBackCounts) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  Inventory inventory = inventoryOf({unary("aten::relu")});
  const auto verdict = [&](const char* kind) {
    inventory.models.front().outputs = {
        {.name = "add", .kind = kind, .target = "steps", .value = f32({2})}};
    return assess(inventory, database.target("2.0"), database.get(), kToday).verdict;
  };
  EXPECT_EQ(verdict("USER_OUTPUT"), Verdict::Ready);
  EXPECT_EQ(verdict("BUFFER_MUTATION"), Verdict::Unknown) << "nothing is known of copy_";
}

Inventory autocastProduct(bool enabled) {
  OpUse product =
      use("aten::mm", {{.name = "self", .value = testing::tensor(DType::BFloat16, {2, 2})},
                       {.name = "mat2", .value = f32({2, 2})}});
  product.graph = "/submod_1";
  Inventory inventory = inventoryOf({product});
  HigherOrderUse outer;
  outer.name = "wrap_with_autocast";
  outer.args = {{.name = "", .value = std::string("cpu")},
                {.name = "", .value = DType::BFloat16},
                {.name = "", .value = testing::flag(enabled)},
                {.name = "", .value = GraphRef{.path = "/submod_1"}}};
  inventory.models.front().higherOrder.push_back(outer);
  return inventory;
}

TEST(Assess, AutocastCastsTheOperandsThatTheGraphShowsMixed) {
  const TestDatabase database({Row{
      .op = "aten::mm", .predicate = "dtype(self) == dtype(mat2)", .otherwise = "unsupported"}});
  const auto claim = [&](bool enabled) {
    return assess(autocastProduct(enabled), database.target("2.0"), database.get(), kToday)
        .models.front()
        .uses.front();
  };
  EXPECT_EQ(claim(true).claim, Claim::Native);
  EXPECT_THAT(claim(true).caveats, Contains(HasSubstr("after autocast")));
  EXPECT_EQ(claim(false).claim, Claim::Unsupported);
}

TEST(Assess, SaysThatTheDatabaseDoesNotKnowTheRelease) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "4.0"}});
  const auto about = [](const char* text) {
    return Contains(Field(&NotChecked::why, HasSubstr(text)));
  };
  EXPECT_THAT(assessModel(database, "4.1", {unary("aten::relu")}).notChecked,
              about("every claim is stale"));
  EXPECT_THAT(assessModel(database, "0.1", {unary("aten::relu")}).notChecked,
              about("older than every release"));
  EXPECT_THAT(assessModel(database, "4.0", {unary("aten::relu")}).notChecked,
              Not(about("every claim is stale")));
}

TEST(Assess, AFileWithoutAModelIsUnknown) {
  const TestDatabase database({});
  EXPECT_EQ(assess(Inventory{}, database.target("2.0"), database.get(), kToday).verdict,
            Verdict::Unknown);
}

TEST(Assess, EvidenceOfEveryUseIsThere) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  const Assessment assessment = assess(inventoryOf({unary("aten::relu"), unary("aten::silu")}),
                                       database.target("2.0"), database.get(), kToday);
  for (const UseClaim& claim : assessment.models.front().uses) {
    for (const std::string& id : claim.evidence) {
      EXPECT_TRUE(assessment.evidence.contains(id)) << id;
    }
  }
  EXPECT_TRUE(assessment.evidence.contains("support:1"));
}

TEST(Assess, MethodsWithoutOperatorsDoNotDecide) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  Inventory inventory = inventoryOf({unary("aten::relu")});
  Model helper;
  helper.name = "__len__";
  helper.shapes = ShapeOrigin::Unknown;
  inventory.models.push_back(helper);
  const auto verdict = [&]() {
    return assess(inventory, database.target("2.0"), database.get(), kToday).verdict;
  };
  EXPECT_EQ(verdict(), Verdict::Unknown);
  inventory.models.back().operatorFree = true;
  EXPECT_EQ(verdict(), Verdict::Ready);
  inventory.models.erase(inventory.models.begin());
  EXPECT_EQ(verdict(), Verdict::Unknown);
}

}  // namespace
}  // namespace neuroncheck::opdb
