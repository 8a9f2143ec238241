// SPDX-License-Identifier: Apache-2.0
// What follows where no row answers (docs/claims.md, rules 11, 12 and 15 to 17).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using ::testing::AllOf;
using testing::claimOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::f32;
using ::testing::Field;
using testing::flag;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::number;
using testing::numbers;
using testing::real;
using testing::Row;
using testing::tensor;
using testing::TestDatabase;
using testing::unknownTensor;
using testing::use;

/// Rows of release 1.0, whose list of registrations is complete.
Row complete(std::string op, std::string status = "native") {
  return Row{
      .op = std::move(op), .status = std::move(status), .release = "1.0", .observed = "2026-01-01"};
}
OpUse unary(const std::string& op) { return use(op, {{.name = "self", .value = f32({2})}}); }
OpUse linear(ArgValue bias) {
  return use("aten::linear", {{.name = "input", .value = f32({3, 4})},
                              {.name = "weight", .value = f32({5, 4})},
                              {.name = "bias", .value = std::move(bias)}});
}

TEST(Twin, AStructuredOperatorIsJudgedAtItsOutForm) {
  const TestDatabase database({Row{.op = "aten::gt.Scalar_out"}});
  for (const char* op : {"aten::gt.Scalar", "aten::gt_.Scalar"}) {
    const UseClaim claim = claimOf(database, "2.0", unary(op));
    EXPECT_EQ(claim.claim, Claim::Native) << op;
    EXPECT_THAT(claim.leaves, ElementsAre(Field(&LeafClaim::op, "aten::gt.Scalar_out"))) << op;
  }
}

TEST(Twin, ItsOwnRowComesFirst) {
  const TestDatabase database(
      {Row{.op = "aten::gt.Scalar_out"}, Row{.op = "aten::gt.Scalar", .status = "unsupported"}});
  EXPECT_EQ(claimOf(database, "2.0", unary("aten::gt.Scalar")).claim, Claim::Unsupported);
}

TEST(Twin, AMissingKernelIsMissedAtTheTwin) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "1.0", unary("aten::gt.Scalar"));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_THAT(claim.reason, HasSubstr("aten::gt.Scalar_out (the kernel behind aten::gt.Scalar)"));
}

TEST(Family, AFallbackMeasuredOnOneMemberSpeaksForTheOthers) {
  const TestDatabase database(
      {Row{.op = "aten::acos", .status = "cpu-fallback", .evidence = "measured-by-user"}});
  for (const char* op : {"aten::acos_", "aten::acos.out"}) {
    EXPECT_EQ(claimOf(database, "2.0", unary(op)).claim, Claim::CpuFallback) << op;
  }
}

TEST(Family, ANativeMemberSaysNothingOfTheOthers) {
  const TestDatabase database({Row{.op = "aten::acos"}});
  EXPECT_EQ(claimOf(database, "2.0", unary("aten::acos_")).claim, Claim::Unknown);
}

// Public report: "no kernel registered" was read as "unsupported".
TEST(Composite, OfNativePartsIsDecomposedAndListsThem) {
  const TestDatabase database({complete("aten::addmm")});
  const UseClaim claim = claimOf(database, "1.0", linear(f32({5})));
  EXPECT_EQ(claim.claim, Claim::Decomposed);
  EXPECT_THAT(claim.leaves, ElementsAre(AllOf(Field(&LeafClaim::op, "aten::addmm"),
                                              Field(&LeafClaim::claim, Claim::Native))));
  EXPECT_THAT(claim.evidence, Contains("expansion:aten::linear"));
}

TEST(Composite, NamesThePartThatIsMissing) {
  const TestDatabase database({complete("aten::mm")});
  const UseClaim claim = claimOf(database, "1.0", linear(f32({5})));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_THAT(claim.reason, HasSubstr("aten::linear calls aten::addmm"));
  EXPECT_THAT(claim.leaves, ElementsAre(Field(&LeafClaim::claim, Claim::CpuFallback)));
}

TEST(Composite, ItsOwnRowEndsTheExpansion) {
  const TestDatabase database({complete("aten::linear"), complete("aten::square", "cpu-fallback"),
                               complete("aten::pow.Tensor_Scalar")});
  EXPECT_EQ(claimOf(database, "1.0", linear(f32({5}))).claim, Claim::Native);
  EXPECT_EQ(claimOf(database, "1.0", unary("aten::square")).claim, Claim::CpuFallback);
}

