// SPDX-License-Identifier: Apache-2.0
// The claim of a use from what its case was seen to ask the device for (docs/claims.md).
#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/case_spec.h"
#include "opdb/claims_engine.h"
#include "opdb/claims_traced.h"

namespace neuroncheck::opdb {
namespace {

/// What no tensor can live on a device without: every backend has these, in whatever list.
constexpr auto kPlumbing = std::to_array<std::string_view>(
    {"aten::empty.memory_format", "aten::empty_strided", "aten::_copy_from",
     "aten::_copy_from_and_resize", "aten::as_strided", "aten::view", "aten::_reshape_alias",
     "aten::resize_", "aten::set_.source_Storage_storage_offset"});

bool isPlumbing(const OpName& op) {
  return std::ranges::find(kPlumbing, op.str()) != kPlumbing.end();
}

/// Equal calls are one part with a count.
std::vector<std::pair<const OpUse*, std::size_t>> distinct(const std::vector<OpUse>& arrivals) {
  std::vector<std::pair<const OpUse*, std::size_t>> out;
  std::map<std::string, std::size_t> places;
  for (const OpUse& arrival : arrivals) {
    const auto spec = caseOf(arrival);
    const std::string key =
        spec ? spec->str() : fmt::format("{} #{}", arrival.op.str(), arrival.id);
    const auto [place, isNew] = places.try_emplace(key, out.size());
    if (isNew) {
      out.emplace_back(&arrival, 0);
    }
    ++out[place->second].second;
  }
  return out;
}

bool restsOnRefusal(const Judgement& judgement, const RuleEngine& engine) {
  return std::ranges::any_of(judgement.used, [&engine](const std::string& id) {
    const auto found = engine.evidence().all().find(id);
    return found != engine.evidence().all().end() &&
           found->second.status == name(SupportStatus::Unsupported);
  });
}

Judgement judgeRaised(const OpName& op, const TracedCase& traced) {
  Judgement judgement;
  judgement.claim = Claim::Unsupported;
  judgement.reason = fmt::format(
      "{} raises on a backend that registers what this release does{}: {}", op.str(),
      traced.raisedAt.empty() || traced.raisedAt == op.str()
          ? ""
          : fmt::format(" (at {})", traced.raisedAt),
      traced.raised.substr(
          0, std::min(traced.raised.find('\n'), traced.raised.find(" This could be because"))));
  judgement.remedy =
      fmt::format("Replace {} by supported operators, or run that part on the CPU.", op.str());
  return judgement;
}

}  // namespace

Judgement judgeTraced(RuleEngine& engine, const OpUse& use, const TracedCase& traced) {
  // What is declared unsupported is, whatever the dispatcher would do with it.
  const Judgement& declared = engine.judge(use.op, factsOf(use, engine.target().chip));
  if (declared.claim == Claim::Unsupported && restsOnRefusal(declared, engine)) {
    return declared;
  }
  if (!traced.raised.empty()) {
    return judgeRaised(use.op, traced);
  }
  std::vector<Expansion> expansions;
  std::vector<Part> parts;
  const auto calls = distinct(traced.arrivals);
  expansions.reserve(calls.size());
  for (const auto& [arrival, count] : calls) {
    Judgement judgement = engine.judge(arrival->op, factsOf(*arrival, engine.target().chip));
    const bool answered = judgement.claim != Claim::Unknown && judgement.claim != Claim::Depends &&
                          bucket(judgement.claim) <= bucket(Claim::Native);
    if (isPlumbing(arrival->op) && !answered) {
      judgement = noDeviceWork(
          fmt::format("{} is part of every backend: memory and its metadata.", arrival->op.str()));
    }
    if (calls.size() == 1 && arrival->op == use.op) {
      return judgement;  // registered itself: its own answer, not that of a part
    }
    Expansion expansion;
    expansion.child = arrival->op;
    expansion.times = std::to_string(count);
    expansions.push_back(std::move(expansion));
    Part part;
    part.expansion = &expansions.back();
    part.judgement = std::move(judgement);
    parts.push_back(std::move(part));
  }
  return combine(use.op, parts);
}

}  // namespace neuroncheck::opdb
