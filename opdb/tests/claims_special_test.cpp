// SPDX-License-Identifier: Apache-2.0
// Operators with rules of their own (docs/claims.md, rules 3 to 9, 13 and 14).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using testing::claimOf;
using ::testing::Contains;
using testing::f32;
using ::testing::Field;
using testing::flag;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::number;
using testing::real;
using testing::Row;
using testing::tensor;
using testing::TestDatabase;
using testing::unknownTensor;
using testing::use;

Row complete(std::string op, std::string status = "native") {
  return Row{
      .op = std::move(op), .status = std::move(status), .release = "1.0", .observed = "2026-01-01"};
}

TEST(NoDeviceWork, OfMetadataHostNamespacesAndViews) {
  const TestDatabase database({complete("aten::relu")});
  for (const char* op : {"aten::sym_size.int", "aten::_assert_tensor_metadata",
                         "profiler::_record_function_enter_new", "aten::view", "aten::t",
                         "aten::transpose.int", "aten::transpose_"}) {
    const UseClaim claim =
        claimOf(database, "1.0", use(op, {{.name = "self", .value = f32({2, 2})}}));
    EXPECT_EQ(claim.claim, Claim::NoDeviceWork) << op;
    EXPECT_EQ(claim.confidence, Confidence::High) << op;
    EXPECT_FALSE(claim.stale) << op;
    EXPECT_THAT(claim.leaves, IsEmpty()) << op;
  }
  EXPECT_EQ(claimOf(database, "1.0", use("aten::mm", {})).claim, Claim::CpuFallback)
      << "not everything is free";
}

TEST(NoDeviceWork, ViewsAreAnsweredBeforeTheirRows) {
  const TestDatabase database({complete("aten::view")});
  EXPECT_EQ(
      claimOf(database, "1.0", use("aten::view", {{.name = "self", .value = f32({2})}})).claim,
      Claim::NoDeviceWork);
}

OpUse dropout(bool train, double p) {
  return use("aten::dropout", {{.name = "input", .value = f32({2})},
                               {.name = "p", .value = real(p)},
                               {.name = "train", .value = flag(train)}});
}

TEST(Dropout, IsFreeInEvaluationAndWorkInTraining) {
  const TestDatabase database({complete("aten::native_dropout")});
  EXPECT_EQ(claimOf(database, "1.0", dropout(false, 0.5)).claim, Claim::NoDeviceWork);
  EXPECT_EQ(claimOf(database, "1.0", dropout(true, 0.0)).claim, Claim::NoDeviceWork);
  EXPECT_EQ(claimOf(database, "1.0", dropout(true, 0.5)).claim, Claim::Decomposed);
}

TEST(KernelViews, AreCopiesThatLoseWrites) {
  const OpUse real =
      use("aten::view_as_real", {{.name = "self", .value = tensor(DType::Complex64, {2})}});
  const TestDatabase without({complete("aten::relu")});
  const UseClaim claim = claimOf(without, "1.0", real);
  EXPECT_EQ(claim.claim, Claim::CpuFallbackView);
  EXPECT_THAT(claim.reason, HasSubstr("writes through the view are lost"));
  const TestDatabase with({complete("aten::view_as_real")});
  EXPECT_EQ(claimOf(with, "1.0", real).claim, Claim::Native);
  const TestDatabase fallback({complete("aten::view_as_real", "cpu-fallback")});
  EXPECT_EQ(claimOf(fallback, "1.0", real).claim, Claim::CpuFallbackView);
  EXPECT_EQ(claimOf(without, "2.0", real).claim, Claim::Unknown)
      << "absence of a later release proves nothing";
}

TEST(KernelViews, AreFoundBelowACompositeView) {
  const auto realOf = [](TensorPtr self) {
    return use("aten::real", {{.name = "self", .value = std::move(self)}});
  };
  const TestDatabase without({complete("aten::relu")});
  const UseClaim lost = claimOf(without, "1.0", realOf(tensor(DType::Complex64, {2})));
  EXPECT_EQ(lost.claim, Claim::CpuFallbackView) << "a write through it is lost";
  EXPECT_THAT(lost.reason, HasSubstr("aten::real calls aten::view_as_real, which is a view"));
  EXPECT_EQ(claimOf(without, "1.0", realOf(f32({2}))).claim, Claim::NoDeviceWork)
      << "a real tensor is returned as it is";
  EXPECT_EQ(claimOf(without, "1.0", realOf(unknownTensor())).claim, Claim::Depends);
  const TestDatabase with({complete("aten::view_as_real")});
  EXPECT_EQ(claimOf(with, "1.0", realOf(tensor(DType::Complex64, {2}))).claim, Claim::Native);
}