TEST(Composite, AConditionPicksThePartThatIsCalled) {
  const TestDatabase database({complete("aten::mm")});
  EXPECT_EQ(claimOf(database, "1.0", linear(NoneValue{})).claim, Claim::Decomposed);
  const auto pool = [](std::initializer_list<std::int64_t> size) {
    return use("aten::adaptive_avg_pool2d", {{.name = "self", .value = f32({1, 2, 8, 8})},
                                             {.name = "output_size", .value = numbers(size)}});
  };
  const TestDatabase means({complete("aten::mean.dim")});
  EXPECT_EQ(claimOf(means, "1.0", pool({1, 1})).claim, Claim::Decomposed);
  EXPECT_EQ(claimOf(means, "1.0", pool({2, 2})).claim, Claim::CpuFallback);
}

TEST(Composite, DependsOnTheArgumentThatPicksAWorsePart) {
  const TestDatabase database({complete("aten::mm")});
  const OpUse open = use("aten::linear", {{.name = "input", .value = f32({3, 4})},
                                          {.name = "weight", .value = f32({5, 4})}});
  const UseClaim claim = claimOf(database, "1.0", open);
  EXPECT_EQ(claim.claim, Claim::Depends);
  EXPECT_EQ(claim.decidedBy, "bias");
  EXPECT_THAT(claim.leaves,
              Contains(AllOf(Field(&LeafClaim::op, "aten::mm"), Field(&LeafClaim::always, false))));
}

TEST(Composite, AnOpenPartThatChangesNothingIsNoMatter) {
  const TestDatabase database({complete("aten::mm"), complete("aten::addmm")});
  const OpUse open = use("aten::linear", {{.name = "input", .value = f32({3, 4})},
                                          {.name = "weight", .value = f32({5, 4})}});
  EXPECT_EQ(claimOf(database, "1.0", open).claim, Claim::Decomposed);
}

TEST(Composite, APartWithoutACondition) {
  const auto product = use("aten::matmul", {{.name = "self", .value = f32({2, 2})},
                                            {.name = "other", .value = f32({2, 2})}});
  const TestDatabase both({complete("aten::mm"), complete("aten::dot")});
  EXPECT_EQ(claimOf(both, "1.0", product).claim, Claim::Decomposed);
  const TestDatabase one({complete("aten::mm")});
  const UseClaim claim = claimOf(one, "1.0", product);
  EXPECT_EQ(claim.claim, Claim::Depends);
  EXPECT_EQ(claim.decidedBy, "arguments");
  const TestDatabase none({complete("aten::relu")});
  EXPECT_EQ(claimOf(none, "1.0", product).claim, Claim::CpuFallback)
      << "every part falls back, so the open one is no matter";
}

TEST(Composite, APartIsLeftOutWhereItsNecessaryConditionFails) {
  const auto loss = [](std::optional<ArgValue> weight, std::int64_t reduction) {
    OpUse made =
        use("aten::cross_entropy_loss", {{.name = "self", .value = f32({2, 3})},
                                         {.name = "reduction", .value = number(reduction)}});
    if (weight) {
      made.args.push_back({.name = "weight", .value = *std::move(weight)});
    }
    return made;
  };
  const TestDatabase database({complete("aten::_log_softmax")});
  const UseClaim without = claimOf(database, "1.0", loss(NoneValue{}, 1));
  EXPECT_EQ(without.claim, Claim::Decomposed);
  EXPECT_THAT(without.leaves, ElementsAre(Field(&LeafClaim::op, "aten::_log_softmax")));
  const UseClaim possible = claimOf(database, "1.0", loss(f32({3}), 1));
  EXPECT_EQ(possible.claim, Claim::Depends) << "necessary is not sufficient";
  EXPECT_EQ(possible.decidedBy, "arguments");
  const UseClaim open = claimOf(database, "1.0", loss(std::nullopt, 1));
  EXPECT_EQ(open.claim, Claim::Depends);
  EXPECT_EQ(open.decidedBy, "weight");
  EXPECT_EQ(claimOf(database, "1.0", loss(std::nullopt, 2)).claim, Claim::Decomposed);
}

