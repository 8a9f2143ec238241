// SPDX-License-Identifier: Apache-2.0
#include "core/model_diff.h"

#include <gmock/gmock.h>

namespace neuroncheck {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OpUse useOf(std::uint32_t id, const char* op, DType dtype) {
  OpUse use;
  use.id = id;
  use.op = *OpName::parse(op);
  TensorSpec spec;
  spec.dtype = dtype;
  spec.sizes = {4, 8};
  use.args.push_back(
      {.name = "self", .value = std::make_shared<TensorValue>(TensorValue{"x", spec})});
  use.args.push_back({.name = "alpha", .value = SymIntValue{1, ""}, .isDefault = true});
  return use;
}

ModelAssessment judged(const std::vector<Claim>& claims) {
  ModelAssessment assessment;
  for (std::uint32_t i = 0; i < claims.size(); ++i) {
    UseClaim use;
    use.use = i;
    use.claim = claims[i];
    assessment.uses.push_back(use);
  }
  return assessment;
}

Model modelOf(std::vector<OpUse> uses) {
  Model model;
  model.uses = std::move(uses);
  return model;
}

TEST(ModelDiff, EqualModelsAreTheSame) {
  const Model model = modelOf({useOf(0, "aten::add.Tensor", DType::Float32)});
  const ModelAssessment assessment = judged({Claim::Native});
  EXPECT_TRUE(diffModels(model, assessment, model, assessment).same());
}

TEST(ModelDiff, NamesGainedLostAndChangedOperators) {
  const Model before =
      modelOf({useOf(0, "aten::linear", DType::Float32), useOf(1, "aten::relu", DType::Float32)});
  const Model after =
      modelOf({useOf(0, "aten::addmm", DType::Float32), useOf(1, "aten::relu", DType::BFloat16)});
  const ModelDiff diff = diffModels(before, judged({Claim::Decomposed, Claim::Native}), after,
                                    judged({Claim::Native, Claim::CpuFallback}));
  ASSERT_EQ(diff.gained.size(), 1U);
  EXPECT_EQ(diff.gained[0].op, "aten::addmm");
  ASSERT_EQ(diff.lost.size(), 1U);
  EXPECT_EQ(diff.lost[0].op, "aten::linear");
  ASSERT_EQ(diff.changed.size(), 1U);
  EXPECT_EQ(diff.changed[0].claimAfter, Claim::CpuFallback);
  EXPECT_THAT(diff.changed[0].onlyBefore, ElementsAre("self=f32[4,8]"));
  EXPECT_THAT(diff.changed[0].onlyAfter, ElementsAre("self=bf16[4,8]"));
  EXPECT_FALSE(diff.same());
}

TEST(ModelDiff, TheWorstClaimOfAnOperatorIsShown) {
  const Model model =
      modelOf({useOf(0, "aten::mm", DType::Float32), useOf(1, "aten::mm", DType::Float32)});
  const ModelDiff diff = diffModels(model, judged({Claim::Native, Claim::Native}), model,
                                    judged({Claim::Native, Claim::Unsupported}));
  ASSERT_EQ(diff.changed.size(), 1U);
  EXPECT_EQ(diff.changed[0].claimBefore, Claim::Native);
  EXPECT_EQ(diff.changed[0].claimAfter, Claim::Unsupported);
}

TEST(ModelDiff, FindingsAreComparedByRule) {
  ModelAssessment with = judged({});
  with.findings.push_back({.rule = "NC401", .title = "float64 tensors", .places = {{}, {}}});
  const ModelDiff diff = diffModels({}, judged({}), {}, with);
  EXPECT_THAT(diff.findingsGained, ElementsAre("NC401 float64 tensors (2 places)"));
  EXPECT_THAT(diff.findingsLost, IsEmpty());
}

}  // namespace
}  // namespace neuroncheck
