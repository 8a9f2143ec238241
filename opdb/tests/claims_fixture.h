// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "opdb/claims.h"
#include "opdb/database.h"

namespace neuroncheck::opdb::testing {

/// One row of the support matrix; what is not given is a plain native eager row of release 2.0.
struct Row {
  std::string op{};
  std::string status = "native";
  std::string release = "2.0";
  std::string mode = "eager";
  std::string scope = "overload";
  std::string chip{};
  std::string dtypes{};
  std::string predicate{};
  std::string otherwise{};
  std::string pathNote{};
  std::string vendorTest{};
  std::string evidence = "documented";
  std::string confidence = "high";
  std::string observed = "2026-06-01";
  std::string product = "torch-neuronx";
};

/// A database of real operators (tests/data/claims) with the given rows, in a folder of its own
/// that goes with it.
class TestDatabase {
 public:
  explicit TestDatabase(std::vector<Row> rows);
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  [[nodiscard]] const Database& get() const { return *database_; }
  /// The target that resolveTarget makes; fails the test when it makes none.
  [[nodiscard]] Target target(std::string release, ExecutionMode mode = ExecutionMode::Eager,
                              std::string chip = "trn2") const;

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Database> database_;
};

/// "today" of every test.
inline constexpr const char* kToday = "2026-12-01";

/// A contiguous tensor, or one with the given strides.
[[nodiscard]] TensorPtr tensor(DType dtype, std::vector<std::int64_t> sizes,
                               std::optional<std::vector<std::int64_t>> strides = {});
[[nodiscard]] TensorPtr f32(std::vector<std::int64_t> sizes);
/// A tensor of which the file says neither shape nor dtype.
[[nodiscard]] TensorPtr unknownTensor();
[[nodiscard]] ArgValue number(std::int64_t value);
[[nodiscard]] ArgValue real(double value);
[[nodiscard]] ArgValue flag(bool value);
[[nodiscard]] ArgValue numbers(std::initializer_list<std::int64_t> values);
[[nodiscard]] OpUse use(const std::string& op, std::vector<Argument> args);

/// The claim of one use by a fresh engine. Evidence of the claim is checked to be in the engine's
/// evidence.
[[nodiscard]] UseClaim claimOf(const TestDatabase& database, const Target& target,
                               const OpUse& use);
[[nodiscard]] UseClaim claimOf(const TestDatabase& database, const std::string& release,
                               const OpUse& use);

}  // namespace neuroncheck::opdb::testing
