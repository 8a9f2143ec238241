// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "numerics/rules/op_rules.h"

namespace neuroncheck::conformance {
namespace {

constexpr std::uint64_t kBatchBytes = std::uint64_t{512} << 20;

/// States that a second look in a fresh process may change.
bool isSurprising(CaseState state) {
  switch (state) {
    case CaseState::Pass:
    case CaseState::PassWeak:
    case CaseState::PassFallback:
    case CaseState::NotComparable:
    case CaseState::Mistrusted:
    case CaseState::Unsupported:
    case CaseState::ReferenceError:
    case CaseState::Degraded:
    case CaseState::AsUpstream:
    case CaseState::NotRun:
      return false;
    default:
      return true;
  }
}

/// A pass whose numbers are the CPU's is none.
Outcome withFallback(Outcome out) {
  if (!out.fallbacks.empty() && isPass(out.state)) {
    out.state = CaseState::PassFallback;
    out.cause = "cpu-fallback";
    out.message =
        "the numbers are the CPU's: the device computed nothing of " + out.fallbacks.front();
  }
  return out;
}

/// Every attempt was right and only not trusted because its truth was one number throughout, and
/// that number was another one each time: what was not computed cannot follow it.
bool followsConstants(const std::vector<AttemptOutcome>& attempts) {
  if (attempts.size() < 2) {
    return false;
  }
  const std::size_t outputs = attempts.front().outputs.size();
  for (const AttemptOutcome& attempt : attempts) {
    const bool right = std::ranges::all_of(attempt.outputs, [](const OutputOutcome& output) {
      return isPass(output.state) || output.state == CaseState::NotComparable ||
             (output.state == CaseState::Mistrusted && output.wrong == 0 && output.constant);
    });
    if (!right || attempt.outputs.size() != outputs) {
      return false;
    }
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    const OutputOutcome& first = attempts.front().outputs[i];
    const bool untrusted = first.state == CaseState::Mistrusted;
    const bool moves = std::ranges::any_of(attempts, [&](const AttemptOutcome& attempt) {
      return attempt.outputs[i].constant != first.constant;
    });
    if (untrusted && !moves) {
      return false;
    }
  }
  return true;
}

/// Two machines that both add a long sum differ somewhere: one that never does was not at work.
bool isTheCpus(const AttemptOutcome& attempt) {
  return std::ranges::any_of(attempt.outputs, &OutputOutcome::identicalToCpu);
}

/// The outcome of a case from its attempts. A fill that is not trusted or not comparable does not
/// hide one that is.
Outcome combine(const PlannedCase& planned, std::vector<UnitOutcome> units, bool onCpu) {
  Outcome out = outcomeOf(planned);
  out.runs = 1;
  const UnitOutcome* decisive = nullptr;
  for (const UnitOutcome& unit : units) {
    const bool says = unit.state != CaseState::Mistrusted &&
                      unit.state != CaseState::NotComparable && unit.state != CaseState::NotRun;
    const bool said = decisive != nullptr && decisive->state != CaseState::Mistrusted &&
                      decisive->state != CaseState::NotComparable &&
                      decisive->state != CaseState::NotRun;
    if (decisive == nullptr || (says && !said) ||
        (says == said && worse(unit.state, decisive->state) == unit.state &&
         unit.state != decisive->state)) {
      decisive = &unit;
    }
  }
  if (decisive != nullptr) {
    out.state = decisive->state;
    out.stage = decisive->stage;
    out.cause = decisive->cause;
    out.message = decisive->message;
    out.ending = decisive->ending;
    out.stderrTail = decisive->stderrTail;
  }
  for (UnitOutcome& unit : units) {
    out.seconds += unit.seconds;
    for (std::string& text : unit.fallbacks) {
      if (std::ranges::find(out.fallbacks, text) == out.fallbacks.end()) {
        out.fallbacks.push_back(std::move(text));
      }
    }
    std::ranges::move(unit.notes, std::back_inserter(out.notes));
    out.dispatch = unit.dispatch.empty() ? out.dispatch : unit.dispatch;
    if (!onCpu && unit.attempt && isTheCpus(*unit.attempt)) {
      out.fallbacks.push_back(out.op + " (a long sum, bit for bit the CPU's)");
    }
    if (unit.attempt) {
      out.attempts.push_back(*std::move(unit.attempt));
    }
  }
  if (out.state == CaseState::Mistrusted && followsConstants(out.attempts)) {
    out.state = CaseState::Pass;
    out.stage = "judge";
    out.message = "one number throughout, another one in each attempt, each right";
    return withFallback(std::move(out));
  }
  if (out.cause.empty()) {
    for (const AttemptOutcome& attempt : out.attempts) {
      for (const OutputOutcome& output : attempt.outputs) {
        if (output.state == out.state && out.cause.empty()) {
          out.cause = output.cause;
          out.message = output.reason;
        }
      }
    }
  }
  return withFallback(std::move(out));
}

class Run {
 public:
  Run(const Plan& plan, const RunSettings& settings)
      : plan_(plan), settings_(settings), outcomes_(plan.cases.size()) {
    std::ranges::transform(plan.cases, outcomes_.begin(), outcomeOf);
  }

  Result<std::vector<Outcome>> run() {
    const auto lanes = static_cast<std::size_t>(std::max(1, settings_.lanes));
    std::vector<std::thread> threads;
    std::vector<Result<void>> ended(lanes);
    for (std::size_t i = 1; i < lanes; ++i) {
      threads.emplace_back([this, i, &ended] { ended[i] = work(); });
    }
    ended[0] = work();
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (Result<void>& one : ended) {
      NEURONCHECK_TRY_VOID(one);
    }
    return std::move(outcomes_);
  }

