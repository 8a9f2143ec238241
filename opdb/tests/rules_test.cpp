// SPDX-License-Identifier: Apache-2.0
// Every rule fires on one model and not on its near miss; every data row has such a pair or is
// listed as not checked.
#include "opdb/rules.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opdb/builder.h"
#include "opdb/rules_table.h"
#include "opdb/tests/rules_rows.h"

namespace neuroncheck::opdb::test {
namespace {

using ::testing::HasSubstr;

std::string source(const std::string& path) {
  return std::string(NEURONCHECK_SOURCE_DIR) + "/" + path;
}

std::vector<RuleCase> allCases() {
  std::vector<RuleCase> out;
  for (const auto& cases :
       {operatorCases(), featureCases(), shapeCases(), dtypeCases(), modeCases(), costCases()}) {
    out.insert(out.end(), cases.begin(), cases.end());
  }
  return out;
}

std::string listed(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    out += finding.rule + " " + finding.code + ": " + finding.message + "\n";
  }
  return out;
}

/// What every finding owes its reader.
void expectComplete(const Finding& finding) {
  EXPECT_FALSE(finding.title.empty()) << finding.rule;
  EXPECT_FALSE(finding.message.empty()) << finding.rule;
  EXPECT_FALSE(finding.remedy.empty()) << finding.rule;
  EXPECT_FALSE(finding.evidence.empty()) << finding.rule;
}

Make makeRow(const std::string& op, const InventoryBuilder::Given& given, const std::string& chip,
             bool compiled) {
  return [=](InventoryBuilder& b, Target& t) {
    t.chip = chip;
    if (compiled) {
      compile(t);
    }
    // An argument that this operator does not have says nothing about it.
    InventoryBuilder::Given own;
    const OpInfo* info = database().find(OpName::parse(op).value());
    for (const auto& [name, value] : given) {
      if (info != nullptr && info->schema.argument(name) != nullptr) {
        own.emplace(name, value);
      }
    }
    b.add(op, own);
  };
}

}  // namespace

const Database& database() {
  static const Database kDatabase = [] {
    BuildInputs inputs;
    inputs.catalogueVersion = "torch 2.13.0";
    inputs.ops = source("datasets/catalogue/torch-2.13.0/ops.jsonl");
    inputs.releases = source("datasets/support/releases.csv");
    inputs.support = source("datasets/support/support-matrix.csv");
    inputs.features = source("datasets/support/features.csv");
    inputs.rules = source("datasets/support/compiler-rules.csv");
    const std::string out = testing::TempDir() + "rules_test.db";
    const auto built = buildDatabase(inputs, out);
    NEURONCHECK_CHECK(built && built->problems.empty(), "the data files make a database");
    auto opened = Database::open(out);
    NEURONCHECK_CHECK(opened.has_value(), "the database opens");
    return *std::move(opened);
  }();
  return kDatabase;
}

Target target() {
  Target target;
  target.release = target.answeringRelease = database().releases(target.product).back().name;
  return target;
}

RuleResults run(const Make& make) {
  InventoryBuilder builder(database());
  Target wanted = target();
  make(builder, wanted);
  return runRules(builder.model(), builder.claims(), wanted, database(), "2026-12-01");
}

TEST(Rules, EachFiresOnItsModelAndNotOnTheNearMiss) {
  for (const RuleCase& one : allCases()) {
    SCOPED_TRACE(one.rule);
    const RuleResults fires = run(one.fires);
    const Finding* finding = find(fires.findings, one.rule);
    ASSERT_NE(finding, nullptr) << listed(fires.findings);
    EXPECT_EQ(finding->severity, one.severity) << finding->message;
    expectComplete(*finding);
    for (const std::string& id : finding->evidence) {
      const bool ofClaims = id.starts_with("support:") || id.starts_with("expansion");
      EXPECT_TRUE(ofClaims || fires.evidence.contains(id)) << id;
    }
    const RuleResults near = run(one.near);
    EXPECT_EQ(find(near.findings, one.rule), nullptr) << listed(near.findings);
  }
}