OpUse reshape(TensorPtr self) {
  return use("aten::reshape", {{.name = "self", .value = std::move(self)}});
}

TEST(ViewOrCopy, IsAsGoodAsTheCopyItMayNeed) {
  const TestDatabase database({complete("aten::clone")});
  for (const auto& strides : {std::vector<std::int64_t>{3, 1}, {1, 2}}) {
    const UseClaim claim =
        claimOf(database, "1.0", reshape(tensor(DType::Float32, {2, 3}, strides)));
    EXPECT_EQ(claim.claim, Claim::Native) << "the strides in a file are not those of the device";
    EXPECT_THAT(claim.caveats, Contains(HasSubstr("a copy otherwise")));
  }
  const TestDatabase without({complete("aten::clone", "cpu-fallback")});
  const UseClaim open = claimOf(without, "1.0", reshape(f32({2, 3})));
  EXPECT_EQ(open.claim, Claim::Depends);
  EXPECT_EQ(open.decidedBy, "self");
}

TEST(ViewOrCopy, ConjugationOfARealTensorIsFree) {
  const TestDatabase database(
      {complete("aten::clone", "cpu-fallback"), complete("aten::_to_copy", "cpu-fallback")});
  const auto resolve = [](DType dtype) {
    return use("aten::resolve_conj", {{.name = "self", .value = tensor(dtype, {2})}});
  };
  EXPECT_EQ(claimOf(database, "1.0", resolve(DType::Float32)).claim, Claim::NoDeviceWork);
  EXPECT_EQ(claimOf(database, "1.0", resolve(DType::Complex64)).claim, Claim::Depends);
}

OpUse cast(DType to) {
  return use("aten::to.dtype", {{.name = "self", .value = f32({2})},
                                {.name = "dtype", .value = to},
                                {.name = "copy", .value = flag(false)}});
}

TEST(ViewOrCopy, ACastCopiesExactlyWhenTheDTypeChanges) {
  const TestDatabase database(
      {complete("aten::clone", "cpu-fallback"), complete("aten::_to_copy", "cpu-fallback")});
  EXPECT_EQ(claimOf(database, "1.0", cast(DType::Float32)).claim, Claim::NoDeviceWork);
  EXPECT_EQ(claimOf(database, "1.0", cast(DType::BFloat16)).claim, Claim::CpuFallback);
}

TEST(ViewOrCopy, ADeviceThatIsTheTensorsOwnAsksForNothing) {
  const TestDatabase database(
      {complete("aten::clone", "cpu-fallback"), complete("aten::_to_copy", "cpu-fallback")});
  const auto move = [](const char* device) {
    return use("aten::to.dtype_layout",
               {{.name = "self", .value = f32({2})},
                {.name = "dtype", .value = DType::Float32},
                {.name = "device", .value = Device{.type = device, .index = std::nullopt}},
                {.name = "copy", .value = flag(false)}});
  };
  EXPECT_EQ(claimOf(database, "1.0", move("cpu")).claim, Claim::NoDeviceWork);
  EXPECT_EQ(claimOf(database, "1.0", move("cuda")).claim, Claim::Depends);
}

TEST(CpuOnly, NamesAreMappedBackAndSaySo) {
  const TestDatabase database({complete("aten::_scaled_dot_product_fused_attention_overrideable"),
                               complete("aten::native_dropout")});
  const OpUse attention = use("aten::_scaled_dot_product_flash_attention_for_cpu",
                              {{.name = "query", .value = f32({1, 2, 8, 16})},
                               {.name = "key", .value = f32({1, 2, 8, 16})},
                               {.name = "value", .value = f32({1, 2, 8, 16})}});
  const UseClaim claim = claimOf(database, "1.0", attention);
  EXPECT_EQ(claim.claim, Claim::Decomposed);
  EXPECT_THAT(claim.caveats, Contains(HasSubstr("made on a CPU")));
  EXPECT_EQ(claimOf(database, "1.0",
                    use("aten::mkldnn_rnn_layer", {{.name = "mode", .value = number(2)}}))
                .claim,
            Claim::Unsupported);
  EXPECT_THAT(claimOf(database, "1.0",
                      use("aten::mkldnn_rnn_layer", {{.name = "mode", .value = number(3)}}))
                  .reason,
              HasSubstr("aten::_thnn_fused_gru_cell"));
}

