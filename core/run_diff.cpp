// SPDX-License-Identifier: Apache-2.0
#include "core/run_diff.h"

#include <bit>
#include <map>

#include <fmt/format.h>

namespace neuroncheck {
namespace {

using Claims = std::map<std::string, std::pair<Claim, std::vector<std::string>>>;

/// What the database said of each case, by its first use.
Claims claimsOf(const RunRecord& record) {
  Claims out;
  for (const InputResult& input : record.inputs) {
    for (const ModelAssessment& judged : input.assessment.models) {
      for (const UseClaim& use : judged.uses) {
        for (const std::string& id : use.caseIds) {
          out.try_emplace(id, use.claim, use.evidence);
        }
      }
    }
  }
  return out;
}

bool sameBits(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() &&
         std::bit_cast<std::uint64_t>(a.value_or(0)) == std::bit_cast<std::uint64_t>(b.value_or(0));
}

void compareText(const char* what, const std::string& a, const std::string& b,
                 std::vector<std::string>& why) {
  if (a != b) {
    why.push_back(fmt::format("{}: '{}', now '{}'", what, a, b));
  }
}

void compareOutput(const OutputOutcome& a, const OutputOutcome& b, std::vector<std::string>& why) {
  if (a.rule != b.rule) {
    why.push_back(
        fmt::format("tolerance: {} was judged by '{}', now by '{}'", a.what, a.rule, b.rule));
  }
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : std::string("none");
  };
  if (!sameBits(a.maxAbs, b.maxAbs) || !sameBits(a.maxRatio, b.maxRatio) || a.wrong != b.wrong) {
    why.push_back(fmt::format(
        "error: {} has {} of {} wrong, now {} of {}; largest error {}, now {}; of its bound {}, "
        "now {}",
        a.what, a.wrong, a.elements, b.wrong, b.elements, text(a.maxAbs), text(b.maxAbs),
        text(a.maxRatio), text(b.maxRatio)));
  }
}

std::vector<std::string> whyOf(const Outcome& a, const Outcome& b) {
  std::vector<std::string> why;
  compareText("stage", a.stage, b.stage, why);
  compareText("cause", a.cause, b.cause, why);
  compareText("dispatch", a.dispatch, b.dispatch, why);
  compareText("ending", a.ending, b.ending, why);
  if (a.fallbacks != b.fallbacks) {
    why.push_back(fmt::format("fallbacks: {}, now {}", a.fallbacks.size(), b.fallbacks.size()));
  }
  if (a.attempts.size() != b.attempts.size()) {
    why.push_back(fmt::format("attempts: {}, now {}", a.attempts.size(), b.attempts.size()));
  }
  for (std::size_t i = 0; i < std::min(a.attempts.size(), b.attempts.size()); ++i) {
    const auto& left = a.attempts[i].outputs;
    const auto& right = b.attempts[i].outputs;
    for (std::size_t j = 0; j < std::min(left.size(), right.size()); ++j) {
      compareOutput(left[j], right[j], why);
    }
  }
  if (why.empty()) {
    compareText("message", a.message, b.message, why);
  }
  return why;
}

std::vector<std::string> unlikeOf(const RunRecord& a, const RunRecord& b) {
  std::vector<std::string> out;
  const auto compare = [&out](const char* what, const std::string& left, const std::string& right) {
    if (left != right) {
      out.push_back(fmt::format("{}: '{}', now '{}'", what, left, right));
    }
  };
  const auto device = [](const RunRecord& run) {
    return run.device + (run.simulated ? " (simulated)" : "");
  };
  compare("device", device(a), device(b));
  compare("profile", a.profile, b.profile);
  compare("release", a.target.release, b.target.release);
  compare("chip", a.target.chip, b.target.chip);
  compare("mode", std::string(name(a.target.mode)), std::string(name(b.target.mode)));
  compare("seed", std::to_string(a.seed), std::to_string(b.seed));
  compare("shard", a.shard, b.shard);
  compare("tool", a.tool, b.tool);
  compare("database", a.database, b.database);
  compare("torch", a.environment.torch, b.environment.torch);
  compare("backend", a.environment.backend, b.environment.backend);
  compare("compiler", a.environment.compiler, b.environment.compiler);
  compare("runtime", a.environment.runtime, b.environment.runtime);
  compare("driver", a.environment.driver, b.environment.driver);
  compare("host", a.environment.host, b.environment.host);
  return out;
}

}  // namespace

RunDiff diffRuns(const RunRecord& before, const RunRecord& after) {
  RunDiff out;
  out.unlike = unlikeOf(before, after);
  const Claims claimsBefore = claimsOf(before);
  const Claims claimsAfter = claimsOf(after);
  std::map<std::string, const Outcome*> second;
  for (const Outcome& outcome : after.outcomes) {
    second.emplace(outcome.id, &outcome);
  }
  for (const Outcome& a : before.outcomes) {
    const auto found = second.find(a.id);
    if (found == second.end()) {
      out.gone.push_back({.id = a.id, .text = a.text, .before = a.state, .why = {}});
      continue;
    }
    const Outcome& b = *found->second;
    second.erase(found);
    std::vector<std::string> why = whyOf(a, b);
    const auto left = claimsBefore.find(a.id);
    const auto right = claimsAfter.find(a.id);
    if (left != claimsBefore.end() && right != claimsAfter.end() && left->second != right->second) {
      why.push_back(fmt::format("evidence: claimed {}, now {}", name(left->second.first),
                                name(right->second.first)));
    }
    CaseDelta delta{
        .id = a.id, .text = a.text, .before = a.state, .after = b.state, .why = std::move(why)};
    if (a.state != b.state) {
      out.changed.push_back(std::move(delta));
    } else if (!delta.why.empty()) {
      out.drifted.push_back(std::move(delta));
    } else {
      ++out.same;
    }
  }
  for (const Outcome& b : after.outcomes) {
    if (second.contains(b.id)) {
      out.added.push_back({.id = b.id, .text = b.text, .after = b.state, .why = {}});
    }
  }
  return out;
}

}  // namespace neuroncheck
