// SPDX-License-Identifier: Apache-2.0
#include "opdb/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "opdb/rules_run.h"

namespace neuroncheck::opdb {

RuleData ruleDataOf(const Database& database, std::string_view product) {
  RuleData data;
  data.releases = database.releases(product);
  data.features = database.features(product);
  data.rules = database.rules(product);
  std::set<std::string> compilers;
  for (const CompilerRule& rule : data.rules) {
    compilers.insert(rule.product);
  }
  for (const std::string& compiler : compilers) {
    const std::vector<Release> releases = database.releases(compiler);
    data.compilers.insert(data.compilers.end(), releases.begin(), releases.end());
  }
  data.schemas = &database;
  data.expansions = [&database](const OpInfo& parent) { return readExpansions(database, parent); };
  return data;
}

RuleResults runRules(const Model& model, const std::vector<UseClaim>& claims, const Target& target,
                     const RuleData& data) {
  RuleRun run(model, claims, target, data);
  runOperatorRules(run);
  runHigherOrderRules(run);
  runFeatureRules(run);
  runCompilerRules(run);
  runShapeRules(run);
  runDataDependentRules(run);
  runDtypeRules(run);
  runModeRules(run);
  runCostRules(run);
  runOpenClaims(run);
  return run.take();
}

RuleResults runRules(const Model& model, const std::vector<UseClaim>& claims, const Target& target,
                     const Database& database, std::string_view /*today*/) {
  return runRules(model, claims, target, ruleDataOf(database, target.product));
}

std::vector<RuleDescription> describeRules(const RuleData& data) {
  std::vector<RuleDescription> out;
  for (const RuleInfo& rule : builtInRules()) {
    out.push_back({.id = std::string(rule.id),
                   .title = std::string(rule.title),
                   .severity = rule.severity,
                   .machineCheckable = true});
  }
  // Rows that no built-in rule stands for: rules of the compiler by their own code, features by
  // their id.
  std::map<std::string, RuleDescription> rest;
  for (const CompilerRule& rule : data.rules) {
    if (ruleOfCode(rule.code) == nullptr) {
      const auto [found, isNew] =
          rest.try_emplace(rule.code, RuleDescription{.id = rule.code,
                                                      .title = rule.title,
                                                      .severity = Severity::Error,
                                                      .machineCheckable = rule.machineCheckable});
      found->second.machineCheckable = found->second.machineCheckable || rule.machineCheckable;
    }
  }
  for (const FeatureRow& row : data.features) {
    if (ruleOfFeature(row.id) == nullptr) {
      const std::string id = "feature:" + row.id;
      rest.try_emplace(id, RuleDescription{.id = id,
                                           .title = row.message,
                                           .severity = severityOf(row.status),
                                           .machineCheckable = false});
    }
  }
  for (auto& [id, description] : rest) {
    out.push_back(std::move(description));
  }
  return out;
}

std::vector<RuleDescription> describeRules(const Database& database) {
  // The data files speak of this product; rows of others are not rules of ours.
  return describeRules(ruleDataOf(database, Target{}.product));
}

}  // namespace neuroncheck::opdb