TEST(CpuOnly, TheMaskOfADropoutIsNativeDropout) {
  const TestDatabase database({complete("aten::native_dropout")});
  OpUse mask = use("aten::bernoulli_.float", {{.name = "self", .value = f32({2})}});
  EXPECT_EQ(claimOf(database, "1.0", mask).claim, Claim::CpuFallback) << "drawn by the user";
  mask.moduleType = "torch.nn.modules.dropout.Dropout";
  EXPECT_EQ(claimOf(database, "1.0", mask).claim, Claim::Native);
}

OpUse attention(std::vector<std::int64_t> query, ArgValue mask = NoneValue{}) {
  return use("aten::scaled_dot_product_attention",
             {{.name = "query", .value = f32(query)},
              {.name = "key", .value = f32(query)},
              {.name = "value", .value = f32(query)},
              {.name = "attn_mask", .value = std::move(mask)}});
}

TEST(Attention, TakesTheFusedKernelExactlyWhenAllAreFourDimensional) {
  const TestDatabase database({complete("aten::_scaled_dot_product_fused_attention_overrideable")});
  const UseClaim fused = claimOf(database, "1.0", attention({1, 2, 8, 16}));
  EXPECT_EQ(fused.claim, Claim::Decomposed);
  EXPECT_THAT(fused.evidence, Contains("feature:sdpa-choice"));
  const UseClaim math = claimOf(database, "1.0", attention({2, 8, 16}));
  EXPECT_EQ(math.claim, Claim::CpuFallback);
  EXPECT_THAT(math.reason, HasSubstr("math path, because query is not 4-D"));
  const OpUse open =
      use("aten::scaled_dot_product_attention", {{.name = "query", .value = unknownTensor()}});
  const UseClaim depends = claimOf(database, "1.0", open);
  EXPECT_EQ(depends.claim, Claim::Depends);
  EXPECT_EQ(depends.decidedBy, "query");
}

TEST(Attention, ABoolMaskIsTurnedIntoABiasFirst) {
  const TestDatabase database({complete("aten::_scaled_dot_product_fused_attention_overrideable"),
                               complete("aten::scalar_tensor")});
  const UseClaim claim =
      claimOf(database, "1.0", attention({1, 2, 8, 16}, tensor(DType::Bool, {8, 8})));
  EXPECT_EQ(claim.claim, Claim::CpuFallback);
  EXPECT_THAT(claim.leaves, Contains(Field(&LeafClaim::op, HasSubstr("where"))));
  EXPECT_THAT(claimOf(database, "1.0", attention({1, 2, 8, 16}, f32({8, 8}))).leaves,
              Not(Contains(Field(&LeafClaim::op, HasSubstr("where")))));
}

TEST(Recurrent, IsBlockedByItsFusedCellAndSaysHowToDecompose) {
  const TestDatabase database({complete("aten::mm"), complete("aten::dot")});
  const UseClaim claim = claimOf(
      database, "1.0", use("aten::lstm.input", {{.name = "input", .value = f32({1, 2, 3})}}));
  EXPECT_EQ(claim.claim, Claim::Unsupported);
  EXPECT_THAT(claim.reason, HasSubstr("aten::_thnn_fused_lstm_cell"));
  EXPECT_THAT(claim.remedy, HasSubstr("run_decompositions"));
}

TEST(Collectives, AreAskedOfTheProcessGroup) {
  const TestDatabase database({complete("aten::relu")});
  const OpUse reduce = use("_c10d_functional::all_reduce", {{.name = "input", .value = f32({2})}});
  const UseClaim claim = claimOf(database, "1.0", reduce);
  EXPECT_EQ(claim.claim, Claim::Unknown);
  EXPECT_THAT(claim.reason, HasSubstr("process group"));
  const TestDatabase measured({complete("_c10d_functional::all_reduce")});
  EXPECT_EQ(claimOf(measured, "1.0", reduce).claim, Claim::Native);
}

}  // namespace
}  // namespace neuroncheck::opdb
