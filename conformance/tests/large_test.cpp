// SPDX-License-Identifier: Apache-2.0
// Comparisons of tensors that memory need not hold: files with holes, and a peak that stays small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/compare/compare.h"
#include "tensor_io/tests/files.h"

namespace neuroncheck::conformance {
namespace {

using tensor_io::testing::safetensors;

constexpr long kMostKilobytes = 64 * 1024;
constexpr std::int64_t kNumber = 4;  ///< bytes of an fp32 number

/// Most memory that this process has had, pages of mapped files among it.
long residentPeak() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class LargeCompare : public ::testing::Test {
 protected:
  /// A file of `count` fp32 numbers: zeros in holes, and 1 + i/1024 at
  /// every 2^20th place i. Empty where the file system has no holes.
  [[nodiscard]] std::string sparse(const char* name, std::int64_t count, float last) const {
    const std::string head = safetensors(fmt::format(
        R"({{"w":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", count, count * kNumber));
    const std::string path = folder_.write(name, head);
    const auto start = static_cast<std::int64_t>(head.size());
    if (::truncate(path.c_str(), start + count * kNumber) != 0) {
      return {};
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](std::int64_t i, float value) {
      file.seekp(start + i * kNumber);
      file.write(reinterpret_cast<const char*>(&value), kNumber);
    };
    for (std::int64_t i = 0; i < count; i += 1 << 20) {
      put(i, 1 + static_cast<float>(i) / 1024);
    }
    put(count - 1, last);
    return path;
  }
  /// Compares within the limit.
  static Result<CompareReport> within(const std::string& a, const std::string& b,
                                      const CompareOptions& options) {
    const long before = residentPeak();
    auto report = compareFiles(a, b, options);
    EXPECT_LT(residentPeak() - before, kMostKilobytes);
    return report;
  }

  tensor_io::testing::Folder folder_;
};

TEST_F(LargeCompare, AnExactOperatorOverManyTimesTheLimit) {
  constexpr std::int64_t n = std::int64_t{96} << 20;
  const std::string a = sparse("a.safetensors", n, 3);
  const std::string b = sparse("b.safetensors", n, 3);
  if (a.empty() || b.empty()) {
    GTEST_SKIP() << "no files with holes here";
  }
  CompareOptions options;
  options.op = "clone";
  const auto report = within(a, b, options);
  ASSERT_TRUE(report) << report.error().text();
  const auto& judgement = report->tensors.at(0).judgement;
  EXPECT_EQ(judgement.state, CaseState::Mistrusted) << judgement.reason;  // holes are zeros
  EXPECT_EQ(judgement.metrics.count, n);
  EXPECT_EQ(judgement.metrics.truthMax, 1 + static_cast<double>(n - (1 << 20)) / 1024);
}

TEST_F(LargeCompare, SumsWithTheirEstimateAndEveryHypothesis) {
  constexpr std::int64_t n = std::int64_t{20} << 20;
  const std::string a = sparse("a.safetensors", n, 3);
  const std::string b = sparse("b.safetensors", n, 1e9);
  if (a.empty() || b.empty()) {
    GTEST_SKIP() << "no files with holes here";
  }
  CompareOptions options;
  options.op = "mm";
  options.reduction = 64;
  std::vector<std::string> said;
  std::int64_t most = 0;
  options.progress = [&](std::int64_t done, std::int64_t total, const std::string& name) {
    said.push_back(name);
    most = std::max(most, done);
    EXPECT_EQ(total, n);
    return false;
  };
  const auto report = within(a, b, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->tensors.at(0).judgement.state, CaseState::Mismatch);
  EXPECT_EQ(report->tensors.at(0).judgement.metrics.worst.at(0).index, n - 1);
  EXPECT_FALSE(report->tensors.at(0).judgement.trials.empty());
  // The estimate is the first pass, and none is silent.
  EXPECT_THAT(said, ::testing::IsSupersetOf({"w", "w, pass 2", "w, pass 3"}));
  EXPECT_GT(most, n * 9 / 10);
}

TEST_F(LargeCompare, AnInterruptEndsThePassItComesIn) {
  constexpr std::int64_t n = std::int64_t{16} << 20;
  const std::string a = sparse("a.safetensors", n, 3);
  const std::string b = sparse("b.safetensors", n, 5);
  if (a.empty() || b.empty()) {
    GTEST_SKIP() << "no files with holes here";
  }
  for (const char* op : {"clone", "mm"}) {
    CompareOptions options;
    options.op = op;
    options.reduction = 64;
    std::int64_t calls = 0;
    options.progress = [&](std::int64_t, std::int64_t, const std::string&) { return ++calls == 3; };
    const auto report = compareFiles(a, b, options);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_TRUE(report->stopped);
    EXPECT_FALSE(report->passes());
    EXPECT_TRUE(report->tensors.empty());
    EXPECT_EQ(calls, 3);
  }
}

}  // namespace
}  // namespace neuroncheck::conformance