TEST(Rules, EachRowOfTheCompilerFiresOnEachOfItsOperators) {
  std::map<std::pair<std::string, std::string>, RowCase> cases;
  for (const RowCase& one : rowCases()) {
    cases.emplace(std::pair(one.code, one.firstTarget), one);
  }
  for (const CompilerRule& row : database().rules("torch-neuronx")) {
    if (!row.machineCheckable) {
      continue;
    }
    SCOPED_TRACE(row.code + " " + row.targets.front());
    const auto found = cases.find({row.code, row.targets.front()});
    ASSERT_NE(found, cases.end()) << "a row without a test";
    const RowCase& one = found->second;
    const std::vector<std::string> operators = operatorsOf(row);
    EXPECT_GE(operators.size(), row.targets.size()) << "a target the catalogue lacks";
    const bool compiled = row.mode == "compile";
    for (const std::string& op : operators) {
      SCOPED_TRACE(op);
      const RuleResults fires = run(makeRow(op, one.fires, one.chip, compiled));
      const Finding* finding = find(fires.findings, one.rule, row.code);
      ASSERT_NE(finding, nullptr) << listed(fires.findings);
      EXPECT_EQ(finding->severity, one.severity);
      expectComplete(*finding);
      EXPECT_TRUE(fires.evidence.at("rule:" + row.code).stale) << "2.28 has no rules of its own";
      const RuleResults near = one.nearIsOther()
                                   ? run(makeRow("aten::relu", {}, one.chip, compiled))
                                   : run(makeRow(op, one.near, one.chip, compiled));
      EXPECT_EQ(find(near.findings, one.rule, row.code), nullptr) << listed(near.findings);
    }
    cases.erase(found);
  }
  EXPECT_TRUE(cases.empty()) << "a test for a row that is not there: "
                             << cases.begin()->first.first;
}

TEST(Rules, EachIsTestedOrListedAsNotChecked) {
  std::set<std::string> tested;
  for (const RuleCase& one : allCases()) {
    tested.insert(one.rule);
  }
  for (const RowCase& one : rowCases()) {
    tested.insert(one.rule);
  }
  // rules_file_test.cpp and rules_results_test.cpp.
  tested.insert({"NC101", "NC102", "NC103", "NC104", "NC105", "NC106", "NC109", "NC112", "NC113",
                 "NC114", "NC115", "NC116", "NC299"});
  std::string open;
  for (const ExecutionMode mode : {ExecutionMode::Eager, ExecutionMode::Compile}) {
    const RuleResults empty = run([mode](InventoryBuilder&, Target& t) { t.mode = mode; });
    EXPECT_TRUE(empty.findings.empty()) << listed(empty.findings);
    for (const NotChecked& one : empty.notChecked) {
      open += one.what + "\n";
    }
  }
  for (const RuleDescription& rule : describeRules(database())) {
    if (tested.erase(rule.id) == 1) {
      EXPECT_TRUE(rule.machineCheckable) << rule.id;
      continue;
    }
    EXPECT_FALSE(rule.machineCheckable) << rule.id << " has no test";
    const std::string id = rule.id.starts_with("feature:") ? rule.id.substr(8) : rule.id;
    EXPECT_THAT(open, HasSubstr(id));
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin() << " is tested but not described";
}

TEST(Rules, EveryFeatureRowIsARuleOrNotChecked) {
  std::set<std::string> described;
  for (const RuleDescription& rule : describeRules(database())) {
    described.insert(rule.id);
  }
  for (const FeatureRow& row : database().features("torch-neuronx")) {
    const RuleInfo* info = ruleOfFeature(row.id);
    EXPECT_TRUE(info != nullptr ? described.contains(std::string(info->id))
                                : described.contains("feature:" + row.id))
        << row.id;
  }
}

}  // namespace neuroncheck::opdb::test
