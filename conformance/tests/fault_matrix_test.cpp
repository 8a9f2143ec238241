// SPDX-License-Identifier: Apache-2.0
// Every fault of the simulated device against several operators: the case that has it ends in the
// state the design gives, and the cases around it are unharmed. Through the programs, as users run
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/runner/runner.h"
#include "opdb/database.h"
#include "worker/torch_worker.h"

namespace neuroncheck::conformance {
namespace {

/// An operator with a case that shows a fault of it.
struct Subject {
  std::string op;  ///< packet, as the profile names it
  std::string text;
};

const std::vector<Subject> kPlain{
    {"aten::mm", "aten::mm(f32[16,64], f32[64,16])"},
    {"aten::add", "aten::add.Tensor(f32[17,8], f32[17,8])"},
    {"aten::_softmax", "aten::_softmax(f32[8,33], -1, False)"},
    {"aten::sum", "aten::sum.dim_IntList(f32[16,100], [1])"},
    {"aten::exp", "aten::exp(f32[50])"},
    {"aten::index_select", "aten::index_select(f32[9,7], 0, i64[5])"},
    {"aten::cat", "aten::cat([f32[3,4], f32[5,4]], 0)"},
};
const std::vector<Subject> kGradients{
    {"aten::mm", "aten::mm(f32[16,64]^, f32[64,16]^) !grad"},
    {"aten::mul", "aten::mul.Tensor(f32[17,8]^, f32[17,8]^) !grad"},
    {"aten::_softmax_backward_data", "aten::_softmax(f32[8,33]^, -1, False) !grad"},
    {"aten::tanh_backward", "aten::tanh(f32[40]^) !grad"},
    {"aten::sigmoid_backward", "aten::sigmoid(f32[40]^) !grad"},
    {"aten::gelu_backward", "aten::gelu(f32[40]^) !grad"},
    {"aten::threshold_backward", "aten::relu(f32[40]^) !grad"},
};
const std::vector<Subject> kInPlace{
    {"aten::relu_", "aten::relu_(f32[40])"},
    {"aten::add", "aten::add_.Tensor(f32[17,8], f32[17,8])"},
    {"aten::mul", "aten::mul_.Tensor(f32[17,8], f32[17,8])"},
    {"aten::exp", "aten::exp_(f32[40])"},
    {"aten::tanh", "aten::tanh_(f32[40])"},
    {"aten::fill_", "aten::fill_.Scalar(f32[40], 3.0)"},
};
const std::vector<Subject> kSameSize{
    {"aten::exp", "aten::exp(f32[50])"},
    {"aten::add", "aten::add.Tensor(f32[17,8], f32[17,8])"},
    {"aten::_softmax", "aten::_softmax(f32[8,33], -1, False)"},
    {"aten::mul", "aten::mul.Tensor(f32[17,8], f32[17,8])"},
    {"aten::tanh", "aten::tanh(f32[50])"},
    {"aten::sigmoid", "aten::sigmoid(f32[50])"},
};
const std::vector<Subject> kViews{
    {"aten::view", "aten::view(f32[4,6], [6,4])"},
    {"aten::as_strided", "aten::as_strided(f32[24], [4,3], [6,2])"},
    {"aten::unfold", "aten::unfold(f32[24], 0, 6, 3)"},
    {"aten::view_as_real", "aten::view_as_real(c64[6])"},
    {"aten::view_as_complex", "aten::view_as_complex(f32[6,2])"},
    {"aten::as_strided", "aten::transpose.int(f32[4,6], 0, 1)"},
};
const std::vector<Subject> kStrided{
    {"aten::exp", "aten::exp(f32[8,6]@(1,8))"},
    {"aten::mm", "aten::mm(f32[16,64]@(1,16), f32[64,16])"},
    {"aten::add", "aten::add.Tensor(f32[17,8]@(1,17), f32[17,8])"},
    {"aten::sum", "aten::sum.dim_IntList(f32[16,100]@(1,16), [1])"},
    {"aten::index_select", "aten::index_select(f32[9,7]@(1,9), 0, i64[5])"},
    {"aten::_softmax", "aten::_softmax(f32[8,33]@(1,8), -1, False)"},
};
const std::vector<Subject> kIntegers{
    {"aten::mul", "aten::mul.Tensor(i64[4]={3000000001,5000000003,7,9}, i64[4]={3,5,7,11})"},
    {"aten::add", "aten::add.Tensor(i64[4]={3000000001,5000000003,7,9}, i64[4]={3,5,7,11})"},
    {"aten::sub", "aten::sub.Tensor(i64[4]={3000000001,5000000003,7,9}, i64[4]={3,5,7,11})"},
    {"aten::sum", "aten::sum.dim_IntList(i64[2,3]={3000000001,5,7,9000000001,3,4}, [1])"},
    {"aten::cumsum", "aten::cumsum(i64[4]={3000000001,5000000003,7,9}, 0)"},
    {"aten::bitwise_xor",
     "aten::bitwise_xor.Tensor(i64[4]={3000000001,5000000003,7,9}, "
     "i64[4]={3,5,7,11})"},
};
const std::vector<Subject> kSums{
    {"aten::mm", "aten::mm(f32[16,512], f32[512,16])"},
    {"aten::bmm", "aten::bmm(f32[2,16,512], f32[2,512,16])"},
    {"aten::addmm", "aten::addmm(f32[16], f32[16,512], f32[512,16])"},
    {"aten::sum", "aten::sum.dim_IntList(f32[16,1000], [1])"},
    {"aten::mean", "aten::mean.dim(f32[16,1000], [1])"},
    {"aten::addmv", "aten::mv(f32[16,512], f32[512])"},
};

using States = std::set<CaseState>;

/// One row of the matrix: the fault as the profile has it, without its operator.
struct Row {
  std::string fault;
  const std::vector<Subject>* subjects;
  States expected;
};

const States kWrong{CaseState::Mismatch, CaseState::NanInf};

std::vector<Row> rows() {
  const auto kind = [](std::string_view word, std::string_view more = "") {
    return fmt::format(R"("kind": "{}"{})", word, more);
  };
  return {
      {kind("error"), &kPlain, {CaseState::RunError}},
      {kind("error", R"(, "message": "[NCC_EVRF009] cannot be compiled")"),
       &kPlain,
       {CaseState::CompileError}},
      {kind("error", R"(, "error": "not-implemented")"), &kPlain, {CaseState::Unsupported}},
      {kind("error", R"(, "error": "out-of-memory")"), &kPlain, {CaseState::Oom}},
      {kind("late-error"), &kPlain, {CaseState::RunError}},
      {kind("poison"), &kPlain, {CaseState::RunError}},
      {kind("poison", R"(, "then": "garbage")"), &kPlain, {CaseState::RunError}},
      {kind("segv"), &kPlain, {CaseState::Crash}},
      {kind("abort"), &kPlain, {CaseState::Crash}},
      {kind("exit"), &kPlain, {CaseState::Crash}},
      {kind("stack-overflow"), &kPlain, {CaseState::Crash}},
      {kind("sigkill"), &kPlain, {CaseState::Oom}},
      {kind("oom", R"(, "mebibytes": 64)"), &kPlain, {CaseState::Oom}},
      {kind("leak", R"(, "mebibytes": 64)"), &kPlain, {CaseState::Pass}},
      {kind("slow"), &kPlain, {CaseState::Pass}},
      {kind("wrong-value"), &kPlain, kWrong},
      {kind("wrong-one-element"), &kPlain, kWrong},
      {kind("nan"), &kPlain, {CaseState::NanInf}},
      {kind("inf"), &kPlain, {CaseState::NanInf}},
      {kind("zeros"), &kPlain, kWrong},
      {kind("uninitialised"), &kPlain, kWrong},
      {kind("shape0"), &kPlain, {CaseState::ShapeDtypeMismatch}},
      {kind("empty-output"), &kPlain, {CaseState::ShapeDtypeMismatch}},
      {kind("wrong-shape"), &kPlain, {CaseState::ShapeDtypeMismatch}},
      {kind("wrong-dtype"), &kPlain, {CaseState::ShapeDtypeMismatch}},
      {kind("wrong-strides"), &kPlain, {CaseState::Pass}},
      {kind("alias-output"), &kSameSize, {CaseState::AliasLost}},
      {kind("alias-lost"), &kViews, {CaseState::AliasLost}},
      {kind("mutates-input"), &kPlain, kWrong},
      {kind("noop-inplace"), &kInPlace, kWrong},
      {kind("ignore-strides", R"(, "operands": "read")"), &kStrided, kWrong},
      {kind("int64-as-int32"), &kIntegers, {CaseState::Degraded}},
      {kind("bf16-inputs"), &kSums, {CaseState::Degraded}},
      {kind("fp16-inputs"), &kSums, {CaseState::Degraded}},
      {kind("tf32-inputs"), &kSums, {CaseState::Degraded}},
      {kind("bf16-output"), &kSums, {CaseState::Degraded}},
      {kind("wrong-gradient"), &kGradients, kWrong},
      {kind("wrong-value", R"(, "phase": "backward")"), &kGradients, kWrong},
      {kind("nan", R"(, "phase": "backward")"), &kGradients, {CaseState::NanInf}},
      {kind("error", R"(, "phase": "backward")"), &kGradients, {CaseState::RunError}},
      {kind("segv", R"(, "phase": "backward")"), &kGradients, {CaseState::Crash}},
  };
}

const opdb::Database& database() {
  static const auto opened = opdb::Database::open(NEURONCHECK_OPERATORS_DB);
  return *opened;
}

RunSettings settingsFor(std::string profile) {
  RunSettings settings;
  settings.device.words = "sim";
  settings.device.profile = std::move(profile);
  settings.device.caseTime = std::chrono::seconds(20);
  settings.makeWorker = [](bool device) -> Result<Ask> {
    // Starting libtorch takes longer than a cell.
    static std::map<bool, std::shared_ptr<worker::TorchWorker>> started;
    std::shared_ptr<worker::TorchWorker>& shared = started[device];
    if (shared == nullptr) {
      NEURONCHECK_TRY(worker::TorchWorker worker,
                      worker::TorchWorker::start(NEURONCHECK_TORCH_PROGRAM));
      shared = std::make_shared<worker::TorchWorker>(std::move(worker));
    }
    return Ask([shared](const Json& request, std::chrono::milliseconds timeout) {
      return shared->ask(request, timeout);
    });
  };
  settings.findSchema = [](const OpName& op) -> const FunctionSchema* {
    const OpInfo* info = database().find(op);
    return info == nullptr ? nullptr : &info->schema;
  };
  return settings;
}

std::string profileWith(const std::string& fault) {
  std::set<std::string> native{"aten::abs", "aten::neg", "aten::sqrt", "aten::maximum"};
  for (const auto* subjects :
       {&kPlain, &kGradients, &kInPlace, &kSameSize, &kStrided, &kIntegers, &kSums}) {
    for (const Subject& subject : *subjects) {
      native.insert(subject.op);
    }
  }
  return fmt::format(R"({{"native": ["{}"], "arithmetic": "wide", "faults": [{}]}})",
                     fmt::join(native, "\", \""), fault);
}

/// The case among others that have nothing to do with it.
Plan planAround(const std::string& text) {
  auto plan =
      planOfText(fmt::format("aten::abs(f32[11])\naten::neg(f32[4,3])\n{}\n"
                             "aten::sqrt(f32[13])\naten::maximum(f32[5], f32[5])\n",
                             text));
  EXPECT_TRUE(plan) << text;
  return *std::move(plan);
}

constexpr std::size_t kCulprit = 2;

/// What one cell of the matrix came to, empty when it is as it should be.
std::string problemOf(const Row& row, const Subject& subject, std::string& shown) {
  const Plan plan = planAround(subject.text);
  const auto outcomes = runPlan(
      plan, settingsFor(profileWith(fmt::format(R"({{{}, "op": "{}"}})", row.fault, subject.op))));
  if (!outcomes) {
    return outcomes.error().text();
  }
  const Outcome& culprit = (*outcomes)[kCulprit];
  shown = name(culprit.state);
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    if (i != kCulprit && (*outcomes)[i].state != CaseState::Pass) {
      return fmt::format("{} is {}: {}", (*outcomes)[i].text, name((*outcomes)[i].state),
                         (*outcomes)[i].message);
    }
  }
  if (!row.expected.contains(culprit.state)) {
    return fmt::format("{} ({}): {}", name(culprit.state), culprit.cause, culprit.message);
  }
  return {};
}

TEST(FaultMatrix, EveryFaultEndsInItsState) {
  std::size_t cells = 0;
  for (const Row& row : rows()) {
    std::vector<std::string> shown;
    for (const Subject& subject : *row.subjects) {
      std::string state;
      const std::string problem = problemOf(row, subject, state);
      EXPECT_EQ(problem, "") << row.fault << " on " << subject.text;
      shown.push_back(fmt::format("{} {}", subject.op.substr(6), state));
      ++cells;
    }
    fmt::print("{}: {}\n", row.fault, fmt::join(shown, ", "));
    std::fflush(stdout);
  }
  fmt::print("{} cells\n", cells);
}

/// Two cases: one for the fault, one that must not notice.
std::vector<Outcome> runTwo(const std::string& text, const std::string& profile,
                            std::chrono::seconds caseTime = std::chrono::seconds(20)) {
  const auto plan = planOfText(text + "\naten::sqrt(f32[13])\n");
  EXPECT_TRUE(plan);
  RunSettings settings = settingsFor(profile);
  settings.device.caseTime = caseTime;
  auto outcomes = runPlan(*plan, settings);
  EXPECT_TRUE(outcomes) << outcomes.error().text();
  EXPECT_EQ((*outcomes)[1].state, CaseState::Pass) << (*outcomes)[1].message;
  return *std::move(outcomes);
}

TEST(FaultMatrix, WhatNeverEndsIsATimeoutWhateverItPrints) {
  for (const char* kind : {"hang", "hang-with-output"}) {
    for (const Subject& subject : kSameSize) {
      const auto outcomes =
          runTwo(subject.text,
                 profileWith(fmt::format(R"({{"kind": "{}", "op": "{}"}})", kind, subject.op)),
                 std::chrono::seconds(1));
      EXPECT_EQ(outcomes[0].state, CaseState::Timeout) << kind << " " << subject.text;
    }
  }
}

TEST(FaultMatrix, ChanceAndOrderAreToldApart) {
  const std::string counter = ::testing::TempDir() + "/fault_counter";
  for (const Subject& subject : kSameSize) {
    std::filesystem::remove(counter);
    const std::string op = subject.op;
    std::string profile = profileWith(fmt::format(
        R"({{"kind": "flaky", "op": "{}", "probability": 0.5, "per": "process"}})", op));
    profile.insert(profile.rfind('}'),
                   fmt::format(R"(, "seed": 1, "counter_file": "{}")", counter));
    EXPECT_EQ(runTwo(subject.text, profile)[0].state, CaseState::Flake) << op;
    const auto plan = planOfText(fmt::format("aten::abs(f32[11])\n{}\n", subject.text));
    const auto outcomes = runPlan(
        *plan, settingsFor(profileWith(fmt::format(
                   R"({{"kind": "order-dependent", "op": "{}", "after": "aten::abs"}})", op))));
    ASSERT_TRUE(outcomes);
    EXPECT_EQ((*outcomes)[1].state, CaseState::OrderDependent) << op << (*outcomes)[1].message;
  }
}

/// Each layer alone: what the others would say is taken away.
TEST(FallbackTruth, EachLayerAloneFindsTheCpu) {
  const std::string sum = "aten::sum.dim_IntList(f32[16,4096], [1])";
  const auto profile = [](std::string_view native, std::string_view more) {
    return fmt::format(R"({{"native": ["aten::sqrt"{}], "arithmetic": "wide"{}}})", native, more);
  };
  const auto stateOf = [&](const std::string& given) { return runTwo(sum, given)[0]; };
  const Outcome table = stateOf(profile("", R"(, "lists": "none")"));
  EXPECT_EQ(table.state, CaseState::PassFallback);
  EXPECT_THAT(table.fallbacks, ::testing::Contains(::testing::HasSubstr("dispatch table")));
  EXPECT_THAT(table.fallbacks, ::testing::Not(::testing::Contains(::testing::HasSubstr("list"))));
  const Outcome list = stateOf(profile(R"(, "aten::sum")", R"(, "on_failure": "cpu", "refuse":
      [{"op": "aten::sum", "message": "no"}], "arithmetic": "wide")"));
  EXPECT_EQ(list.state, CaseState::PassFallback);
  EXPECT_THAT(list.fallbacks, ::testing::Contains(::testing::HasSubstr("the backend's list")));
  EXPECT_THAT(list.fallbacks,
              ::testing::Not(::testing::Contains(::testing::HasSubstr("dispatch"))));
  const Outcome bits = stateOf(
      profile(R"(, "aten::sum")", R"(, "faults": [{"kind": "silent-cpu", "op": "aten::sum"}])"));
  EXPECT_EQ(bits.state, CaseState::PassFallback) << bits.message;
  EXPECT_THAT(bits.fallbacks, ::testing::Each(::testing::HasSubstr("bit for bit")));
  EXPECT_EQ(stateOf(profile("", R"(, "fallback": "raise")")).state, CaseState::Unsupported);
  EXPECT_EQ(stateOf(profile(R"(, "aten::sum")", "")).state, CaseState::Pass);
}

}  // namespace
}  // namespace neuroncheck::conformance
