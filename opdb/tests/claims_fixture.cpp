// SPDX-License-Identifier: Apache-2.0
#include "opdb/tests/claims_fixture.h"

#include <atomic>
#include <fstream>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "opdb/assess.h"
#include "opdb/builder.h"

namespace neuroncheck::opdb::testing {
namespace {

std::string quoted(const std::string& text) {
  return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

void writeRows(const std::filesystem::path& file, const std::vector<Row>& rows) {
  std::ofstream out(file);
  out << "op,scope,status,product,release,mode,chip,dtypes,predicate,otherwise,path_note,vendor_"
         "test,note,evidence,confidence,"
         "observed,source\n";
  int number = 0;
  for (const Row& row : rows) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},,{},{},{},test {}\n", row.op, row.scope,
                       row.status, row.product, row.release, row.mode, row.chip, quoted(row.dtypes),
                       quoted(row.predicate), row.otherwise, quoted(row.pathNote), row.vendorTest,
                       row.evidence, row.confidence, row.observed, ++number);
  }
}

}  // namespace

TestDatabase::TestDatabase(std::vector<Row> rows) {
  static std::atomic<int> count = 0;
  folder_ = std::filesystem::temp_directory_path() /
            fmt::format("neuron-check-claims-{}-{}", ::getpid(), count++);
  std::filesystem::create_directories(folder_);
  writeRows(folder_ / "support.csv", rows);
  const std::string data = NEURONCHECK_SOURCE_DIR "/opdb/tests/data/claims/";
  const std::string file = (folder_ / "operators.db").string();
  const auto built = buildDatabase({.catalogueVersion = "torch 2.13.0",
                                    .ops = data + "ops.jsonl",
                                    .expansions = data + "expansions.jsonl",
                                    .releases = data + "releases.csv",
                                    .support = (folder_ / "support.csv").string(),
                                    .features = data + "features.csv",
                                    .rules = {}},
                                   file);
  EXPECT_TRUE(built) << (built ? "" : built.error().text());
  if (built) {
    EXPECT_TRUE(built->problems.empty()) << built->problems.front();
  }
  auto opened = Database::open(file);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().text());
  NEURONCHECK_CHECK(opened.has_value(), "the test database opens");
  database_ = std::make_unique<Database>(*std::move(opened));
}

TestDatabase::~TestDatabase() {
  database_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Target TestDatabase::target(std::string release, ExecutionMode mode, std::string chip) const {
  Target wanted;
  wanted.release = std::move(release);
  wanted.mode = mode;
  wanted.chip = std::move(chip);
  auto target = resolveTarget(*database_, wanted);
  EXPECT_TRUE(target) << (target ? "" : target.error().text());
  return target.value_or(wanted);
}

TensorPtr tensor(DType dtype, std::vector<std::int64_t> sizes,
                 std::optional<std::vector<std::int64_t>> strides) {
  TensorValue value;
  value.name = "x";
  value.spec.dtype = dtype;
  value.spec.device.type = "cpu";
  value.spec.sizes.assign(sizes.begin(), sizes.end());
  std::vector<std::int64_t> steps(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    steps[i - 1] = steps[i] * sizes[i];
  }
  const std::vector<std::int64_t>& given = strides ? *strides : steps;
  value.spec.strides.assign(given.begin(), given.end());
  return std::make_shared<const TensorValue>(std::move(value));
}

TensorPtr f32(std::vector<std::int64_t> sizes) { return tensor(DType::Float32, std::move(sizes)); }

TensorPtr unknownTensor() {
  TensorValue value;
  value.name = "x";
  value.spec.hasShape = false;
  return std::make_shared<const TensorValue>(std::move(value));
}

ArgValue number(std::int64_t value) { return SymIntValue{.value = SymInt(value), .name = {}}; }
ArgValue real(double value) { return SymFloat{.value = value, .expr = nullptr, .name = {}}; }
ArgValue flag(bool value) { return SymBool{.value = value, .expr = nullptr, .name = {}}; }
ArgValue numbers(std::initializer_list<std::int64_t> values) {
  std::vector<SymIntValue> list;
  for (const std::int64_t value : values) {
    list.push_back({.value = SymInt(value), .name = {}});
  }
  return list;
}

OpUse use(const std::string& op, std::vector<Argument> args) {
  OpUse made;
  made.op = OpName::parse(op).value();
  made.node = "node";
  made.args = std::move(args);
  return made;
}

UseClaim claimOf(const TestDatabase& database, const Target& target, const OpUse& use) {
  ClaimEngine engine(database.get(), target, kToday);
  UseClaim claim = engine.claim(use);
  for (const std::string& id : claim.evidence) {
    EXPECT_TRUE(engine.evidence().contains(id)) << id;
  }
  EXPECT_FALSE(claim.reason.empty());
  return claim;
}

UseClaim claimOf(const TestDatabase& database, const std::string& release, const OpUse& use) {
  return claimOf(database, database.target(release), use);
}

}  // namespace neuroncheck::opdb::testing
