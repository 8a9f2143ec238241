// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "opdb/database.h"

namespace neuroncheck::opdb {

/// What the rules over one model found.
struct RuleResults {
  std::vector<Finding> findings;  ///< sorted by severity (error first), then rule id
  std::vector<NotChecked>
      notChecked;  ///< every data rule that no graph can decide, and every claim left open
  std::map<std::string, Evidence> evidence;
};

/// Runs every rule (built-in ones and those of the database: features and compiler rules) over one
/// model. `claims` are the answers for the same model's uses, in order. Rule ids are stable
/// (docs/rules.md).
[[nodiscard]] RuleResults runRules(const Model& model, const std::vector<UseClaim>& claims,
                                   const Target& target, const Database& database,
                                   std::string_view today);

/// Findings about the file itself (NC1xx), from the reader's notes.
[[nodiscard]] std::vector<Finding> fileFindings(const Inventory& inventory);

/// One entry of docs/rules.md and of `db list --rules`.
struct RuleDescription {
  std::string id;
  std::string title;
  Severity severity = Severity::Note;
  bool machineCheckable = true;
};
[[nodiscard]] std::vector<RuleDescription> describeRules(const Database& database);

}  // namespace neuroncheck::opdb
