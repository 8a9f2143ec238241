// SPDX-License-Identifier: Apache-2.0
// What rows say of a use (docs/claims.md, rules 10 to 12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using testing::claimOf;
using ::testing::Contains;
using testing::f32;
using testing::flag;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Row;
using ::testing::SizeIs;
using testing::tensor;
using testing::TestDatabase;
using testing::unknownTensor;
using testing::use;

OpUse relu(TensorPtr self) {
  return use("aten::relu", {{.name = "self", .value = std::move(self)}});
}
OpUse mm(TensorPtr self, TensorPtr mat2) {
  return use("aten::mm", {{.name = "self", .value = std::move(self)},
                          {.name = "mat2", .value = std::move(mat2)}});
}

TEST(RowDTypes, SpeakOfTheFloatingPointOperandsOnly) {
  const TestDatabase database({Row{.op = "aten::relu", .dtypes = "float32|bfloat16"}});
  EXPECT_EQ(claimOf(database, "2.0", relu(f32({2}))).claim, Claim::Native);
  EXPECT_EQ(claimOf(database, "2.0", relu(tensor(DType::Int64, {2}))).claim, Claim::Native);
  const UseClaim outside = claimOf(database, "2.0", relu(tensor(DType::Float64, {2})));
  EXPECT_EQ(outside.claim, Claim::Unknown);
  EXPECT_THAT(outside.reason, HasSubstr("speaks of float32|bfloat16 only"));
}

TEST(RowDTypes, AreOpenWhenTheDTypeIsNotKnown) {
  const TestDatabase database({Row{.op = "aten::relu", .dtypes = "float32"}});
  const UseClaim claim = claimOf(database, "2.0", relu(unknownTensor()));
  EXPECT_EQ(claim.claim, Claim::Depends);
  EXPECT_EQ(claim.decidedBy, "self");
}

TEST(RowDTypes, OfFloat8LeaveTheScalesOut) {
  const TestDatabase database({Row{
      .op = "aten::_scaled_mm", .status = "cpu-fallback", .dtypes = "float8_e4m3fn|float8_e5m2"}});
  const auto scaled = [](DType dtype) {
    return use("aten::_scaled_mm", {{.name = "self", .value = tensor(dtype, {16, 16})},
                                    {.name = "mat2", .value = tensor(dtype, {16, 16})},
                                    {.name = "scale_a", .value = f32({})},
                                    {.name = "scale_b", .value = f32({})}});
  };
  EXPECT_EQ(claimOf(database, "2.0", scaled(DType::Float8E5M2)).claim, Claim::CpuFallback);
  EXPECT_EQ(claimOf(database, "2.0", scaled(DType::BFloat16)).claim, Claim::Unknown);
}

Row floatingMm(std::string otherwise) {
  return Row{.op = "aten::mm",
             .predicate = "dtype(self) in {float32,bfloat16}",
             .otherwise = std::move(otherwise)};
}

TEST(Predicates, DecideEachUse) {
  const TestDatabase database({floatingMm("unsupported")});
  EXPECT_EQ(claimOf(database, "2.0", mm(f32({2, 2}), f32({2, 2}))).claim, Claim::Native);
  const UseClaim violated =
      claimOf(database, "2.0", mm(tensor(DType::Int64, {2, 2}), tensor(DType::Int64, {2, 2})));
  EXPECT_EQ(violated.claim, Claim::Unsupported);
  EXPECT_THAT(violated.reason, HasSubstr("does not hold"));
  EXPECT_THAT(violated.remedy, HasSubstr("dtype(self) in {float32,bfloat16}"));
}

TEST(Predicates, ViolatedWithoutAnOtherwiseAreUnknown) {
  const TestDatabase database({floatingMm("")});
  EXPECT_EQ(claimOf(database, "2.0", mm(tensor(DType::Int64, {2, 2}), tensor(DType::Int64, {2, 2})))
                .claim,
            Claim::Unknown);
}

TEST(Predicates, NameTheArgumentThatWouldDecide) {
  const TestDatabase database({floatingMm("unsupported")});
  const UseClaim claim = claimOf(database, "2.0", mm(unknownTensor(), unknownTensor()));
  EXPECT_EQ(claim.claim, Claim::Depends);
  EXPECT_EQ(claim.decidedBy, "self");
}

TEST(Predicates, ThatChangeNothingDecideNothing) {
  const TestDatabase database({floatingMm("native")});
  EXPECT_EQ(claimOf(database, "2.0", mm(unknownTensor(), unknownTensor())).claim, Claim::Native);
}

TEST(Predicates, OfOlderNativeRowsStayValid) {
  const TestDatabase database(
      {Row{.op = "aten::mm", .release = "4.0"}, Row{.op = "aten::mm",
                                                    .release = "2.0",
                                                    .predicate = "dtype(self) != int64",
                                                    .otherwise = "unsupported"}});
  EXPECT_EQ(claimOf(database, "4.0", mm(f32({2, 2}), f32({2, 2}))).claim, Claim::Native);
  const UseClaim violated =
      claimOf(database, "4.0", mm(tensor(DType::Int64, {2, 2}), tensor(DType::Int64, {2, 2})));
  EXPECT_EQ(violated.claim, Claim::Unsupported);
  EXPECT_TRUE(violated.stale);
  EXPECT_THAT(violated.reason, HasSubstr("nothing newer lifts it"));
}

TEST(PartialRows, AreNativeOnlyWhereTheirConditionHolds) {
  const TestDatabase conditional({Row{.op = "aten::relu",
                                      .status = "partial",
                                      .predicate = "rank(self) == 2",
                                      .otherwise = "cpu-fallback"}});
  EXPECT_EQ(claimOf(conditional, "2.0", relu(f32({2, 2}))).claim, Claim::Native);
  EXPECT_EQ(claimOf(conditional, "2.0", relu(f32({2}))).claim, Claim::CpuFallback);
  const TestDatabase bare({Row{.op = "aten::relu", .status = "partial"}});
  EXPECT_EQ(claimOf(bare, "2.0", relu(f32({2}))).claim, Claim::Unknown);
}

