// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "runstore/run_file.h"
#include "runstore/tests/outcome_samples.h"

namespace neuroncheck::runstore {
namespace {

using testing::outcomeOf;
using testing::runOf;
using testing::sameBits;

class OutcomesInARunFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = (std::filesystem::temp_directory_path() /
                       (std::string("neuron-check-outcome-") +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".ncr"))
                          .string();
};

TEST_F(OutcomesInARunFile, ComeBackWithEveryBit) {
  std::vector<Outcome> outcomes;
  for (std::size_t state = 0; state < kCaseStateCount; ++state) {
    outcomes.push_back(outcomeOf(static_cast<int>(state), static_cast<CaseState>(state)));
  }
  outcomes.emplace_back();
  const RunRecord saved = runOf(outcomes);
  ASSERT_TRUE(save(saved, path_));
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(sameBits(loaded->outcomes, saved.outcomes));
  EXPECT_EQ(loaded->notRun, saved.notRun);
  EXPECT_EQ(loaded->seed, saved.seed);
  EXPECT_EQ(loaded->profile, saved.profile);
  EXPECT_EQ(loaded->shard, saved.shard);
  EXPECT_TRUE(loaded->simulated);
}

TEST_F(OutcomesInARunFile, OneBitOfANumberIsADifference) {
  Outcome outcome = outcomeOf(1);
  const Outcome before = outcome;
  double& number = outcome.attempts[0].outputs[0].worstTruth;
  number = std::nextafter(number, 1.0);
  EXPECT_FALSE(sameBits(before, outcome));
}

TEST_F(OutcomesInARunFile, AFileOfVersion1IsReadWithoutOutcomes) {
  const auto loaded = load(std::string(NEURONCHECK_SOURCE_DIR) + "/runstore/tests/version_1.ncr");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->inputs.at(0).inventory.path, "datasets/models/native_mlp.pt2");
  EXPECT_EQ(loaded->inputs.at(0).assessment.verdict, Verdict::ReadyUnconfirmed);
  EXPECT_EQ(loaded->device, "none");
  EXPECT_TRUE(loaded->outcomes.empty());
}

TEST_F(OutcomesInARunFile, DamageIsAnErrorNotACrash) {
  for (const char* damage :
       {"UPDATE outcome SET state = 'passed'", "UPDATE attempt SET state = ''",
        "UPDATE metric SET attempt = 9", "UPDATE metric SET max_abs = x'00'",
        "UPDATE \"case\" SET position = 9 WHERE position = 0", "DROP TABLE metric",
        "UPDATE outcome SET notes = 99999", "UPDATE meta SET value = 'x' WHERE key = 'seed'",
        "DELETE FROM meta WHERE key = 'not_run'", "UPDATE outcome SET case_position = -1"}) {
    ASSERT_TRUE(save(runOf({outcomeOf(1)}), path_));
    SQLite::Database(path_, SQLite::OPEN_READWRITE).exec(damage);
    const auto loaded = load(path_);
    ASSERT_FALSE(loaded) << damage;
    EXPECT_EQ(loaded.error().code, ErrorCode::Input) << damage;
  }
}

}  // namespace
}  // namespace neuroncheck::runstore
