// SPDX-License-Identifier: Apache-2.0
#include "runstore/merge.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace neuroncheck::runstore {
namespace {

constexpr std::string_view kSeparator = ", ";

std::uint64_t bitsOf(double value) { return std::bit_cast<std::uint64_t>(value); }

std::string numberText(const std::optional<double>& value) {
  return value ? fmt::format("{:016x}", bitsOf(*value)) : "-";
}

/// Every field but the time and what asks for the case: equal exactly when two outcomes are.
std::string fingerprint(const Outcome& outcome) {
  std::string out = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", outcome.text, outcome.op,
                                name(outcome.state), outcome.stage, outcome.cause, outcome.message,
                                outcome.dispatch, outcome.ending, outcome.stderrTail,
                                fmt::join(outcome.fallbacks, "|"), fmt::join(outcome.notes, "|"));
  out += fmt::format("|{}", outcome.runs);
  for (const AttemptOutcome& attempt : outcome.attempts) {
    out += fmt::format("\n{}|{}|{}", attempt.fill, attempt.seed, name(attempt.state));
    for (const OutputOutcome& each : attempt.outputs) {
      out +=
          fmt::format("\n\t{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{:x}|{:x}|{:x}|{:x}|{}|{}",
                      each.what, name(each.state), each.cause, each.reason, each.rule,
                      each.elements, each.wrong, numberText(each.maxAbs), numberText(each.maxRel),
                      numberText(each.maxUlp), numberText(each.maxRatio), each.worstIndex,
                      bitsOf(each.worstActual), bitsOf(each.worstTruth), bitsOf(each.rtolNeeded),
                      bitsOf(each.atolNeeded), each.identicalToCpu, numberText(each.constant));
    }
  }
  return out;
}

/// Whether `a` is kept of two outcomes of one case.
bool wins(const Outcome& a, const Outcome& b) {
  if (isUnfinished(a) != isUnfinished(b)) {
    return !isUnfinished(a);
  }
  if (a.state != b.state) {
    return worse(a.state, b.state) == a.state;
  }
  return std::tuple(fingerprint(a), bitsOf(a.seconds)) <
         std::tuple(fingerprint(b), bitsOf(b.seconds));
}

std::vector<std::string> united(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::set<std::string> all(a.begin(), a.end());
  all.insert(b.begin(), b.end());
  return {all.begin(), all.end()};
}

void addOutcome(std::map<std::string, Outcome>& all, const Outcome& outcome, Merged& out) {
  const auto [place, isNew] = all.try_emplace(outcome.id, outcome);
  if (isNew) {
    place->second.models = united(outcome.models, {});
    return;
  }
  Outcome& there = place->second;
  const bool taken = wins(outcome, there);
  const Outcome& kept = taken ? outcome : there;
  const Outcome& dropped = taken ? there : outcome;
  // A case that one run only planned is no second result.
  if (!isUnfinished(dropped)) {
    out.duplicates.push_back({.id = kept.id,
                              .text = kept.text,
                              .kept = kept.state,
                              .dropped = dropped.state,
                              .same = fingerprint(kept) == fingerprint(dropped)});
  }
  const auto uses = std::max(there.uses, outcome.uses);
  auto models = united(there.models, outcome.models);
  if (taken) {
    there = outcome;
  }
  there.uses = uses;
  there.models = std::move(models);
}

std::vector<Outcome> mergeOutcomes(const RunRecord& a, const RunRecord& b, Merged& out) {
  std::map<std::string, Outcome> all;
  for (const RunRecord* run : {&a, &b}) {
    for (const Outcome& outcome : run->outcomes) {
      addOutcome(all, outcome, out);
    }
  }
  std::vector<Outcome> sorted;
  for (auto& [id, outcome] : all) {
    sorted.push_back(std::move(outcome));
  }
  std::ranges::sort(sorted, {}, [](const Outcome& outcome) {
    return std::tie(outcome.op, outcome.text, outcome.id);
  });
  return sorted;
}

std::vector<InputResult> mergeInputs(const RunRecord& a, const RunRecord& b) {
  std::vector<InputResult> out;
  std::set<std::pair<std::string, std::string>> seen;
  for (const RunRecord* run : {&a, &b}) {
    for (const InputResult& input : run->inputs) {
      if (seen.emplace(input.inventory.path, input.inventory.sha256).second) {
        out.push_back(input);
      }
    }
  }
  return out;
}

std::vector<NotChecked> mergeNotRun(const RunRecord& a, const RunRecord& b) {
  const auto key = [](const NotChecked& entry) {
    return std::tie(entry.what, entry.why, entry.how);
  };
  std::vector<NotChecked> out = a.notRun;
  out.insert(out.end(), b.notRun.begin(), b.notRun.end());
  std::ranges::sort(out, {}, key);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  return out;
}

