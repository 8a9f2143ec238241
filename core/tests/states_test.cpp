// SPDX-License-Identifier: Apache-2.0
#include "core/states.h"

#include <array>
#include <set>

#include <gtest/gtest.h>

#include "core/assessment.h"

namespace neuroncheck {
namespace {

template <typename E, typename Parse>
void expectWordsReadBack(std::size_t count, Parse parse) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < count; ++i) {
    const E value = static_cast<E>(i);
    EXPECT_TRUE(words.insert(name(value)).second) << name(value);
    EXPECT_EQ(parse(name(value)), value);
  }
  EXPECT_EQ(parse(""), std::nullopt);
  EXPECT_EQ(parse("Ready"), std::nullopt);
}

TEST(States, WordsReadBack) {
  expectWordsReadBack<Claim>(8, parseClaim);
  expectWordsReadBack<Confidence>(4, parseConfidence);
  expectWordsReadBack<Verdict>(5, parseVerdict);
  expectWordsReadBack<Severity>(3, parseSeverity);
  expectWordsReadBack<CaseState>(kCaseStateCount, parseCaseState);
  EXPECT_EQ(name(Claim::CpuFallbackView), "cpu-fallback-view");
  EXPECT_EQ(name(Claim::NoDeviceWork), "no-device-work");
  EXPECT_EQ(name(Verdict::ReadyUnconfirmed), "ready-unconfirmed");
  EXPECT_EQ(name(CaseState::PassWeak), "pass-weak");
  EXPECT_EQ(name(CaseState::Missing), "missing");
  EXPECT_EQ(name(Answer::NotChecked), "not-checked");
  EXPECT_EQ(name(ExecutionMode::Compile), "compile");
  EXPECT_EQ(parseExecutionMode("compile"), ExecutionMode::Compile);
  EXPECT_EQ(parseExecutionMode("fast"), std::nullopt);
}

TEST(States, VerdictOfEveryClaim) {
  struct Row {
    Claim claim;
    Verdict confirmed;
    Verdict unconfirmed;
  };
  const std::array<Row, 8> rows{{
      {Claim::NoDeviceWork, Verdict::Ready, Verdict::ReadyUnconfirmed},
      {Claim::Native, Verdict::Ready, Verdict::ReadyUnconfirmed},
      {Claim::Decomposed, Verdict::Ready, Verdict::ReadyUnconfirmed},
      {Claim::CpuFallback, Verdict::RunsWithFallback, Verdict::RunsWithFallback},
      {Claim::CpuFallbackView, Verdict::Blocked, Verdict::Blocked},
      {Claim::Unsupported, Verdict::Blocked, Verdict::Blocked},
      {Claim::Depends, Verdict::Unknown, Verdict::Unknown},
      {Claim::Unknown, Verdict::Unknown, Verdict::Unknown},
  }};
  for (const Row& row : rows) {
    EXPECT_EQ(verdictOf(row.claim, true), row.confirmed) << name(row.claim);
    EXPECT_EQ(verdictOf(row.claim, false), row.unconfirmed) << name(row.claim);
    // Weaker evidence never gives a better word.
    EXPECT_GE(verdictOf(row.claim, false), verdictOf(row.claim, true)) << name(row.claim);
  }
  EXPECT_EQ(verdictOf(Severity::Note), Verdict::Ready);
  EXPECT_EQ(verdictOf(Severity::Warning), Verdict::Ready);
  EXPECT_EQ(verdictOf(Severity::Error), Verdict::Blocked);
}

TEST(States, WorstAndWeakestAreOrders) {
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const auto a = static_cast<Verdict>(i);
      const auto b = static_cast<Verdict>(j);
      EXPECT_EQ(worst(a, b), static_cast<Verdict>(std::max(i, j)));
      EXPECT_EQ(worst(a, b), worst(b, a));
    }
  }
  EXPECT_EQ(worst(Verdict::Blocked, Verdict::Unknown), Verdict::Blocked);
  EXPECT_EQ(worst(Verdict::Unknown, Verdict::RunsWithFallback), Verdict::Unknown);
  EXPECT_EQ(weakest(Confidence::High, Confidence::Low), Confidence::Low);
  EXPECT_EQ(weakest(Confidence::None, Confidence::Low), Confidence::None);
}

bool agreesOn(Answer answer) { return answer == Answer::Yes || answer == Answer::Weak; }

TEST(CaseStates, OnlyPassesAnswerYesThroughout) {
  for (std::size_t i = 0; i < kCaseStateCount; ++i) {
    const auto state = static_cast<CaseState>(i);
    const RunAnswers answers = answersOf(state);
    const bool all = agreesOn(answers.compiles) && agreesOn(answers.runsOnDevice) &&
                     agreesOn(answers.numbersAgree);
    EXPECT_EQ(all, isPass(state)) << name(state);
    EXPECT_EQ(isPass(state), state == CaseState::Pass || state == CaseState::PassWeak)
        << name(state);
    // What was not compiled did not run, and numbers of the device need a run on the device.
    EXPECT_FALSE(answers.compiles == Answer::No && answers.runsOnDevice == Answer::Yes);
    EXPECT_FALSE(answers.runsOnDevice != Answer::Yes && agreesOn(answers.numbersAgree))
        << name(state);
    // Only the numbers may agree weakly.
    EXPECT_NE(answers.compiles, Answer::Weak);
    EXPECT_NE(answers.runsOnDevice, Answer::Weak);
  }
}

TEST(CaseStates, WhatWasNotDoneIsNotChecked) {
  for (const CaseState state :
       {CaseState::Skip, CaseState::NotRun, CaseState::Missing, CaseState::ReferenceError}) {
    EXPECT_EQ(answersOf(state), RunAnswers{}) << name(state);
  }
  for (const CaseState state : {CaseState::Mistrusted, CaseState::NotComparable,
                                CaseState::PassFallback, CaseState::UnexpectedPass}) {
    EXPECT_EQ(answersOf(state).numbersAgree, Answer::NotChecked) << name(state);
  }
  for (const CaseState state :
       {CaseState::PassFallback, CaseState::Unsupported, CaseState::RunError, CaseState::Crash,
        CaseState::Timeout, CaseState::Oom}) {
    EXPECT_EQ(answersOf(state).runsOnDevice, Answer::No) << name(state);
  }
  for (const CaseState state :
       {CaseState::Degraded, CaseState::AsUpstream, CaseState::Mismatch, CaseState::NanInf,
        CaseState::ShapeDtypeMismatch, CaseState::AliasLost}) {
    EXPECT_EQ(answersOf(state), (RunAnswers{Answer::Yes, Answer::Yes, Answer::No})) << name(state);
  }
  EXPECT_EQ(answersOf(CaseState::PassWeak).numbersAgree, Answer::Weak);
  EXPECT_EQ(answersOf(CaseState::CompileError).compiles, Answer::No);
}

}  // namespace
}  // namespace neuroncheck
