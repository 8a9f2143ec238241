// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opdb/database.h"
#include "opdb/rules.h"
#include "opdb/tests/inventory_builder.h"

namespace neuroncheck::opdb::test {

using Make = std::function<void(InventoryBuilder&, Target&)>;

/// One rule with a model on which it fires and one, as near to it as can be, on which it does not.
struct RuleCase {
  std::string rule;
  Make fires;
  Make near;
  Severity severity = Severity::Note;  ///< of the finding that fires
};

/// The database made from the repository's data files, once per test program.
const Database& database();
/// The newest release, trn2, eager.
[[nodiscard]] Target target();
[[nodiscard]] RuleResults run(const Make& make);
[[nodiscard]] inline const Finding* find(const std::vector<Finding>& findings,
                                         const std::string& rule, const std::string& code = {}) {
  const auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
    return finding.rule == rule && (code.empty() || finding.code == code);
  });
  return found == findings.end() ? nullptr : &*found;
}

inline void compile(Target& target) { target.mode = ExecutionMode::Compile; }

std::vector<RuleCase> operatorCases();
std::vector<RuleCase> featureCases();
std::vector<RuleCase> shapeCases();
std::vector<RuleCase> dtypeCases();
std::vector<RuleCase> modeCases();
std::vector<RuleCase> costCases();

}  // namespace neuroncheck::opdb::test
