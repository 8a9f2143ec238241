// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdb/rules_data.h"
#include "opdb/rules_table.h"

namespace neuroncheck::opdb {

/// How a row stands to the target's release.
enum class RowStanding : std::uint8_t {
  Current,  ///< of that release or of the same SDK
  Stale,    ///< of an older one
  Later,    ///< of a newer one only: shown, but never more than a warning
};

/// The row that speaks for the target, and how.
struct FeatureAnswer {
  const FeatureRow* row = nullptr;
  RowStanding standing = RowStanding::Stale;
  std::string evidence;  ///< Evidence::id
};

/// What the rules over one model share: the inputs, and the findings made so far. Rules call it
/// with ids of the table; findings of one rule and key are one.
class RuleRun {
 public:
  RuleRun(const Model& model, const std::vector<UseClaim>& claims, const Target& target,
          const RuleData& data);

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] const RuleData& data() const { return data_; }
  [[nodiscard]] const std::vector<UseClaim>& claims() const { return claims_; }
  [[nodiscard]] bool eager() const { return target_.mode == ExecutionMode::Eager; }
  /// Null when there is no claim for the use.
  [[nodiscard]] const UseClaim* claim(const OpUse& use) const;
  /// Null for an operator the catalogue lacks.
  [[nodiscard]] const OpInfo* info(const OpUse& use) const;

  [[nodiscard]] RowStanding standing(std::string_view release) const;
  /// The release rows are compared with; null when the database has none of the product.
  [[nodiscard]] const Release* release() const { return release_; }
  /// The row of a feature for the target's mode: of its release or SDK, else the nearest older one,
  /// else the nearest newer one.
  [[nodiscard]] std::optional<FeatureAnswer> feature(std::string_view id);
  /// The evidence of a rule that rests on no row; registers it.
  [[nodiscard]] std::string evidence(std::string_view rule);
  std::string addEvidence(Evidence evidence);

  /// The finding of `rule` and `key`, made when absent (with the rule's severity, title and
  /// remedy).
  Finding& finding(std::string_view rule, std::string_view key = {});
  [[nodiscard]] bool has(std::string_view rule, std::string_view key = {}) const;
  /// The source line of the use; where no frame lies outside torch, torch's own, said in `detail`.
  [[nodiscard]] FindingPlace place(const OpUse& use, std::string detail = {}) const;
  /// The same; where the file has no line of it, that of the first operator inside, said in
  /// `detail`.
  [[nodiscard]] FindingPlace place(const HigherOrderUse& use, std::string detail = {});
  [[nodiscard]] FindingPlace place(const DeviceLiteral& literal, std::string detail) const;
  /// A place outside the operators: a graph input, parameter or buffer.
  [[nodiscard]] FindingPlace place(std::string_view node, std::string detail) const;

  /// What of this model stays open.
  void notChecked(std::string what, std::string why, std::string how);
  /// A rule that no file decides, or that this version has no code for; listed after all others.
  void undecidable(std::string what, std::string why, std::string how);
  /// "float32[4, 8]", cut where it is long. Each tensor's text is made once, so that many uses of
  /// one huge tensor stay cheap.
  [[nodiscard]] const std::string& tensorText(const TensorValue& tensor);
  /// Canonical text and bounds of an expression, each made once: files share expressions between
  /// many uses.
  [[nodiscard]] const std::string& exprText(const SymExprPtr& expr);
  [[nodiscard]] SymRange boundsOf(const SymExprPtr& expr);
  /// text() of an argument, cut where it is long.
  [[nodiscard]] std::string valueText(const ArgValue& value);
  /// "input is int64[4, 8]" for every argument of `use` whose tensor satisfies `wanted`, results as
  /// "result is ...".
  template <typename Wanted>
  [[nodiscard]] std::string tensorDetail(const OpUse& use, Wanted wanted);

  /// Targets sorted, findings sorted by severity and id, rules that no file decides last.
  [[nodiscard]] RuleResults take();

 private:
  void describe(std::string& out, std::string_view name, const TensorValue& tensor);
  [[nodiscard]] const SourcePlace* firstPlaceInside(const HigherOrderUse& use);

