// SPDX-License-Identifier: Apache-2.0
// What torch's own CPU kernels returned, kept in datasets/numerics/cpu_legs: the good ones pass,
// the bad ones are caught, and by the numbers of a second, independent reckoning of the bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "numerics/tests/mutation/subject.h"
#include "numerics/tests/support/vector_reference.h"
#include "tensor_io/tensor_file.h"

namespace neuroncheck::numerics {
namespace {

using namespace ::neuroncheck::numerics::testing;

const std::string kFolder = NEURONCHECK_SOURCE_DIR "/datasets/numerics/cpu_legs/";

struct Row {
  std::string name, op, inputs, dtype, k;
  std::string nativeRatio, emulatedRatio, nativeState, emulatedState;

  [[nodiscard]] std::string key(std::string_view part) const {
    return fmt::format("{}|{}|{}|{}|{}", name, inputs, dtype, k, part);
  }
  [[nodiscard]] std::string label() const {
    return fmt::format("{}, {}, {}, k = {}", name, inputs, dtype, k);
  }
};

double number(const std::string& text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_TRUE(error == std::errc{} && stop == text.data() + text.size()) << text;
  return value;
}

std::vector<Row> table() {
  std::ifstream file(kFolder + "cpu_legs.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t to = std::min(line.find('\t', from), line.size());
      cells.push_back(line.substr(from, to - from));
      from = to + 1;
    }
    if (cells.size() == 11 && cells[0] != "case") {
      rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[6], cells[7],
                      cells[9], cells[10]});
    }
  }
  return rows;
}

class CpuLegs : public ::testing::Test {
 protected:
  CpuLegs() : file_(*tensor_io::openTensorFile(kFolder + "cpu_legs.safetensors")) {}

  [[nodiscard]] std::vector<double> values(const std::string& key) const {
    const auto entry = file_->entry(key);
    EXPECT_TRUE(entry) << key;
    std::vector<double> out(static_cast<std::size_t>(entry->sizes[0]));
    decodeRun(entry->dtype, entry->bytes, out);
    return out;
  }
  /// A leg as if a device had returned it; with what the CPU returned at hand, or without.
  [[nodiscard]] Judgement judgedLeg(const Row& row, const std::string& leg, bool cpuKnown) const {
    const auto result = *file_->entry(row.key(leg));
    VectorReference reference(values(row.key("truth")));
    const auto offer = [&](const char* part, Quantity what) {
      if (file_->has(row.key(part))) {
        reference.set({what, {}}, values(row.key(part)));
      }
    };
    offer("magnitude", Quantity::Magnitude);
    offer("unstable", Quantity::UnstableMagnitude);
    offer("stored", Quantity::StoredMagnitude);
    if (cpuKnown) {
      reference.set({Quantity::CpuSameDType, {}}, values(row.key("native")));
    }
    JudgeRequest request;
    request.actual = *TensorView::contiguous(result.dtype, result.bytes, result.sizes);
    request.expected = {result.dtype, result.sizes, std::nullopt};
    request.rule = shippedRule(row.op);
    request.rule.constantAllowed = row.inputs == "ones";
    request.length = number(row.k);
    return judge(request, reference);
  }

  std::unique_ptr<tensor_io::TensorFile> file_;
};

/// The state the table expects; "beyond" is whatever is no pass.
void expectState(const Judgement& j, const std::string& expected) {
  if (expected == "beyond") {
    EXPECT_FALSE(isPass(j.state)) << name(j.state);
  } else {
    EXPECT_EQ(name(j.state), expected) << j.reason;
  }
}

void expectRatio(const Judgement& j, const std::string& text) {
  const double ratio = text == "inf" ? std::numeric_limits<double>::infinity() : number(text);
  if (std::isinf(ratio)) {
    EXPECT_TRUE(std::isinf(j.needed.boundFactor));
  } else {
    EXPECT_NEAR(j.needed.boundFactor, ratio, 1e-3 * ratio);
  }
}

TEST_F(CpuLegs, TheNativeLegIsJudgedAsItDeserves) {
  std::map<CaseState, int> count;
  for (const Row& row : table()) {
    SCOPED_TRACE(row.label());
    const Judgement j = judgedLeg(row, "native", false);
    expectState(j, row.nativeState);
    expectRatio(j, row.nativeRatio);
    ++count[j.state];
  }
  EXPECT_GE(count[CaseState::Pass], 250);
  EXPECT_GE(count[CaseState::PassWeak], 10);
  EXPECT_GE(count[CaseState::Mismatch], 15);
  EXPECT_EQ(count[CaseState::NanInf], 2);  // sums of squares beyond fp16
}

/// log_softmax and logsumexp of narrow dtypes are rounded twice: where that shows as the other
/// neighbour and never as a step more, rounding by chance would do the same.
TEST_F(CpuLegs, ABadNativeLegIsAsUpstreamOnceTheCpuIsKnown) {
  std::set<std::string> upstream;
  for (const Row& row : table()) {
    if (row.nativeState != "beyond") {
      continue;
    }
    SCOPED_TRACE(row.label());
    const Judgement j = judgedLeg(row, "native", true);
    if (j.state == CaseState::Degraded) {
      EXPECT_EQ(j.hypothesis, HypothesisId::StochasticRounding);
      EXPECT_LT(j.needed.boundFactor, 2);
      EXPECT_NE(row.name, "batch_norm");
      continue;
    }
    EXPECT_EQ(j.state, CaseState::AsUpstream) << j.reason;
    EXPECT_EQ(j.cause, "cpu kernel");
    EXPECT_FALSE(isPass(j.state));
    upstream.insert(row.name + ", " + row.dtype);
  }
  EXPECT_THAT(upstream,
              ::testing::IsSupersetOf({"batch_norm, bf16", "batch_norm, fp16", "log_softmax, bf16",
                                       "log_softmax, fp16", "logsumexp, bf16", "sqrt, fp32"}));
}

TEST_F(CpuLegs, ARightDeviceBesideABadCpuPasses) {
  for (const Row& row : table()) {
    if (row.nativeState == "beyond" && row.dtype != "fp32") {
      EXPECT_EQ(name(judgedLeg(row, "emulated", true).state), row.emulatedState) << row.label();
    }
  }
}

/// The moments of these were taken in bf16 by earlier releases.
TEST_F(CpuLegs, LayerNormGroupNormAndNormsAreRightNow) {
  int seen = 0;
  for (const Row& row : table()) {
    if (row.name == "layer_norm" || row.name == "group_norm" || row.name == "norm2") {
      EXPECT_EQ(row.nativeState, "pass") << row.label();
      ++seen;
    }
  }
  EXPECT_EQ(seen, 3 * (2 * (3 + 3 + 3) + 1));
}

TEST_F(CpuLegs, TheEmulatedLegPasses) {
  std::size_t legs = 0;
  for (const Row& row : table()) {
    if (row.dtype == "fp32") {
      continue;
    }
    SCOPED_TRACE(row.label());
    const Judgement j = judgedLeg(row, "emulated", false);
    expectState(j, row.emulatedState);
    expectRatio(j, row.emulatedRatio);
    const bool cancels = row.name == "mean(x^2) - mean(x)^2" && row.inputs == "mean 1000";
    EXPECT_EQ(j.state, cancels ? CaseState::PassWeak : CaseState::Pass) << j.reason;
    ++legs;
  }
  EXPECT_GE(legs, 150U);
}

}  // namespace
}  // namespace neuroncheck::numerics