TEST(Composite, TheLastPartThatIsLeftIsCalled) {
  const auto loss = [](TensorPtr self) {
    return use("aten::nll_loss_nd", {{.name = "self", .value = std::move(self)}});
  };
  const TestDatabase database({complete("aten::nll_loss"), complete("aten::nll_loss2d")});
  EXPECT_THAT(
      claimOf(database, "1.0", loss(f32({2, 3}))).leaves,
      ElementsAre(AllOf(Field(&LeafClaim::op, "aten::nll_loss"), Field(&LeafClaim::always, true))));
  EXPECT_THAT(claimOf(database, "1.0", loss(unknownTensor())).leaves,
              ElementsAre(Field(&LeafClaim::always, false), Field(&LeafClaim::always, false)));
}

TEST(Composite, PlumbingCountsOnlyWhereTheKernelIsMissing) {
  const OpUse norm = use("aten::batch_norm", {{.name = "input", .value = f32({1, 2, 3, 3})}});
  const TestDatabase with(
      {complete("aten::native_batch_norm"), complete("aten::empty.memory_format")});
  const UseClaim claim = claimOf(with, "1.0", norm);
  EXPECT_EQ(claim.claim, Claim::Decomposed);
  EXPECT_THAT(claim.leaves, ElementsAre(AllOf(Field(&LeafClaim::op, "aten::native_batch_norm"),
                                              Field(&LeafClaim::times, "2"))));
  const TestDatabase without({complete("aten::native_batch_norm")});
  EXPECT_THAT(claimOf(without, "1.0", norm).reason, HasSubstr("aten::empty.memory_format"));
}

TEST(Composite, WithoutAnExpansionIsUnknown) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "1.0", use("aten::einsum", {}));
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_THAT(claim.reason, HasSubstr("not expanded"));
  EXPECT_THAT(claim.remedy, HasSubstr("run_decompositions"));
}

TEST(Composite, WhoseSamplesEndInAnErrorIsUnknownUnlessItIsRefused) {
  const OpUse cut = use("aten::square_", {{.name = "self", .value = f32({2})}});
  const TestDatabase ready({complete("aten::relu")});
  const UseClaim claim = claimOf(ready, "1.0", cut);
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_THAT(claim.reason, HasSubstr("end in an error"));
  EXPECT_THAT(claim.remedy, HasSubstr("--trace"));
  // What comes after cannot make a refusal better.
  Row row = complete("aten::relu");
  row.status = "unsupported";
  const TestDatabase refused({row});
  EXPECT_EQ(claimOf(refused, "1.0", cut).claim, Claim::Unsupported);
}

TEST(Composite, ThatCallsNothingIsNoDeviceWork) {
  const TestDatabase database({});
  EXPECT_EQ(claimOf(database, "2.0", use("aten::cosine_similarity", {})).claim,
            Claim::NoDeviceWork);
}

TEST(Composite, ACircleOfExpansionsEnds) {
  const TestDatabase database({Row{.op = "aten::clone"}});
  const UseClaim claim =
      claimOf(database, "2.0", use("aten::index_put", {{.name = "self", .value = f32({2})}}));
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_THAT(claim.reason, HasSubstr("circle"));
}

TEST(Composite, ConditionsOutsideOfTheSamplesExcludeNothing) {
  const auto drop = [](double p) {
    return use("aten::dropout", {{.name = "input", .value = f32({2})},
                                 {.name = "p", .value = real(p)},
                                 {.name = "train", .value = flag(true)}});
  };
  const TestDatabase database({complete("aten::relu")});
  EXPECT_EQ(claimOf(database, "1.0", drop(0.5)).claim, Claim::CpuFallback);
  EXPECT_EQ(claimOf(database, "1.0", drop(0.1)).claim, Claim::CpuFallback)
      << "sampled with p == 0.5 only";
}

