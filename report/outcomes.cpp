// SPDX-License-Identifier: Apache-2.0
#include "report/outcomes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/summary.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

}  // namespace

OutcomeIndex outcomesById(const RunRecord& record) {
  OutcomeIndex out;
  for (const Outcome& outcome : record.outcomes) {
    out.emplace(outcome.id, &outcome);
  }
  return out;
}

RunAnswers answersOf(const UseClaim& use, const OutcomeIndex& outcomes) {
  for (const std::string& id : use.caseIds) {
    if (const auto found = outcomes.find(id); found != outcomes.end()) {
      return answersOf(found->second->state);
    }
  }
  return {};
}

std::vector<std::pair<CaseState, std::vector<const Outcome*>>> groupedOutcomes(
    const RunRecord& record) {
  std::vector<std::pair<CaseState, std::vector<const Outcome*>>> out;
  for (const Outcome& outcome : record.outcomes) {
    auto found = std::ranges::find(out, outcome.state, [](const auto& each) { return each.first; });
    if (found == out.end()) {
      found = out.insert(out.end(), {outcome.state, {}});
    }
    found->second.push_back(&outcome);
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.first != b.first && worse(a.first, b.first) == a.first;
  });
  return out;
}

std::string passedText(const RunRecord& record) {
  const auto passed = std::ranges::count_if(
      record.outcomes, [](const Outcome& outcome) { return isPass(outcome.state); });
  return fmt::format("{} of {} passed.", passed,
                     counted(record.outcomes.size(), "distinct case", "distinct cases"));
}

std::vector<std::string> runCautions(const RunRecord& record) {
  std::vector<std::string> out;
  if (record.simulated) {
    out.emplace_back(
        "The simulated device models documents, not silicon: nothing here is evidence "
        "about hardware.");
  }
  if (!record.shard.empty()) {
    out.push_back(fmt::format("Only shard {} of the plan is in it.", record.shard));
  }
  const auto open = std::ranges::count_if(record.outcomes, isUnfinished);
  if (open > 0) {
    out.push_back(fmt::format("The run did not end: {} not run to the end.",
                              counted(static_cast<std::size_t>(open), "case was", "cases were")));
  }
  return out;
}

const OutputOutcome* decidingOutput(const Outcome& outcome) {
  for (const AttemptOutcome& attempt : outcome.attempts) {
    for (const OutputOutcome& output : attempt.outputs) {
      if (output.state == outcome.state) {
        return &output;
      }
    }
  }
  return nullptr;
}

std::string reproCommand(const RunRecord& record, const Outcome& outcome) {
  const Target& target = record.target;
  std::string flags = fmt::format("--device {} --seed {}", quoted(record.device), record.seed);
  if (!target.release.empty()) {
    flags += fmt::format(" --release {} --chip {} --mode {}", quoted(target.release),
                         quoted(target.chip), name(target.mode));
  }
  return fmt::format("printf '%s\\n' {} > one.cases && neuron-check run one.cases {}",
                     quoted(outcome.text), flags);
}

std::vector<std::pair<std::string, std::string>> openQuestions(const RunRecord& record) {
  constexpr std::array<std::pair<const char*, Answer RunAnswers::*>, 3> kQuestions{
      {{"compiles", &RunAnswers::compiles},
       {"runs on the device", &RunAnswers::runsOnDevice},
       {"numbers agree", &RunAnswers::numbersAgree}}};
  const OutcomeIndex outcomes = outcomesById(record);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [question, answer] : kQuestions) {
    if (record.device == "none") {
      out.emplace_back(
          question,
          "no device was used, this is a reading of the file against the operator database");
      continue;
    }
    std::size_t all = 0;
    std::size_t open = 0;
    for (const ModelView& view : modelViews(record)) {
      for (const UseClaim& use : view.judged->uses) {
        if (use.claim != Claim::NoDeviceWork) {
          ++all;
          open += answersOf(use, outcomes).*answer == Answer::NotChecked ? 1 : 0;
        }
      }
    }
    if (open > 0) {
      out.emplace_back(question, fmt::format("of {} of {} no case ran on {}, or what came of it "
                                             "does not say",
                                             open, counted(all, "use", "uses"), record.device));
    }
  }
  return out;
}

}  // namespace neuroncheck::report
