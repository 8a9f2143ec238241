// SPDX-License-Identifier: Apache-2.0
#include "report/tally.h"

#include <algorithm>
#include <tuple>

namespace neuroncheck::report {

Tally tallyOf(const std::map<Claim, std::int64_t>& counts) {
  Tally out;
  for (const auto& [claim, count] : counts) {
    switch (claim) {
      case Claim::NoDeviceWork:
        out.noWork += count;
        break;
      case Claim::Native:
      case Claim::Decomposed:
        out.native += count;
        break;
      case Claim::CpuFallback:
        out.fallback += count;
        break;
      case Claim::CpuFallbackView:
      case Claim::Unsupported:
        out.refused += count;
        break;
      case Claim::Depends:
      case Claim::Unknown:
        out.open += count;
        break;
    }
  }
  return out;
}

std::vector<std::set<std::string>> refusingRules(const ModelView& view) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> named;
  for (const Finding* finding : findingsOf(view)) {
    if (finding->severity != Severity::Error) {
      continue;
    }
    for (const FindingPlace& place : finding->places) {
      named[{place.node, place.op, place.source.str()}].insert(finding->rule);
      // The place of a use without a line of its own may have one of torch's.
      named[{place.node, place.op, std::string()}].insert(finding->rule);
    }
  }
  std::vector<std::set<std::string>> out(view.model->uses.size());
  for (std::size_t i = 0; !named.empty() && i < out.size(); ++i) {
    const OpUse& use = view.model->uses[i];
    const auto found = named.find({use.node, use.op.str(), use.source.str()});
    if (found != named.end()) {
      out[i] = found->second;
    }
  }
  return out;
}

Tally refusedByFindings(const ModelView& view) {
  const auto rules = refusingRules(view);
  std::map<Claim, std::int64_t> counts;
  for (const UseClaim& claim : view.judged->uses) {
    if (claim.use < rules.size() && !rules[claim.use].empty()) {
      ++counts[claim.claim];
    }
  }
  return tallyOf(counts);
}

Tally effectiveTally(const ModelView& view) {
  Tally out = tallyOf(view.judged->counts);
  const Tally refused = refusedByFindings(view);
  out.native -= refused.native;
  out.fallback -= refused.fallback;
  out.open -= refused.open;
  out.refused += refused.native + refused.fallback + refused.open;
  return out;
}

std::vector<Blocker> blockersByWorst(const RunRecord& record) {
  std::vector<Blocker> out = rankBlockers(record);
  std::ranges::stable_sort(out, [](const Blocker& a, const Blocker& b) {
    return verdictOf(a.claim, true) > verdictOf(b.claim, true);
  });
  return out;
}

std::vector<const Blocker*> blockersOf(const ModelView& view, const std::vector<Blocker>& ranked) {
  std::map<std::string, Verdict> operators;
  const auto note = [&operators](const std::string& op, Claim claim) {
    Verdict& known = operators.try_emplace(op, Verdict::Ready).first->second;
    known = worst(known, verdictOf(claim, true));
  };
  for (const UseClaim& claim : view.judged->uses) {
    if (claim.use < view.model->uses.size() && standsInTheWay(claim.claim)) {
      note(view.model->uses[claim.use].op.str(), claim.claim);
      for (const LeafClaim& leaf : claim.leaves) {
        note(leaf.op, leaf.claim);
      }
    }
  }
  const auto here = [&operators](const Blocker& blocker) {
    const auto found = operators.find(blocker.what);
    return blocker.kind != "operator" || found == operators.end() ? Verdict::Blocked
                                                                  : found->second;
  };
  const std::string label = modelLabel(*view.input, *view.judged);
  std::vector<const Blocker*> out;
  for (const Blocker& blocker : ranked) {
    if (std::ranges::find(blocker.models, label) != blocker.models.end()) {
      out.push_back(&blocker);
    }
  }
  std::ranges::stable_sort(
      out, [&here](const Blocker* a, const Blocker* b) { return here(*a) > here(*b); });
  return out;
}

}  // namespace neuroncheck::report
