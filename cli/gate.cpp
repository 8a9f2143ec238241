// SPDX-License-Identifier: Apache-2.0
#include "cli/gate.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/options.h"

namespace neuroncheck::cli {
namespace {

constexpr std::array<std::string_view, 4> kWords{"blocked", "unknown", "fallback", "unconfirmed"};

bool confirmed(const UseClaim& use) {
  return use.claim == Claim::NoDeviceWork || (!use.stale && use.confidence < Confidence::Low);
}

std::string_view wordOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::Blocked:
      return "blocked";
    case Verdict::Unknown:
      return "unknown";
    case Verdict::RunsWithFallback:
      return "fallback";
    case Verdict::ReadyUnconfirmed:
      return "unconfirmed";
    case Verdict::Ready:
      break;
  }
  return "";
}

}  // namespace

Result<std::set<std::string>> parseFailOn(std::string_view text) {
  std::set<std::string> words;
  bool none = false;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string word(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    std::erase(word, ' ');
    if (word.empty()) {
      continue;
    }
    if (word == "none") {
      none = true;
    } else if (const auto state = parseCaseState(word);
               std::ranges::find(kWords, word) != kWords.end() || (state && !isPass(*state))) {
      words.insert(std::move(word));
    } else {
      return fail(ErrorCode::Usage,
                  fmt::format("--fail-on '{}': the words are {}, the states of cases "
                              "that are no pass, or none alone",
                              word, fmt::join(kWords, ", ")));
    }
  }
  if (none == !words.empty()) {
    return fail(ErrorCode::Usage, none ? "--fail-on: 'none' cannot be joined with other words"
                                       : "--fail-on: give a word, or none");
  }
  return words;
}

std::set<std::string> wordsOf(const ModelAssessment& model) {
  std::set<std::string> words;
  const auto add = [&words](Verdict verdict) {
    if (const std::string_view word = wordOf(verdict); !word.empty()) {
      words.emplace(word);
    }
  };
  for (const UseClaim& use : model.uses) {
    add(verdictOf(use.claim, confirmed(use)));
  }
  for (const Finding& finding : model.findings) {
    add(verdictOf(finding.severity));
  }
  add(model.verdict);
  return words;
}

int exitCodeOf(const RunRecord& record, const std::set<std::string>& failOn) {
  int code = kExitOk;
  std::size_t uses = 0;
  bool read = false;
  for (const InputResult& input : record.inputs) {
    if (input.error) {
      code = combineExitCodes(code, exitCodeOf(input.error->code));
      continue;
    }
    // Tensors without a program have a verdict of their own, and no operator.
    read = read || !input.inventory.checkpoint;
    std::set<std::string> words;
    bool any = false;
    for (const ModelAssessment& judged : input.assessment.models) {
      uses += judged.uses.size();
      if (const Model* model = modelOf(input, judged);
          model == nullptr || decides(*model, judged)) {
        any = true;
        words.merge(wordsOf(judged));
      }
    }
    if (!any) {
      words.emplace(wordOf(Verdict::Unknown));  // methods without operators alone
    }
    for (const Finding& finding : input.assessment.fileFindings) {
      if (const std::string_view word = wordOf(verdictOf(finding.severity)); !word.empty()) {
        words.emplace(word);
      }
    }
    if (std::ranges::any_of(words,
                            [&](const std::string& word) { return failOn.contains(word); })) {
      code = combineExitCodes(code, kExitFindings);
    }
  }
  if (read && uses == 0) {
    code = combineExitCodes(code, kExitNothing);
  }
  return code;
}

int exitCodeOfRun(const RunRecord& record, const std::set<std::string>& failOn) {
  if (record.outcomes.empty()) {
    return kExitNothing;
  }
  const bool states = std::ranges::any_of(
      failOn, [](const std::string& word) { return parseCaseState(word).has_value(); });
  const bool fails = std::ranges::any_of(record.outcomes, [&](const Outcome& outcome) {
    return states ? failOn.contains(std::string(name(outcome.state)))
                  : !failOn.empty() && !isPass(outcome.state);
  });
  return fails ? kExitFindings : kExitOk;
}

}  // namespace neuroncheck::cli
