// SPDX-License-Identifier: Apache-2.0
#include "core/run_record.h"

#include <algorithm>
#include <set>

namespace neuroncheck {
namespace {

using Key =
    std::pair<std::string, std::string>;  ///< kind and name, so that operators and rules never meet

/// What stands in the way of one model, with the claim each operator is blocked by.
using InTheWay = std::map<Key, Claim>;

bool standsInTheWay(Claim claim) { return verdictOf(claim, true) > Verdict::ReadyUnconfirmed; }

bool isWorse(Claim a, Claim b) { return verdictOf(a, true) > verdictOf(b, true); }

void note(InTheWay& out, const std::string& op, Claim claim) {
  const auto [entry, isNew] = out.try_emplace(Key("operator", op), claim);
  if (!isNew && isWorse(claim, entry->second)) {
    entry->second = claim;
  }
}

/// The operators to ask the vendor for: the leaves that are missing, or the operator itself when no
/// leaf is known.
void noteUse(InTheWay& out, const UseClaim& use, const std::string& op) {
  if (!standsInTheWay(use.claim)) {
    return;
  }
  bool leafFound = false;
  for (const LeafClaim& leaf : use.leaves) {
    if (standsInTheWay(leaf.claim)) {
      note(out, leaf.op, leaf.claim);
      leafFound = true;
    }
  }
  if (!leafFound) {
    note(out, op, use.claim);
  }
}

/// An operator finding (NC2xx) about operators that are in the way already says the same thing
/// again.
bool repeatsOperators(const Finding& finding, const std::set<std::string>& blockedUses) {
  return finding.rule.starts_with("NC2") && !finding.targets.empty() &&
         std::ranges::all_of(finding.targets, [&](const std::string& target) {
           return blockedUses.contains(target);
         });
}

InTheWay inTheWay(const Model& model, const ModelAssessment& judged,
                  const std::vector<Finding>& fileFindings) {
  InTheWay out;
  std::set<std::string> blockedUses;
  for (const UseClaim& use : judged.uses) {
    if (use.use < model.uses.size()) {
      const std::string op = model.uses[use.use].op.str();
      noteUse(out, use, op);
      if (standsInTheWay(use.claim)) {
        blockedUses.insert(op);
      }
    }
  }
  for (const auto* findings : {&judged.findings, &fileFindings}) {
    for (const Finding& finding : *findings) {
      if (verdictOf(finding.severity) > Verdict::ReadyUnconfirmed &&
          !repeatsOperators(finding, blockedUses)) {
        out.try_emplace(Key("finding", finding.rule), Claim::Unsupported);
      }
    }
  }
  return out;
}

/// The title of a rule that fired; empty for an operator.
std::string titleOf(const Key& key, const InputResult& input, const ModelAssessment& judged) {
  if (key.first == "finding") {
    for (const auto* findings : {&judged.findings, &input.assessment.fileFindings}) {
      const auto found = std::ranges::find(*findings, key.second, &Finding::rule);
      if (found != findings->end()) {
        return found->title;
      }
    }
  }
  return {};
}

}  // namespace

const Model* modelOf(const InputResult& input, const ModelAssessment& judged) {
  const auto found = std::ranges::find_if(
      input.inventory.models, [&](const Model& model) { return model.name == judged.model; });
  return found == input.inventory.models.end() ? nullptr : &*found;
}

std::string modelLabel(const InputResult& input, const ModelAssessment& judged) {
  return input.inventory.models.size() < 2 ? input.inventory.path
                                           : input.inventory.path + ": " + judged.model;
}

Verdict worstVerdict(const RunRecord& record) {
  if (record.inputs.empty()) {
    return Verdict::Unknown;
  }
  Verdict out = Verdict::Ready;
  for (const InputResult& input : record.inputs) {
    out = worst(out, input.error ? Verdict::Unknown : input.assessment.verdict);
  }
  return out;
}

std::vector<Blocker> rankBlockers(const RunRecord& record) {
  std::map<Key, Blocker> blockers;
  for (const InputResult& input : record.inputs) {
    if (input.error) {
      continue;
    }
    for (const ModelAssessment& judged : input.assessment.models) {
      const Model* model = modelOf(input, judged);
      if (model == nullptr) {
        continue;
      }
      const InTheWay found = inTheWay(*model, judged, input.assessment.fileFindings);
      for (const auto& [key, claim] : found) {
        Blocker& blocker =
            blockers
                .try_emplace(
                    key, Blocker{key.second, key.first, titleOf(key, input, judged), claim, {}, {}})
                .first->second;
        blocker.claim = isWorse(claim, blocker.claim) ? claim : blocker.claim;
        blocker.models.push_back(modelLabel(input, judged));
        if (found.size() == 1) {
          blocker.unblocks.push_back(modelLabel(input, judged));
        }
      }
    }
  }
  std::vector<Blocker> out;
  out.reserve(blockers.size());
  for (auto& [key, blocker] : blockers) {
    out.push_back(std::move(blocker));
  }
  std::ranges::stable_sort(out, [](const Blocker& a, const Blocker& b) {
    return std::pair(a.unblocks.size(), a.models.size()) >
           std::pair(b.unblocks.size(), b.models.size());
  });
  return out;
}

}  // namespace neuroncheck
