// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "core/inventory.h"
#include "core/schema.h"
#include "opdb/database.h"
#include "opdb/expansion.h"
#include "opdb/rules.h"

namespace neuroncheck::opdb {

/// What the rules read of a database, for one product. Separate from Database so that rules can be
/// judged on rows given by hand, too.
struct RuleData {
  std::vector<Release> releases;   ///< of the product, oldest first
  std::vector<Release> compilers;  ///< of every compiler that answers for it, oldest first
  std::vector<FeatureRow> features;
  std::vector<CompilerRule> rules;
  const SchemaSource* schemas = nullptr;  ///< never null when rules run; must outlive the data
  /// One-level children of an operator; may be empty.
  std::function<std::vector<Expansion>(const OpInfo&)> expansions;
};

/// The rules' view of `database`, which must outlive it.
[[nodiscard]] RuleData ruleDataOf(const Database& database, std::string_view product);

/// The same as the functions of rules.h, over given rows.
[[nodiscard]] RuleResults runRules(const Model& model, const std::vector<UseClaim>& claims,
                                   const Target& target, const RuleData& data);
[[nodiscard]] std::vector<RuleDescription> describeRules(const RuleData& data);

}  // namespace neuroncheck::opdb