TEST(Mapping, APredicateReachesThroughAComposite) {
  const TestDatabase database(
      {Row{.op = "aten::convolution",
           .release = "1.0",
           .predicate = "contiguous(input) && contiguous(weight) && value(transposed) == false",
           .otherwise = "unsupported"}});
  const auto conv = [](TensorPtr input) {
    return use("aten::conv2d", {{.name = "input", .value = std::move(input)},
                                {.name = "weight", .value = f32({4, 3, 2, 2})}});
  };
  EXPECT_EQ(claimOf(database, "1.0", conv(f32({1, 3, 8, 8}))).claim, Claim::Decomposed);
  const UseClaim refused =
      claimOf(database, "1.0", conv(tensor(DType::Float32, {1, 3, 8, 8}, {{192, 1, 24, 3}})));
  EXPECT_EQ(refused.claim, Claim::Unsupported);
  EXPECT_THAT(refused.reason,
              AllOf(HasSubstr("aten::conv2d calls aten::convolution"), HasSubstr("does not hold")));
  EXPECT_EQ(claimOf(database, "1.0", conv(unknownTensor())).claim, Claim::Depends);
}

TEST(Mapping, DerivedPropertiesAndListItemsReachTheChild) {
  const TestDatabase database({Row{.op = "aten::addmm",
                                   .release = "1.0",
                                   .predicate = "dtype(mat2) == float32",
                                   .otherwise = "unsupported"},
                               Row{.op = "aten::mul.Scalar",
                                   .release = "1.0",
                                   .predicate = "rank(self) == 2",
                                   .otherwise = "unsupported"}});
  EXPECT_EQ(claimOf(database, "1.0", linear(f32({5}))).claim, Claim::Decomposed);
  const auto foreach = [](std::vector<TensorPtr> items) {
    return use("aten::_foreach_mul_.Scalar",
               {{.name = "self", .value = TensorList{std::move(items)}},
                {.name = "scalar", .value = number(2)}});
  };
  EXPECT_EQ(claimOf(database, "1.0", foreach ({f32({1}), f32({2, 2})})).claim, Claim::Decomposed);
  EXPECT_EQ(claimOf(database, "1.0", foreach ({f32({2, 2}), f32({1})})).claim, Claim::Unsupported);
}

TEST(MissingKernel, OfACompleteReleaseFallsBackWithLowConfidence) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "1.0", unary("aten::silu"));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_EQ(claim.confidence, Confidence::Low);
  EXPECT_FALSE(claim.stale);
  EXPECT_THAT(claim.evidence, Contains("registrations:1.0"));
  EXPECT_THAT(claim.reason, HasSubstr("inferred from a complete list"));
}

TEST(MissingKernel, WithoutACpuKernelIsUnsupportedWithTheMessage) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "1.0", use("aten::_thnn_fused_lstm_cell", {}));
  EXPECT_EQ(claim.claim, Claim::Unsupported);
  EXPECT_THAT(
      claim.reason,
      HasSubstr(
          "Could not run 'aten::_thnn_fused_lstm_cell' with arguments from the 'CPU' backend"));
}

TEST(MissingKernel, OfALaterReleaseIsUnknownAndQuotesTheOldList) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "2.0", unary("aten::silu"));
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_EQ(claim.confidence, Confidence::None);
  EXPECT_THAT(claim.reason, HasSubstr("not registered in 1.0, 2026-01-01"));
  EXPECT_THAT(claim.evidence, Contains("registrations:1.0"));
}

TEST(MissingKernel, OfAReleaseTheDatabaseDoesNotKnowIsUnknown) {
  const TestDatabase database({complete("aten::relu")});
  EXPECT_EQ(claimOf(database, "1.5", unary("aten::silu")).claim, Claim::Unknown);
}

TEST(MissingKernel, OlderRowsDoNotAnswerForACompleteRelease) {
  const TestDatabase database({Row{.op = "aten::silu", .release = "0.5"}});
  const UseClaim claim = claimOf(database, "1.0", unary("aten::silu"));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_THAT(claim.evidence, Contains("support:1"));
  EXPECT_EQ(claimOf(database, "2.0", unary("aten::silu")).claim, Claim::Native);
}

TEST(ThrowsOnly, IsNeverAComposite) {
  const TestDatabase database({complete("aten::relu")});
  const UseClaim claim = claimOf(database, "1.0", use("aten::convolution_overrideable", {}));
  EXPECT_EQ(claim.claim, Claim::Unsupported);
  EXPECT_THAT(claim.reason, HasSubstr("nothing but raise"));
}

}  // namespace
}  // namespace neuroncheck::opdb