  const Model& model_;
  const std::vector<UseClaim>& claims_;
  const Target& target_;
  const RuleData& data_;
  const Release* release_ = nullptr;
  std::map<std::pair<std::string, std::string>, Finding> findings_;
  std::vector<NotChecked> notChecked_;
  std::vector<NotChecked> undecidable_;
  std::set<std::string> notCheckedSeen_;
  std::map<std::string, Evidence> evidence_;
  std::unordered_map<const TensorValue*, std::string> tensorTexts_;
  std::unordered_map<const SymExpr*, std::string> exprTexts_;
  std::unordered_map<const SymExpr*, SymRange> bounds_;
  std::unordered_map<std::string, const OpInfo*> mutable infos_;
  /// First known source line of each graph, those within it included; null until asked for.
  std::optional<std::unordered_map<std::string, const SourcePlace*>> firstPlaces_;
};

/// Dimensions a tensor of torch can have; a file may say more.
inline constexpr std::size_t kMaxRank = 64;
/// Longest text of one detail; what is longer is cut, with "..." at the end.
inline constexpr std::size_t kMaxDetail = 240;

template <typename Wanted>
std::string RuleRun::tensorDetail(const OpUse& use, Wanted wanted) {
  std::string out;
  const auto visit = [&](std::string_view name, const ArgValue& value) {
    if (out.size() >= kMaxDetail) {
      return;
    }
    forEachTensor(value, [&](const TensorValue& tensor) {
      if (out.size() < kMaxDetail && wanted(tensor.spec)) {
        describe(out, name, tensor);
      }
    });
  };
  for (const Argument& argument : use.args) {
    visit(argument.name.empty() ? std::string_view("an input") : std::string_view(argument.name),
          argument.value);
  }
  for (const ArgValue& output : use.outputs) {
    visit("result", output);
  }
  return out;
}

/// A sentence about the use, or a caveat, without the operator's name at its start: a place names
/// the operator itself.
[[nodiscard]] std::string withoutOp(const std::string& sentence, const OpUse& use);

/// Does any tensor of the use, arguments or results, satisfy `wanted`?
template <typename Wanted>
[[nodiscard]] bool anyTensor(const OpUse& use, Wanted wanted) {
  bool found = false;
  const auto visit = [&](const ArgValue& value) {
    if (!found) {
      forEachTensor(value,
                    [&](const TensorValue& tensor) { found = found || wanted(tensor.spec); });
    }
  };
  for (const Argument& argument : use.args) {
    visit(argument.value);
  }
  for (const ArgValue& output : use.outputs) {
    visit(output);
  }
  return found;
}

/// Severity that a row's status alone asks for.
[[nodiscard]] Severity severityOf(SupportStatus status);
/// Evidence of a later release never makes more than a warning.
[[nodiscard]] Severity capped(Severity severity, RowStanding standing);
/// Work of the device, or what may become it.
[[nodiscard]] bool touchesDevice(OpGroup group);
/// "1 use", "3 uses".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view many);
/// The name without the "_" of an in-place form; dunder names stay.
[[nodiscard]] std::string_view functionalBase(std::string_view base);
/// The tensor an argument holds; null for anything else.
[[nodiscard]] const TensorValue* tensorOf(const ArgValue& value);
[[nodiscard]] const TensorValue* tensorOf(const Argument* argument);
/// TensorSpec::isContiguous, and "not known" for a rank that torch does not have.
[[nodiscard]] std::optional<bool> contiguity(const TensorSpec& spec);
/// The constant bool of an argument; nullopt when absent, symbolic or of another kind.
[[nodiscard]] std::optional<bool> boolOf(const Argument* argument);
/// "node (file:line)" of a use.
[[nodiscard]] std::string whereText(const OpUse& use);

/// The rules, by topic. Each goes over the model once.
void runFeatureRules(RuleRun& run);
void runCompilerRules(RuleRun& run);
void runOperatorRules(RuleRun& run);
void runHigherOrderRules(RuleRun& run);
void runShapeRules(RuleRun& run);
void runDataDependentRules(RuleRun& run);
void runDtypeRules(RuleRun& run);
void runModeRules(RuleRun& run);
void runCostRules(RuleRun& run);
void runOpenClaims(RuleRun& run);

}  // namespace neuroncheck::opdb
