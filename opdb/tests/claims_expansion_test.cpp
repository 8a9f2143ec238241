// SPDX-License-Identifier: Apache-2.0
#include "opdb/expansion.h"

#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"
#include "opdb/tests/test_catalogue.h"

namespace neuroncheck::opdb {
namespace {

using testing::f32;
using testing::number;
using testing::numbers;
using testing::Row;
using testing::tensor;
using testing::TestDatabase;
using testing::use;

TEST(Times, MultiplyAlongAChain) {
  EXPECT_EQ(multiplyTimes("1", "3"), "3");
  EXPECT_EQ(multiplyTimes("3", "1"), "3");
  EXPECT_EQ(multiplyTimes("2", "3"), "6");
  EXPECT_EQ(multiplyTimes("2", "1..3"), "n");
  EXPECT_EQ(multiplyTimes("n", "n"), "n");
  EXPECT_EQ(multiplyTimes("999999999999", "2"), "n");
}

std::string keyOf(const OpUse& use) { return contextKey(factsOf(use, "trn2")); }

TEST(ContextKey, SeparatesWhateverARuleCanSee) {
  const auto key = [](TensorPtr self, std::int64_t alpha) {
    return keyOf(use("aten::add.Tensor", {{.name = "self", .value = std::move(self)},
                                          {.name = "alpha", .value = number(alpha)}}));
  };
  const std::string base = key(f32({2, 3}), 1);
  EXPECT_EQ(base, key(f32({2, 3}), 1));
  EXPECT_NE(base, key(f32({2, 3}), 2));
  EXPECT_NE(base, key(f32({2, 4}), 1));
  EXPECT_NE(base, key(tensor(DType::BFloat16, {2, 3}), 1));
  EXPECT_NE(base, key(tensor(DType::Float32, {2, 3}, {{1, 2}}), 1));
  EXPECT_NE(contextKey(factsOf(use("aten::add.Tensor", {}), "trn2")),
            contextKey(factsOf(use("aten::add.Tensor", {}), "trn3")));
}

TEST(ContextKey, SeparatesListsByTheirLength) {
  const auto key = [](std::vector<TensorPtr> indices) {
    return keyOf(
        use("aten::index.Tensor", {{.name = "indices", .value = TensorList{std::move(indices)}}}));
  };
  EXPECT_EQ(key({f32({2})}), key({f32({2})}));
  EXPECT_NE(key({f32({2})}), key({nullptr, f32({2})}));
}

/// What conv2d's call of convolution gets as `stride`, as a text; empty when it is not known.
std::string strideOf(const std::string& mapping, ArgValue given) {
  const TemporaryFolder folder;
  const BuildInputs inputs = smallInputs(folder);
  writeFile(inputs.expansions,
            R"({"op":"aten::conv2d","child":"aten::convolution","times":"1","mode":"always",)"
            R"("args":{"stride":)" +
                mapping + "}}\n");
  EXPECT_TRUE(buildDatabase(inputs, folder / "operators.db"));
  const Database database = openSmall(folder / "operators.db");
  const OpInfo* parent = database.find(op("aten::conv2d"));
  const std::vector<Expansion> expansions = readExpansions(database, *parent);
  EXPECT_EQ(expansions.size(), 1U);
  const OpUse call = use("aten::conv2d", {{.name = "stride", .value = std::move(given)}});
  const PredicateContext child = childContext(call.op, expansions.at(0), factsOf(call, "trn2"));
  const auto found = child.arguments.find("stride");
  return found == child.arguments.end() ? "" : text(found->second.value.value());
}

TEST(Mapping, PutsConstantsBeforeTheParentsList) {
  const std::string mapping = R"({"parent":"stride","before":[1,4]})";
  EXPECT_EQ(strideOf(mapping, numbers({3})), "[1, 4, 3]");
  EXPECT_EQ(strideOf(mapping, numbers({})), "[1, 4]");
  EXPECT_EQ(strideOf(R"({"parent":"stride"})", numbers({3})), "[3]");
}

TEST(Mapping, DoesNotGuessWhereTheParentHasNoListOfNumbers) {
  const std::string mapping = R"({"parent":"stride","before":[1]})";
  EXPECT_EQ(strideOf(mapping, number(3)), "") << "one number stands for as many as are wanted";
  EXPECT_EQ(strideOf(mapping, std::vector<SymFloat>{}), "");
  EXPECT_EQ(strideOf(R"({"parent":"stride","before":[1.5]})", numbers({3})), "");
  EXPECT_EQ(strideOf(R"({"parent":"stride","before":1})", numbers({3})), "");
}

TEST(Mapping, AConditionReadsThePrefixedList) {
  const TestDatabase database({Row{.op = "aten::mean.dim"}});
  const auto pool = [](std::int64_t size) {
    return use("aten::adaptive_avg_pool1d", {{.name = "self", .value = f32({1, 2, 8})},
                                             {.name = "output_size", .value = numbers({size})}});
  };
  const UseClaim one = testing::claimOf(database, "2.0", pool(1));
  EXPECT_EQ(one.claim, Claim::Decomposed);
  EXPECT_EQ(one.leaves.at(0).op, "aten::mean.dim");
  EXPECT_EQ(testing::claimOf(database, "2.0", pool(2)).claim, Claim::Unknown);
}

}  // namespace
}  // namespace neuroncheck::opdb
