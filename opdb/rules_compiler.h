// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opdb/predicate.h"
#include "opdb/rules_run.h"

namespace neuroncheck::opdb {

/// A row whose condition has been read, and how it stands to the target's compiler.
struct ActiveRule {
  const CompilerRule* row = nullptr;
  Predicate predicate;
  RowStanding standing = RowStanding::Stale;
};

/// An operator that the claim says is really asked for below a use.
struct LeafState {
  bool always = false;
  bool wanted = false;  ///< some rule names it
  bool seen = false;    ///< met on the way down, with what is known of its arguments
};
using Leaves = std::map<std::string, LeafState>;

/// Evaluates the rules of the vendor's compiler over one model.
class CompilerRules {
 public:
  explicit CompilerRules(RuleRun& run) : run_(run) { select(); }

  void apply() {
    for (const OpUse& use : run_.model().uses) {
      if (touchesDevice(use.group)) {
        applyToAll(use);
        applyTargeted(use);
      }
    }
    applyToInputs();
    reportOpen();
  }

 private:
  [[nodiscard]] std::optional<RowStanding> standing(const CompilerRule& row) const;
  [[nodiscard]] const Release* compilerRelease(const CompilerRule& row) const;
  void select();
  void activate(const CompilerRule& row);
  void applyToAll(const OpUse& use);
  void applyTargeted(const OpUse& use);
  void applyToLeaves(const OpUse& use, const UseClaim& claim,
                     const std::vector<const ActiveRule*>& own);
  void walk(const OpUse& use, const OpInfo& parent, const PredicateContext& context, Leaves& leaves,
            int& budget);
  void judgeLeaf(const OpUse& use, const OpName& leaf, const PredicateContext& context,
                 bool certain);
  void applyToInputs();
  [[nodiscard]] bool isSymbolic(const TensorValue& tensor);
  /// `op` is the operator that the row names: the use's, or a leaf of it; empty for an input.
  void hit(const ActiveRule& rule, FindingPlace place, Severity severity, std::string_view op);
  [[nodiscard]] Severity severityOfHit(const ActiveRule& rule, const UseClaim* claim) const;
  [[nodiscard]] std::string argumentDetail(const ActiveRule& rule, const OpUse& use);
  [[nodiscard]] std::vector<const ActiveRule*> rulesFor(const OpName& op) const;
  [[nodiscard]] const std::vector<Expansion>& expansionsOf(const OpInfo& info);
  [[nodiscard]] Truth truthFor(std::size_t index, std::bitset<kDTypeCount + 1> types,
                               bool symbolic);
  void open(std::string_view code, std::string_view op, std::string why, const OpUse& use);
  void reportOpen();

  struct Open {
    std::int64_t count = 0;
    std::string first;
  };

  RuleRun& run_;
  std::vector<ActiveRule> everywhere_;
  std::unordered_map<std::string, std::vector<ActiveRule>> byPacket_;
  std::unordered_map<std::string, std::vector<ActiveRule>> byOverload_;
  std::map<std::pair<std::size_t, std::string>, Truth> truths_;
  std::unordered_map<std::string, std::vector<Expansion>> expansions_;
  std::unordered_map<const TensorValue*, bool> symbolic_;
  std::map<std::pair<std::string, std::string>, Open> open_;
};

}  // namespace neuroncheck::opdb
