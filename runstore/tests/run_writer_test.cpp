// SPDX-License-Identifier: Apache-2.0
#include "runstore/run_writer.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "runstore/run_file.h"
#include "runstore/tests/outcome_samples.h"

namespace neuroncheck::runstore {
namespace {

using ::testing::HasSubstr;
using testing::outcomeOf;
using testing::plannedOf;
using testing::runOf;
using testing::sameBits;

class RunWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::ptrdiff_t filesThere() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }
  /// A child that begins the run, tells `done` outcomes and dies by kill -9 without any farewell.
  void dieAfter(std::size_t done) {
    const pid_t child = fork();
    if (child == 0) {
      auto writer = RunWriter::begin(plannedOf(whole_), path_);
      if (writer) {
        writer->started({0, 1, 2});
        for (std::size_t i = 0; i < done; ++i) {
          writer->finished(i, whole_.outcomes[i]);
        }
      }
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                  (std::string("neuron-check-writer-") +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::string path_ = (folder_ / "run.ncr").string();
  RunRecord whole_ = runOf({outcomeOf(1), outcomeOf(2, CaseState::Pass), outcomeOf(3),
                            outcomeOf(4, CaseState::PassWeak)});
};

TEST_F(RunWriterTest, AFinishedRunIsOnePlainFileEqualToASavedOne) {
  auto writer = RunWriter::begin(plannedOf(whole_), path_);
  ASSERT_TRUE(writer) << writer.error().text();
  writer->started({0, 1, 2, 3});
  for (std::size_t i = 0; i < whole_.outcomes.size(); ++i) {
    writer->finished(i, whole_.outcomes[i]);
  }
  ASSERT_TRUE(writer->finish(whole_));
  EXPECT_EQ(filesThere(), 1);
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(sameBits(loaded->outcomes, whole_.outcomes));
  EXPECT_EQ(loaded->finished, whole_.finished);
}

TEST_F(RunWriterTest, ReadersSeeARunThatIsBeingWritten) {
  auto writer = RunWriter::begin(plannedOf(whole_), path_);
  ASSERT_TRUE(writer);
  writer->started({0, 1});
  writer->finished(0, whole_.outcomes[0]);
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(sameBits(loaded->outcomes[0], whole_.outcomes[0]));
  EXPECT_EQ(loaded->outcomes[1].state, CaseState::Crash);
  EXPECT_EQ(loaded->outcomes[1].stage, kBegunStage);
  EXPECT_EQ(loaded->outcomes[2].state, CaseState::NotRun);
  EXPECT_TRUE(loaded->finished.empty());
}

TEST_F(RunWriterTest, AKilledProcessLosesNothingItWasTold) {
  for (std::size_t done = 0; done <= 3; ++done) {
    std::filesystem::remove(path_);
    dieAfter(done);
    const auto loaded = load(path_);
    ASSERT_TRUE(loaded) << loaded.error().text();
    for (std::size_t i = 0; i < done; ++i) {
      EXPECT_TRUE(sameBits(loaded->outcomes[i], whole_.outcomes[i]));
    }
    EXPECT_EQ(isUnfinished(loaded->outcomes[2]), done < 3);
    EXPECT_TRUE(isUnfinished(loaded->outcomes[3]));
  }
}

TEST_F(RunWriterTest, ResumeKeepsWhatEndedAndCompletesTheFile) {
  dieAfter(1);
  auto writer = RunWriter::resume(plannedOf(whole_), path_);
  ASSERT_TRUE(writer) << writer.error().text();
  EXPECT_TRUE(sameBits(writer->stored().outcomes[0], whole_.outcomes[0]));
  for (std::size_t i = 1; i < whole_.outcomes.size(); ++i) {
    EXPECT_TRUE(isUnfinished(writer->stored().outcomes[i])) << i;
    writer->finished(i, whole_.outcomes[i]);
  }
  ASSERT_TRUE(writer->finish(whole_));
  EXPECT_EQ(filesThere(), 1);
  EXPECT_TRUE(sameBits(load(path_)->outcomes, whole_.outcomes));
}

TEST_F(RunWriterTest, ResumeOfAnotherRunNamesTheDifference) {
  dieAfter(1);
  const auto refused = [&](RunRecord other) {
    const auto writer = RunWriter::resume(plannedOf(std::move(other)), path_);
    return writer ? std::string("taken") : writer.error().text();
  };
  RunRecord other = whole_;
  other.seed = 1;
  EXPECT_THAT(refused(other), HasSubstr("its seed is 18364758544493064720 in the file, 1 now"));
  other = whole_;
  other.device = "cpu";
  EXPECT_THAT(refused(other), HasSubstr("its device is sim in the file, cpu now"));
  other = whole_;
  other.target.chip = "trn3";
  EXPECT_THAT(refused(other), HasSubstr("its target is"));
  other = whole_;
  other.shard.clear();
  EXPECT_THAT(refused(other), HasSubstr("its shard is 2/8 in the file, none now"));
  other = whole_;
  other.profile = "x";
  EXPECT_THAT(refused(other), HasSubstr("its profile is"));
  other = whole_;
  other.outcomes[1] = outcomeOf(9);
  EXPECT_THAT(refused(other), HasSubstr("case 2 is 'aten::relu(f32[2])' in the file"));
  other = whole_;
  other.outcomes.pop_back();
  EXPECT_THAT(refused(other), HasSubstr("it has 4 cases in the file, 3 now"));
  other = whole_;
  other.inputs.emplace_back().inventory.sha256 = "abc";
  EXPECT_THAT(refused(other), HasSubstr("its models are others"));
  EXPECT_EQ(refused(whole_), "taken");
}

TEST_F(RunWriterTest, ASecondRunOnTheSameFileIsRefused) {
  auto first = RunWriter::begin(plannedOf(whole_), path_);
  ASSERT_TRUE(first);
  first->finished(0, whole_.outcomes[0]);
  for (const auto& other :
       {RunWriter::resume(plannedOf(whole_), path_).map([](const auto&) {}), save(whole_, path_)}) {
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::Output);
    EXPECT_THAT(other.error().text(), HasSubstr("another run is writing"));
  }
  first->finished(1, whole_.outcomes[1]);
  EXPECT_TRUE(first->finish(whole_));
  EXPECT_TRUE(sameBits(load(path_)->outcomes[1], whole_.outcomes[1]));
}

TEST_F(RunWriterTest, WhatWouldBeLostIsNotReplaced) {
  dieAfter(1);
  EXPECT_THAT(RunWriter::begin(plannedOf(whole_), path_).error().text(),
              HasSubstr("unfinished run is there: go on with it by --resume"));
  EXPECT_TRUE(sameBits(load(path_)->outcomes[0], whole_.outcomes[0]));
  ASSERT_TRUE(save(whole_, (folder_ / "whole.ncr").string()));
  EXPECT_TRUE(RunWriter::begin(plannedOf(whole_), (folder_ / "whole.ncr").string()));
  const std::string notes = (folder_ / "notes.txt").string();
  std::ofstream(notes) << "mine";
  EXPECT_THAT(RunWriter::begin(plannedOf(whole_), notes).error().text(),
              HasSubstr("is not replaced"));
  EXPECT_EQ(std::filesystem::file_size(notes), 4U);
}

TEST_F(RunWriterTest, TheLogOfADeadRunNeverEntersANewFile) {
  dieAfter(3);
  ASSERT_TRUE(std::filesystem::exists(path_ + "-wal"));
  std::filesystem::remove(path_);
  RunRecord other = whole_;
  other.outcomes = {outcomeOf(8)};
  ASSERT_TRUE(save(other, path_));
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(sameBits(loaded->outcomes, other.outcomes));
}

TEST_F(RunWriterTest, WithoutRoomTheErrorSaysSoAndWhatWasWrittenStays) {
  auto writer = RunWriter::begin(plannedOf(whole_), path_);
  ASSERT_TRUE(writer);
  writer->finished(0, whole_.outcomes[0]);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(path_ + "-wal");
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  writer->finished(1, whole_.outcomes[1]);
  writer->finished(2, whole_.outcomes[2]);
  const auto ended = writer->finish(whole_);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::Output);
  EXPECT_THAT(ended.error().text(), HasSubstr("go on with --resume"));
  const auto loaded = load(path_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_TRUE(sameBits(loaded->outcomes[0], whole_.outcomes[0]));
  EXPECT_TRUE(isUnfinished(loaded->outcomes[1]));
}

TEST_F(RunWriterTest, AFolderThatIsNotThereIsAnOutputError) {
  const auto writer = RunWriter::begin(plannedOf(whole_), "no-such-folder/run.ncr");
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::Output);
  EXPECT_EQ(RunWriter::resume(plannedOf(whole_), "no-such.ncr").error().code, ErrorCode::Input);
}

}  // namespace
}  // namespace neuroncheck::runstore
