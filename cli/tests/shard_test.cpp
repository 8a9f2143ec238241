// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.h"

#include <map>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace neuroncheck::cli {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<std::optional<Shard>> shardWith(const std::string& flag, const Variables& variables = {}) {
  return shardOf(flag, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string textOf(const std::string& flag, const Variables& variables = {}) {
  const auto shard = shardWith(flag, variables);
  return !shard ? shard.error().text() : *shard ? (*shard)->text() : "all";
}

RC_GTEST_PROP(ShardOfAPlan, EveryCaseIsInExactlyOne, (std::uint64_t identity)) {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 65537);
  std::uint32_t holders = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    holders += Shard{.index = i, .count = count, .from = ""}.holds(identity) ? 1 : 0;
  }
  RC_ASSERT(holders == 1U);
}

TEST(ShardOfAPlan, RangesAreEqualAndInOrder) {
  const auto holds = [](std::uint32_t index, std::uint64_t identity) {
    return Shard{.index = index, .count = 4, .from = ""}.holds(identity);
  };
  EXPECT_TRUE(holds(0, 0));
  EXPECT_TRUE(holds(0, 0x3FFFFFFFFFFFFFFF));
  EXPECT_TRUE(holds(1, 0x4000000000000000));
  EXPECT_TRUE(holds(3, 0xFFFFFFFFFFFFFFFF));
}

TEST(ShardOfAPlan, FlagAndVariables) {
  EXPECT_EQ(textOf(""), "all");
  EXPECT_EQ(textOf("1/1"), "all");
  EXPECT_EQ(textOf("2/8"), "2/8");
  EXPECT_EQ(textOf("", {{"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}), "4/4");
  EXPECT_EQ(textOf("", {{"SLURM_ARRAY_TASK_ID", "4"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"},
                        {"SLURM_ARRAY_TASK_MIN", "1"}}),
            "4/4");
  EXPECT_EQ(textOf("", {{"SLURM_ARRAY_TASK_ID", "15"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"},
                        {"SLURM_ARRAY_TASK_MIN", "5"},
                        {"SLURM_ARRAY_TASK_STEP", "5"}}),
            "3/4");
  EXPECT_EQ(textOf("", {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "2"}}),
            "1/2");
  EXPECT_EQ(textOf("", {{"JOB_COMPLETION_INDEX", "1"}, {"JOB_COMPLETIONS", "3"}}), "2/3");
  EXPECT_EQ(textOf("", {{"TEST_SHARD_INDEX", "0"}, {"TEST_TOTAL_SHARDS", "1"}}), "all");
}

TEST(ShardOfAPlan, AFlagWinsOverVariables) {
  const Variables variables{{"TEST_SHARD_INDEX", "0"}, {"TEST_TOTAL_SHARDS", "2"}};
  EXPECT_EQ(textOf("2/8", variables), "2/8");
  EXPECT_EQ(textOf("1/1", variables), "all");
  EXPECT_EQ(textOf("2/8", {{"JOB_COMPLETION_INDEX", "1"}}), "2/8");
}

TEST(ShardOfAPlan, WhatCannotBeIsAnError) {
  for (const char* flag : {"0/8", "9/8", "8", "/", "a/b", "1/0", "1/8x", "-1/8", "1/99999999"}) {
    EXPECT_THAT(textOf(flag), HasSubstr("--shard")) << flag;
  }
  EXPECT_THAT(textOf("", {{"JOB_COMPLETION_INDEX", "1"}}),
              HasSubstr("JOB_COMPLETION_INDEX is set and JOB_COMPLETIONS is not"));
  EXPECT_THAT(textOf("", {{"SLURM_ARRAY_TASK_COUNT", "4"}}),
              HasSubstr("SLURM_ARRAY_TASK_COUNT is set and SLURM_ARRAY_TASK_ID is not"));
  EXPECT_THAT(textOf("", {{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}),
              HasSubstr("no part of a whole"));
  EXPECT_THAT(textOf("", {{"TEST_SHARD_INDEX", "0"},
                          {"TEST_TOTAL_SHARDS", "2"},
                          {"SLURM_ARRAY_TASK_ID", "0"},
                          {"SLURM_ARRAY_TASK_COUNT", "2"}}),
              HasSubstr("Slurm and of Bazel are both set"));
}

}  // namespace
}  // namespace neuroncheck::cli