TEST(PacketRows, SpeakOfEveryOverloadInPlaceAndOutForm) {
  const TestDatabase database(
      {Row{.op = "aten::upsample_nearest2d",
           .status = "unsupported",
           .mode = "any",
           .scope = "packet"},
       Row{.op = "aten::relu", .status = "unsupported", .scope = "packet"}});
  for (const char* op :
       {"aten::upsample_nearest2d", "aten::upsample_nearest2d.vec", "aten::upsample_nearest2d.out",
        "aten::relu", "aten::relu_", "aten::relu.out"}) {
    EXPECT_EQ(claimOf(database, "2.0", use(op, {{.name = "self", .value = f32({2})}})).claim,
              Claim::Unsupported)
        << op;
  }
}

TEST(PacketRows, OfOverloadScopeDoNotSpeakOfOthers) {
  const TestDatabase database({Row{.op = "aten::relu"}});
  EXPECT_EQ(
      claimOf(database, "2.0", use("aten::relu_", {{.name = "self", .value = f32({2})}})).claim,
      Claim::Unknown);
}

TEST(DeclaredUnsupported, BeatsWhatTheDispatcherWouldSayAndShowsBoth) {
  const TestDatabase database(
      {Row{.op = "aten::square", .status = "unsupported"}, Row{.op = "aten::pow.Tensor_Scalar"}});
  const UseClaim claim =
      claimOf(database, "2.0", use("aten::square", {{.name = "self", .value = f32({2})}}));
  EXPECT_EQ(claim.claim, Claim::Unsupported);
  EXPECT_THAT(claim.caveats, Contains(HasSubstr("the dispatcher alone would say decomposed")));
  EXPECT_THAT(claim.evidence, Contains("expansion:aten::square"));
}

TEST(UnknownRows, AreEvidenceAndNeverAClaim) {
  const TestDatabase database(
      {Row{.op = "aten::square", .status = "unknown"}, Row{.op = "aten::pow.Tensor_Scalar"}});
  const UseClaim claim =
      claimOf(database, "2.0", use("aten::square", {{.name = "self", .value = f32({2})}}));
  EXPECT_EQ(claim.claim, Claim::Decomposed);
  EXPECT_THAT(claim.evidence, Contains("support:1"));
}

TEST(Disagreement, OfEqualRankTakesTheWorstAndShowsAll) {
  const TestDatabase database(
      {Row{.op = "aten::relu"}, Row{.op = "aten::relu", .status = "cpu-fallback"}});
  const UseClaim claim = claimOf(database, "2.0", relu(f32({2})));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_THAT(claim.evidence, SizeIs(2));
  EXPECT_THAT(claim.caveats, Contains(HasSubstr("disagree")));
}

TEST(Disagreement, MeasuredBeatsDocumentedBeatsSource) {
  const TestDatabase database(
      {Row{.op = "aten::relu", .evidence = "measured"},
       Row{.op = "aten::relu", .status = "unsupported", .evidence = "documented"},
       Row{.op = "aten::silu", .evidence = "documented"},
       Row{.op = "aten::silu", .status = "unsupported", .evidence = "documented-by-source"}});
  EXPECT_EQ(claimOf(database, "2.0", relu(f32({2}))).claim, Claim::Native);
  EXPECT_EQ(
      claimOf(database, "2.0", use("aten::silu", {{.name = "self", .value = f32({2})}})).claim,
      Claim::Native);
}

TEST(Disagreement, IsNoMatterBetweenReleases) {
  const TestDatabase database(
      {Row{.op = "aten::relu", .release = "4.0", .evidence = "documented-by-source"},
       Row{.op = "aten::relu", .status = "unsupported", .release = "2.0", .evidence = "measured"}});
  EXPECT_EQ(claimOf(database, "4.0", relu(f32({2}))).claim, Claim::Native);
}

TEST(Caveats, TellOfTheVendorsTestAndThePath) {
  const TestDatabase database(
      {Row{.op = "aten::relu", .pathNote = "slow above 2 GiB", .vendorTest = "xfail"}});
  const UseClaim claim = claimOf(database, "2.0", relu(f32({2})));
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_THAT(claim.caveats, Contains(HasSubstr("slow above 2 GiB")));
  EXPECT_THAT(claim.caveats, Contains(HasSubstr("xfail")));
  const TestDatabase passed({Row{.op = "aten::relu", .vendorTest = "pass"}});
  EXPECT_THAT(claimOf(passed, "2.0", relu(f32({2}))).caveats, IsEmpty());
}

TEST(Confidence, IsThatOfTheWeakestEvidence) {
  const TestDatabase database(
      {Row{.op = "aten::linear", .confidence = "low", .observed = "2026-11-01"}});
  const UseClaim claim =
      claimOf(database, "2.0", use("aten::linear", {{.name = "input", .value = f32({2, 2})}}));
  EXPECT_EQ(claim.confidence, Confidence::Low);
  EXPECT_EQ(claim.ageDays, 30);
}

TEST(CustomOperators, AreUnknownWithWhatToDo) {
  const TestDatabase database({});
  const UseClaim claim = claimOf(database, "2.0", use("mylib::attention", {}));
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_EQ(claim.confidence, Confidence::None);
  EXPECT_THAT(claim.reason, HasSubstr("not in the catalogue"));
  EXPECT_FALSE(claim.remedy.empty());
}

}  // namespace
}  // namespace neuroncheck::opdb
