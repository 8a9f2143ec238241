// SPDX-License-Identifier: Apache-2.0
#include "core/model_diff.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

namespace neuroncheck {
namespace {

struct Usage {
  std::int64_t count = 0;
  std::multiset<std::string> cases;
  Claim worst = Claim::NoDeviceWork;
};

// Order of badness: the verdict the claim leads to, then the claim itself.
bool worseThan(Claim a, Claim b) {
  const auto key = [](Claim claim) { return std::pair(verdictOf(claim, true), claim); };
  return key(a) > key(b);
}

std::map<std::string, Usage> usagesOf(const Model& model, const ModelAssessment& judged) {
  std::map<std::uint32_t, Claim> claims;
  for (const UseClaim& use : judged.uses) {
    claims[use.use] = use.claim;
  }
  std::map<std::string, Usage> usages;
  for (const OpUse& use : model.uses) {
    Usage& usage = usages[use.op.str()];
    ++usage.count;
    usage.cases.insert(caseText(use));
    if (const auto found = claims.find(use.id);
        found != claims.end() && worseThan(found->second, usage.worst)) {
      usage.worst = found->second;
    }
  }
  return usages;
}

std::vector<std::string> minus(const std::multiset<std::string>& a,
                               const std::multiset<std::string>& b) {
  std::vector<std::string> result;
  std::ranges::set_difference(a, b, std::back_inserter(result));
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::map<std::string, std::string> findingTexts(const ModelAssessment& judged) {
  std::map<std::string, std::string> texts;
  for (const Finding& finding : judged.findings) {
    texts.emplace(finding.rule + finding.code + finding.title,
                  fmt::format("{} {} ({} {})", finding.rule, finding.title, finding.places.size(),
                              finding.places.size() == 1 ? "place" : "places"));
  }
  return texts;
}

std::vector<std::string> onlyIn(const std::map<std::string, std::string>& a,
                                const std::map<std::string, std::string>& b) {
  std::vector<std::string> result;
  for (const auto& [key, text] : a) {
    if (!b.contains(key)) {
      result.push_back(text);
    }
  }
  return result;
}

OpDelta deltaOf(const std::string& op, const Usage& before, const Usage& after) {
  return {.op = op,
          .before = before.count,
          .after = after.count,
          .onlyBefore = minus(before.cases, after.cases),
          .onlyAfter = minus(after.cases, before.cases),
          .claimBefore = before.worst,
          .claimAfter = after.worst};
}

/// TorchScript files do not say which torch wrote them.
std::string producerOf(const Model& model) {
  return "torch" + (model.torchVersion.empty() ? std::string() : " " + model.torchVersion);
}

}  // namespace

std::string caseText(const OpUse& use) {
  std::string result;
  for (const Argument& argument : use.args) {
    if (argument.isDefault) {
      continue;
    }
    result +=
        fmt::format("{}{}={}", result.empty() ? "" : ", ", argument.name, text(argument.value));
  }
  return result;
}

bool ModelDiff::same() const {
  return gained.empty() && lost.empty() && changed.empty() && findingsGained.empty() &&
         findingsLost.empty() && verdictBefore == verdictAfter;
}

ModelDiff diffModels(const Model& before, const ModelAssessment& judgedBefore, const Model& after,
                     const ModelAssessment& judgedAfter) {
  ModelDiff diff;
  diff.producerBefore = producerOf(before);
  diff.producerAfter = producerOf(after);
  diff.dialectBefore = before.dialect;
  diff.dialectAfter = after.dialect;
  diff.verdictBefore = judgedBefore.verdict;
  diff.verdictAfter = judgedAfter.verdict;
  const auto usedBefore = usagesOf(before, judgedBefore);
  const auto usedAfter = usagesOf(after, judgedAfter);
  for (const auto& [op, usage] : usedBefore) {
    const auto found = usedAfter.find(op);
    if (found == usedAfter.end()) {
      diff.lost.push_back(deltaOf(op, usage, {}));
    } else if (usage.cases != found->second.cases || usage.worst != found->second.worst) {
      diff.changed.push_back(deltaOf(op, usage, found->second));
    }
  }
  for (const auto& [op, usage] : usedAfter) {
    if (!usedBefore.contains(op)) {
      diff.gained.push_back(deltaOf(op, {}, usage));
    }
  }
  const auto findingsBefore = findingTexts(judgedBefore);
  const auto findingsAfter = findingTexts(judgedAfter);
  diff.findingsGained = onlyIn(findingsAfter, findingsBefore);
  diff.findingsLost = onlyIn(findingsBefore, findingsAfter);
  return diff;
}

}  // namespace neuroncheck