std::vector<std::string> partsOf(std::string_view shard) {
  std::vector<std::string> out;
  while (!shard.empty()) {
    const std::size_t end = std::min(shard.find(kSeparator), shard.size());
    out.emplace_back(shard.substr(0, end));
    shard.remove_prefix(std::min(end + kSeparator.size(), shard.size()));
  }
  return out;
}

/// A whole plan with a part of one is a whole plan.
std::string mergeShards(const std::string& a, const std::string& b) {
  return a.empty() || b.empty()
             ? std::string()
             : fmt::format("{}", fmt::join(united(partsOf(a), partsOf(b)), kSeparator));
}

class Words {
 public:
  explicit Words(std::vector<std::string>& warnings) : warnings_(warnings) {}
  std::string operator()(const char* what, const std::string& a, const std::string& b) {
    if (a == b) {
      return a;
    }
    warnings_.push_back(fmt::format("runs of unlike {}: '{}' and '{}'", what, a, b));
    return "mixed";
  }

 private:
  std::vector<std::string>& warnings_;
};

Result<void> checkAlike(const RunRecord& a, const RunRecord& b) {
  const auto target = [](const Target& t) {
    return fmt::format("{} {} (answered by {}), {}, {}", t.product, t.release, t.answeringRelease,
                       t.chip, name(t.mode));
  };
  const auto device = [](const RunRecord& run) {
    return run.device + (run.simulated ? " (simulated)" : "");
  };
  const auto same = [](const char* what, const std::string& left,
                       const std::string& right) -> Result<void> {
    if (left == right) {
      return {};
    }
    return fail(ErrorCode::Usage,
                fmt::format("runs of unlike {} are not one run: '{}' and '{}'", what, left, right));
  };
  NEURONCHECK_TRY_VOID(same("devices", device(a), device(b)));
  NEURONCHECK_TRY_VOID(same("profiles", a.profile, b.profile));
  NEURONCHECK_TRY_VOID(same("seeds", std::to_string(a.seed), std::to_string(b.seed)));
  return same("targets", target(a.target), target(b.target));
}

}  // namespace

Result<Merged> merge(const RunRecord& a, const RunRecord& b) {
  NEURONCHECK_TRY_VOID(checkAlike(a, b));
  Merged out;
  Words words(out.warnings);
  RunRecord& record = out.record;
  record.tool = words("versions of the tool", a.tool, b.tool);
  record.command =
      a.command == b.command ? a.command : std::vector<std::string>{"neuron-check", "merge"};
  record.started = std::min(a.started, b.started);
  record.finished =
      a.finished.empty() || b.finished.empty() ? std::string() : std::max(a.finished, b.finished);
  record.target = a.target;
  record.target.releaseDefaulted = a.target.releaseDefaulted && b.target.releaseDefaulted;
  record.target.chipDefaulted = a.target.chipDefaulted && b.target.chipDefaulted;
  record.target.modeDefaulted = a.target.modeDefaulted && b.target.modeDefaulted;
  record.database = words("databases", a.database, b.database);
  record.device = a.device;
  record.simulated = a.simulated;
  record.seed = a.seed;
  record.profile = a.profile;
  record.shard = mergeShards(a.shard, b.shard);
  const Environment& left = a.environment;
  const Environment& right = b.environment;
  record.environment = {.torch = words("torch", left.torch, right.torch),
                        .backend = words("backend", left.backend, right.backend),
                        .compiler = words("compiler", left.compiler, right.compiler),
                        .runtime = words("runtime", left.runtime, right.runtime),
                        .driver = words("driver", left.driver, right.driver),
                        .chip = words("chip", left.chip, right.chip),
                        .logicalCore = words("logical cores", left.logicalCore, right.logicalCore),
                        .host = words("host", left.host, right.host)};
  record.inputs = mergeInputs(a, b);
  record.notRun = mergeNotRun(a, b);
  record.outcomes = mergeOutcomes(a, b, out);
  return out;
}

std::vector<std::string> missingShards(const std::string& shard) {
  std::vector<std::string> out;
  std::set<std::string> counts;
  const std::vector<std::string> parts = partsOf(shard);
  for (const std::string& part : parts) {
    counts.insert(part.substr(std::min(part.find('/') + 1, part.size())));
  }
  if (counts.size() > 1) {
    return {fmt::format("the whole of any one plan: shards of {}", fmt::join(counts, " and of "))};
  }
  int count = 0;
  for (const std::string& text : counts) {
    std::from_chars(text.data(), text.data() + text.size(), count);
  }
  constexpr int kMost = 65536;  // a file from elsewhere may state any count
  for (int i = 1; i <= std::min(count, kMost); ++i) {
    std::string part = fmt::format("{}/{}", i, count);
    if (std::ranges::find(parts, part) == parts.end()) {
      out.push_back(std::move(part));
    }
  }
  return out;
}

}  // namespace neuroncheck::runstore
