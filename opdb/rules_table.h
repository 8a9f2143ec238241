// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "core/states.h"

namespace neuroncheck::opdb {

/// A rule of this program. Its title and remedy are constant; docs/rules.md has one row for each.
struct RuleInfo {
  constexpr RuleInfo(std::string_view ruleId, std::string_view ruleTitle, Severity usual,
                     std::string_view whatToDo, std::string_view featureRow = {},
                     std::string_view vendorCode = {})
      : id(ruleId),
        title(ruleTitle),
        severity(usual),
        remedy(whatToDo),
        feature(featureRow),
        code(vendorCode) {}
  std::string_view id;
  std::string_view title;
  /// Usual severity. A finding may have a lower one, where its evidence is weaker than the rule
  /// supposes.
  Severity severity = Severity::Note;
  std::string_view remedy;
  std::string_view feature;  ///< id of the feature row it takes message and evidence from
  std::string_view code;     ///< vendor's code, for a rule of the vendor's compiler
};

/// Every built-in rule, sorted by id.
[[nodiscard]] std::span<const RuleInfo> builtInRules();
/// Aborts for an id that is not in the table.
[[nodiscard]] const RuleInfo& ruleInfo(std::string_view id);
/// The rule that a vendor's code or a feature row belongs to; null for one this version does not
/// know.
[[nodiscard]] const RuleInfo* ruleOfCode(std::string_view code);
[[nodiscard]] const RuleInfo* ruleOfFeature(std::string_view feature);

/// What a built-in rule rests on when no row of the database says it.
struct BuiltInEvidence {
  constexpr BuiltInEvidence(std::string_view ruleId, std::string_view kindOf,
                            std::string_view sourceOf, std::string_view ofRelease,
                            std::string_view date, Confidence howSure)
      : rule(ruleId),
        kind(kindOf),
        source(sourceOf),
        release(ofRelease),
        observed(date),
        confidence(howSure) {}
  std::string_view rule;
  std::string_view kind;  ///< Evidence::kind
  std::string_view source;
  std::string_view release;  ///< empty: not of one release
  std::string_view observed;
  Confidence confidence = Confidence::Low;
};
/// Null for a rule that rests on rows only.
[[nodiscard]] const BuiltInEvidence* builtInEvidence(std::string_view rule);

}  // namespace neuroncheck::opdb
