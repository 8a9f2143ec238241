// SPDX-License-Identifier: Apache-2.0
// The report of several inputs: one row per model, and what would unblock most of them.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/terminal_reporter.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownRanks = 10;
constexpr std::size_t kShownBlockers = 3;

void writeSummary(TerminalPage& page, const RunRecord& record,
                  const std::vector<ModelView>& views) {
  std::map<Verdict, std::size_t> counts;
  for (const ModelView& view : views) {
    ++counts[view.judged->verdict];
  }
  std::string text = counted(views.size(), "model", "models") + " in " +
                     counted(record.inputs.size(), "input", "inputs");
  std::string sep = ": ";
  for (const auto& [verdict, count] : counts) {
    text += fmt::format("{}{} {}", sep, count, name(verdict));
    sep = ", ";
  }
  const auto unread = std::count_if(
      record.inputs.begin(), record.inputs.end(),
      [](const InputResult& input) { return input.error || input.assessment.models.empty(); });
  if (unread > 0) {
    text += fmt::format("{}{} not read", sep, unread);
  }
  const Verdict worstWord = worstVerdict(record);
  page.line(page.inked(inkOf(worstWord), headline(worstWord)) + "  is the worst of " +
            counted(record.inputs.size(), "input", "inputs"));
  page.paragraph(2, text + ".");
  page.blank();
  writeTarget(page, record);
  page.field("Not checked", "whether models compile, run on the device, and agree in numbers");
}

/// What a model needs, most wanted first, cut after a few.
std::string blockersText(const RunRecord& record, const ModelView& view,
                         const std::vector<Blocker>& ranked) {
  std::vector<std::string> names;
  for (const Blocker& blocker : ranked) {
    if (std::find(blocker.models.begin(), blocker.models.end(),
                  modelLabel(*view.input, *view.judged)) != blocker.models.end()) {
      names.push_back(blocker.what);
    }
  }
  const std::size_t shown = record.inputs.empty() ? 0 : std::min(names.size(), kShownBlockers);
  std::string out = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) {
    out += fmt::format(", +{} more", names.size() - shown);
  }
  return out;
}

std::string weakestWord(const ModelView& view) {
  return std::string(name(view.judged->weakestConfidence)) +
         (view.judged->anyStale ? ", stale" : "");
}

void writeTable(TerminalPage& page, const RunRecord& record, std::vector<ModelView> views,
                const std::vector<Blocker>& ranked) {
  page.heading("MODELS");
  std::stable_sort(views.begin(), views.end(), [](const ModelView& a, const ModelView& b) {
    return a.judged->verdict > b.judged->verdict;
  });
  constexpr std::size_t kVerdict = 18;
  constexpr std::size_t kWeakest = 13;
  constexpr std::size_t kNumbers = 4 * 6;
  std::size_t label = 5;
  for (const ModelView& view : views) {
    label = std::max(label, columns(printable(view.label)));
  }
  const std::size_t fixed = 2 + kVerdict + 1 + kNumbers + 2 + kWeakest;
  label = std::min(label, page.width() > fixed + 12 ? page.width() - fixed - 1 : 12);
  const bool narrow = page.width() < fixed + 24;
  const std::size_t labelWidth =
      narrow ? std::min<std::size_t>(label, page.width() - 2 - kVerdict - 2 - kNumbers) : label;
  page.line(page.inked(
      Ink::Dim,
      fmt::format("  {} {}{:>6}{:>6}{:>6}{:>6}  {}", padded("verdict", kVerdict),
                  padded("model", labelWidth), "ok", "cpu", "no", "?", narrow ? "" : "weakest")));
  for (const ModelView& view : views) {
    const Tally tally = tallyOf(view.judged->counts);
    page.line(fmt::format(
        "  {} {}{:>6}{:>6}{:>6}{:>6}  {}",
        page.inked(inkOf(view.judged->verdict), padded(name(view.judged->verdict), kVerdict)),
        padded(shortenedLeft(printable(view.label), labelWidth), labelWidth), tally.native,
        tally.fallback, tally.refused, tally.open, narrow ? "" : weakestWord(view)));
    if (narrow) {
      page.line(page.inked(Ink::Dim, "      evidence: " + weakestWord(view)));
    }
    if (const std::string blockers = blockersText(record, view, ranked); !blockers.empty()) {
      page.line(page.inked(Ink::Dim,
                           "      " + shortened("needs " + printable(blockers), page.width() - 6)));
    }
  }
  page.paragraph(2,
                 "Uses: ok is native or decomposed, cpu runs on the host, no is refused or a view "
                 "whose writes would be lost, "
                 "? is open. Uses without device work are not counted.");
}

void writeRanking(TerminalPage& page, const std::vector<Blocker>& ranked) {
  if (ranked.empty()) {
    return;
  }
  page.heading("WHAT UNBLOCKS MOST");
  const std::size_t shown =
      page.verbosity() > 0 ? ranked.size() : std::min(ranked.size(), kShownRanks);
  std::size_t width = 4;
  for (std::size_t index = 0; index < shown; ++index) {
    width = std::max(width, columns(printable(ranked[index].what)));
  }
  width = std::min(width, page.width() - 2 - 2 * 12 - 20);
  page.line(page.inked(Ink::Dim, fmt::format("  {}{:>12}{:>12}  {}", padded("what", width),
                                             "alone holds", "of models", "claim")));
  for (std::size_t index = 0; index < shown; ++index) {
    const Blocker& blocker = ranked[index];
    page.line(fmt::format("  {}{:>12}{:>12}  {}",
                          padded(shortened(printable(blocker.what), width), width),
                          blocker.unblocks.size(), blocker.models.size(),
                          blocker.kind == "finding" ? "finding" : name(blocker.claim)));
  }
  if (shown < ranked.size()) {
    page.line(fmt::format("  +{} more (-v shows all)", ranked.size() - shown));
  }
  page.paragraph(2,
                 "\"Alone holds\" counts the models that would be ready, or ready but unconfirmed, "
                 "without this one.");
}

}  // namespace

void writePortfolio(TerminalPage& page, const RunRecord& record,
                    const std::vector<ModelView>& views) {
  const std::vector<Blocker> ranked = rankBlockers(record);
  writeSummary(page, record, views);
  if (!views.empty()) {
    writeTable(page, record, views, ranked);
  }
  writeRanking(page, ranked);
  writeUnread(page, record);
}

}  // namespace neuroncheck::report
