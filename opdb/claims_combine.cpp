// SPDX-License-Identifier: Apache-2.0
// The claim of a composite from the claims of its parts (docs/claims.md, rule 15).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "opdb/claims_engine.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::string_view kArguments = "arguments";

/// The first of the worst parts that pass the filter; null when none does.
template <typename Filter>
const Part* worstPart(const std::vector<Part>& parts, Filter filter) {
  const Part* found = nullptr;
  for (const Part& part : parts) {
    if (filter(part) &&
        (found == nullptr || severity(part.judgement.claim) > severity(found->judgement.claim))) {
      found = &part;
    }
  }
  return found;
}

/// What is certain whatever the open parts turn out to be. Where every call is conditional one of
/// them is made all the same, so the best of them is certain.
int certainBucket(const std::vector<Part>& parts, const Part* certain) {
  if (certain != nullptr) {
    return bucket(certain->judgement.claim);
  }
  int best = bucket(Claim::Unsupported);
  for (const Part& part : parts) {
    best = std::min(best, bucket(part.judgement.claim));
  }
  return best;
}

void takePart(Judgement& judgement, const Part& part, bool decides) {
  for (const std::string& id : part.judgement.used) {
    addUnique(decides ? judgement.used : judgement.shown, id);
  }
  for (const std::string& id : part.judgement.shown) {
    addUnique(judgement.shown, id);
  }
  for (const std::string& caveat : part.judgement.caveats) {
    addUnique(judgement.caveats, caveat);
  }
  for (LeafClaim leaf : part.judgement.leaves) {
    leaf.always = leaf.always && !part.open;
    leaf.times = multiplyTimes(part.expansion->times, leaf.times);
    addLeaf(judgement.leaves, std::move(leaf));
  }
}

/// Every part is ready: nothing that is still open changes the answer.
void settleReady(Judgement& judgement, const OpName& op, const std::vector<Part>& parts,
                 const Part& weakest) {
  const auto isNothing = [](const Part& part) {
    return part.judgement.claim == Claim::NoDeviceWork;
  };
  if (std::ranges::all_of(parts, isNothing)) {
    judgement.claim = Claim::NoDeviceWork;
    judgement.reason = fmt::format("{} is made of views and metadata only.", op.str());
    return;
  }
  judgement.claim = Claim::Decomposed;
  judgement.reason = fmt::format("{} runs as operators that are native; the weakest of them: {}",
                                 op.str(), weakest.judgement.reason);
}

void settleDepends(Judgement& judgement, const OpName& op, const Part& deciding) {
  judgement.claim = Claim::Depends;
  judgement.decidedBy = deciding.decidedBy.empty() ? kArguments : deciding.decidedBy;
  judgement.reason = fmt::format("{} calls {} for some arguments only, and {}: {}", op.str(),
                                 deciding.expansion->child.str(),
                                 deciding.decidedBy.empty() ? "the catalogue does not say which"
                                                            : deciding.decidedBy + " would decide",
                                 deciding.judgement.reason);
  if (judgement.remedy.empty()) {
    judgement.remedy =
        "Run ep = ep.run_decompositions() on the exported program, save it and check it again: "
        "then the operators it "
        "really calls are judged.";
  }
}

}  // namespace

std::string chained(const OpName& op, const OpName& child, const std::string& reason) {
  const std::string name = child.str();
  return reason.starts_with(name + " ")
             ? fmt::format("{} calls {}, which {}", op.str(), name, reason.substr(name.size() + 1))
             : fmt::format("{} calls {}. {}", op.str(), name, reason);
}

void addLeaf(std::vector<LeafClaim>& leaves, LeafClaim leaf) {
  const auto same = std::ranges::find_if(leaves, [&](const LeafClaim& known) {
    return known.op == leaf.op && known.claim == leaf.claim;
  });
  if (same == leaves.end()) {
    leaves.push_back(std::move(leaf));
    return;
  }
  same->always = same->always || leaf.always;
  if (same->times != leaf.times) {
    same->times = "n";
  }
}

Judgement combine(const OpName& op, const std::vector<Part>& parts) {
  const Part* certain = worstPart(parts, [](const Part& part) { return !part.open; });
  const Part* open = worstPart(parts, [](const Part& part) { return part.open; });
  if (certain == nullptr && open == nullptr) {
    return noDeviceWork(
        fmt::format("{} calls nothing that reaches the device for these arguments.", op.str()));
  }
  const int base = certainBucket(parts, certain);
  const bool depends = open != nullptr && bucket(open->judgement.claim) > base;
  const Part& deciding = depends || certain == nullptr ? *open : *certain;
  const bool ready = !depends && base == bucket(Claim::NoDeviceWork);
  Judgement judgement;
  for (const Part& part : parts) {
    takePart(judgement, part, ready || &part == &deciding);
  }
  judgement.remedy = deciding.judgement.remedy;
  if (ready) {
    settleReady(judgement, op, parts, *worstPart(parts, [](const Part&) { return true; }));
  } else if (depends) {
    settleDepends(judgement, op, deciding);
  } else {
    judgement.claim = deciding.judgement.claim;
    judgement.decidedBy = deciding.judgement.decidedBy;
    judgement.reason = chained(op, deciding.expansion->child, deciding.judgement.reason);
  }
  return judgement;
}

}  // namespace neuroncheck::opdb