 private:
  [[nodiscard]] bool onCpu() const { return settings_.device.words == "cpu"; }

  std::vector<Unit> unitsOf(std::size_t index) const {
    const PlannedCase& planned = plan_.cases[index];
    const OpName& op = planned.spec.steps.back().op;
    std::vector<Unit> out;
    for (const FillChoice& choice : fillsFor(planned.spec, numerics::opRules().find(op))) {
      out.push_back({.planned = &planned,
                     .index = index,
                     .choice = choice,
                     .seed = attemptSeed(planned.spec, choice.str(), settings_.seed)});
    }
    return out;
  }

  /// The next cases, as many as fit one batch; empty when there are none.
  std::vector<std::size_t> nextCases() {
    const std::scoped_lock lock(queueMutex_);
    std::vector<std::size_t> out;
    std::size_t units = 0;
    std::uint64_t bytes = 0;
    while (next_ < plan_.cases.size() && !failed_ && !(settings_.stopped && settings_.stopped())) {
      const std::size_t more = unitsOf(next_).size();
      const std::uint64_t size = Lane::bytesOf(plan_.cases[next_].spec);
      if (!out.empty() && (units + more > settings_.batch || bytes + size * more > kBatchBytes)) {
        break;
      }
      units += more;
      bytes += size * more;
      out.push_back(next_++);
    }
    return out;
  }

  Result<void> work() {
    const auto failed = [this](Error error) -> Result<void> {
      const std::scoped_lock lock(queueMutex_);
      failed_ = true;
      return tl::unexpected(std::move(error));
    };
    auto device = settings_.makeWorker(true);
    auto reference = settings_.makeWorker(false);
    if (!device || !reference) {
      return failed(device ? reference.error() : device.error());
    }
    auto lane = Lane::make(settings_.device, *std::move(device), *std::move(reference),
                           [this](const OpName& op) {
                             const std::scoped_lock lock(schemaMutex_);
                             return settings_.findSchema(op);
                           });
    if (!lane) {
      return failed(lane.error());
    }
    while (true) {
      const std::vector<std::size_t> cases = nextCases();
      if (cases.empty()) {
        return {};
      }
      if (auto done = runCases(*lane, cases); !done) {
        return failed(std::move(done).error());
      }
    }
  }

  Result<void> runCases(Lane& lane, const std::vector<std::size_t>& cases) {
    if (settings_.started) {
      const std::scoped_lock lock(finishedMutex_);
      settings_.started(cases);
    }
    std::vector<Unit> units;
    for (const std::size_t index : cases) {
      std::ranges::move(unitsOf(index), std::back_inserter(units));
    }
    NEURONCHECK_TRY(std::vector<UnitOutcome> results, lane.run(units));
    std::size_t at = 0;
    for (const std::size_t index : cases) {
      std::vector<UnitOutcome> own;
      while (at < units.size() && units[at].index == index) {
        own.push_back(std::move(results[at++]));
      }
      Outcome outcome = combine(plan_.cases[index], std::move(own), onCpu());
      if (settings_.confirm && isSurprising(outcome.state)) {
        NEURONCHECK_TRY_VOID(confirm(lane, index, outcome));
      }
      const std::scoped_lock lock(finishedMutex_);
      outcomes_[index] = std::move(outcome);
      if (settings_.finished) {
        settings_.finished(outcomes_[index]);
      }
    }
    return {};
  }

  Result<Outcome> alone(Lane& lane, std::size_t index) {
    const std::vector<Unit> units = unitsOf(index);
    NEURONCHECK_TRY(std::vector<UnitOutcome> results, lane.run(units));
    return combine(plan_.cases[index], std::move(results), onCpu());
  }

  /// Runs what went wrong again in a fresh process: the same state stands; another one is looked at
  /// twice more, to tell chance from what ran before it.
  Result<void> confirm(Lane& lane, std::size_t index, Outcome& outcome) {
    NEURONCHECK_TRY(Outcome again, alone(lane, index));
    outcome.runs = 2;
    if (again.state == outcome.state) {
      return {};
    }
    std::vector<CaseState> seen{again.state};
    for (int i = 0; i < 2; ++i) {
      NEURONCHECK_TRY(const Outcome more, alone(lane, index));
      seen.push_back(more.state);
      ++outcome.runs;
    }
    const bool steady = std::ranges::all_of(seen, [&](CaseState s) { return s == seen.front(); });
    const CaseState first = outcome.state;
    const int runs = outcome.runs;
    const std::string message = outcome.message;
    outcome = std::move(again);
    outcome.runs = runs;
    outcome.state = steady ? CaseState::OrderDependent : CaseState::Flake;
    outcome.cause = fmt::format("{} first", name(first));
    outcome.message =
        steady ? fmt::format("{} after other cases ({}), {} three times in a process of its own",
                             name(first), message, name(seen.front()))
               : fmt::format("{}, then {}, {}, {} in processes of its own", name(first),
                             name(seen[0]), name(seen[1]), name(seen[2]));
    return {};
  }

  const Plan& plan_;
  const RunSettings& settings_;
  std::vector<Outcome> outcomes_;
  std::mutex queueMutex_, schemaMutex_, finishedMutex_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<std::vector<Outcome>> runPlan(const Plan& plan, const RunSettings& settings) {
  return Run(plan, settings).run();
}

}  // namespace neuroncheck::conformance
