// SPDX-License-Identifier: Apache-2.0
// torch.compile (docs/claims.md, rule 18).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using testing::claimOf;
using testing::f32;
using ::testing::HasSubstr;
using testing::Row;
using testing::TestDatabase;
using testing::use;

UseClaim compiled(const TestDatabase& database, const OpUse& use, const char* release = "1.0") {
  return claimOf(database, database.target(release, ExecutionMode::Compile), use);
}
OpUse unary(const std::string& op) { return use(op, {{.name = "self", .value = f32({2})}}); }

TEST(Compile, ADecomposedRowIsDecomposed) {
  const TestDatabase database(
      {Row{.op = "aten::silu", .status = "decomposed", .release = "1.0", .mode = "compile"}});
  EXPECT_EQ(compiled(database, unary("aten::silu")).claim, Claim::Decomposed);
}

TEST(Compile, InfersNothingFromEagerRegistrations) {
  const TestDatabase database({Row{.op = "aten::relu", .release = "1.0"}});
  for (const char* op : {"aten::silu", "aten::relu", "aten::gt.Scalar", "aten::view_as_real"}) {
    const UseClaim claim = compiled(database, unary(op));
    EXPECT_EQ(claim.claim, Claim::Unknown) << op;
    EXPECT_EQ(claim.confidence, Confidence::None) << op;
  }
}

TEST(Compile, ExpandsImplicitCompositesOnly) {
  const TestDatabase database(
      {Row{.op = "aten::pow.Tensor_Scalar", .release = "1.0", .mode = "compile"},
       Row{.op = "aten::mul.Scalar", .release = "1.0", .mode = "any"}});
  EXPECT_EQ(compiled(database, unary("aten::square")).claim, Claim::Decomposed);
  const OpUse explicitComposite = use("aten::_foreach_mul_.Scalar", {});
  EXPECT_EQ(compiled(database, explicitComposite).claim, Claim::Unknown);
  EXPECT_EQ(claimOf(database, "1.0", explicitComposite).claim, Claim::Decomposed);
}

TEST(Compile, JudgesAnInPlaceOperatorByItsFunctionalForm) {
  const TestDatabase database({Row{.op = "aten::add.Tensor", .release = "1.0", .mode = "compile"}});
  const UseClaim claim = compiled(database, unary("aten::add_.Tensor"));
  EXPECT_EQ(claim.claim, Claim::Native);
  EXPECT_THAT(claim.reason, HasSubstr("becomes aten::add.Tensor under torch.compile"));
  EXPECT_EQ(claimOf(database, "1.0", unary("aten::add_.Tensor")).claim, Claim::CpuFallback);
}

TEST(Compile, ViewsAndMetadataStayFree) {
  const TestDatabase database({});
  EXPECT_EQ(compiled(database, unary("aten::view")).claim, Claim::NoDeviceWork);
  EXPECT_EQ(compiled(database, unary("aten::sym_size.int")).claim, Claim::NoDeviceWork);
}

}  // namespace
}  // namespace neuroncheck::opdb
