// SPDX-License-Identifier: Apache-2.0
#include "core/result.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neuroncheck {
namespace {

using ::testing::HasSubstr;

Result<int> half(int value) {
  if (value % 2 != 0) {
    return inputError("odd");
  }
  return value / 2;
}

Result<int> quarter(int value) {
  NEURONCHECK_TRY(const int first, half(value));
  NEURONCHECK_TRY(const int second, half(first));
  return second;
}

Result<void> check(int value) {
  NEURONCHECK_TRY_VOID(half(value));
  return {};
}

Result<std::unique_ptr<int>> owned() { return std::make_unique<int>(7); }

Result<int> moved() {
  NEURONCHECK_TRY(auto pointer, owned());
  return *pointer;
}

TEST(Error, PrintsContextOutermostFirst) {
  Error error{ErrorCode::Input, "unknown union member", {}};
  EXPECT_EQ(error.text(), "unknown union member");
  const Error wrapped = std::move(error).within("node 7").within("model.json").within("a.pt2");
  EXPECT_EQ(wrapped.text(), "a.pt2: model.json: node 7: unknown union member");
}

TEST(Error, RemembersWhereItWasMade) {
  const auto failure = fail(ErrorCode::Nothing, "none");
  EXPECT_EQ(failure.value().code, ErrorCode::Nothing);
  EXPECT_THAT(failure.value().where.file_name(), HasSubstr("result_test.cpp"));
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(12).value(), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(6).error().code, ErrorCode::Input);
  EXPECT_TRUE(check(2));
  EXPECT_FALSE(check(3));
  EXPECT_EQ(moved().value(), 7);
}

TEST(InvariantDeathTest, SaysWhatBrokeAndWhere) {
  NEURONCHECK_CHECK(1 + 1 == 2, "arithmetic");
  EXPECT_DEATH(NEURONCHECK_CHECK(1 + 1 == 3, "arithmetic is broken"),
               "internal fault at .*result_test.cpp.*arithmetic is broken .*1 \\+ 1 == 3");
}

}  // namespace
}  // namespace neuroncheck
