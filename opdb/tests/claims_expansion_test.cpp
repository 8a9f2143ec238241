// SPDX-License-Identifier: Apache-2.0
#include "opdb/expansion.h"

#include <gtest/gtest.h>

#include "opdb/tests/claims_fixture.h"

namespace neuroncheck::opdb {
namespace {

using testing::f32;
using testing::number;
using testing::tensor;
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

}  // namespace
}  // namespace neuroncheck::opdb
