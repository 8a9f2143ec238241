// SPDX-License-Identifier: Apache-2.0
// The report of several inputs: one row per model, and what would unblock most of them.
#include <algorithm>

#include <fmt/format.h>

#include "report/tally.h"
#include "report/terminal_reporter.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownRanks = 10;
constexpr std::size_t kShownBlockers = 3;

/// What stands first in the table: the worst verdict; last what has none.
std::pair<bool, Verdict> orderOf(const ModelView& view) {
  return {decides(*view.model, *view.judged), view.judged->verdict};
}

void writeSummary(TerminalPage& page, const RunRecord& record,
                  const std::vector<ModelView>& views) {
  std::map<std::pair<bool, Verdict>, std::size_t> counts;
  for (const ModelView& view : views) {
    ++counts[orderOf(view)];
  }
  std::string text = counted(views.size(), "model", "models") + " in " +
                     counted(record.inputs.size(), "input", "inputs");
  std::string sep = ": ";
  for (const auto& [order, count] : counts) {
    text += fmt::format("{}{} {}", sep, count, order.first ? name(order.second) : "no operator");
    sep = ", ";
  }
  const auto unread = std::ranges::count_if(record.inputs, [](const InputResult& input) {
    return input.error || input.assessment.models.empty();
  });
  if (unread > 0) {
    text += fmt::format("{}{} not read", sep, unread);
  }
  const Verdict worstWord = worstVerdict(record);
  page.line(page.inked(inkOf(worstWord), headline(worstWord)) + "  is the worst verdict of " +
            counted(record.inputs.size(), "input", "inputs"));
  page.paragraph(2, text + ".");
  page.blank();
  writeTarget(page, record);
  if (record.device == "none") {
    page.field("Not checked", "whether models compile, run on the device, and agree in numbers");
  }
  for (const auto& [question, why] : openQuestions(record)) {
    if (record.device != "none") {
      page.field("Not checked", question + ": " + why);
    }
  }
}

/// What stands in the way of a model, worst first: as many as fit, at most a few, at least one.
/// Titles of findings only where there is room for them; the ranking below has them.
std::string blockersText(const ModelView& view, const std::vector<Blocker>& ranked,
                         std::size_t room) {
  const auto blockers = blockersOf(view, ranked);
  const auto first = [&blockers](std::size_t shown, bool titles) {
    std::string out;
    for (std::size_t index = 0; index < shown; ++index) {
      const Blocker& one = *blockers[index];
      out += (index == 0 ? "in the way: " : ", ") + printable(one.what) +
             (titles && !one.title.empty() ? " (" + printable(one.title) + ")" : "");
    }
    const std::size_t rest = blockers.size() - shown;
    return rest == 0 ? out : out + fmt::format(", +{} more", rest);
  };
  std::size_t shown = std::min(blockers.size(), kShownBlockers);
  if (shown == 0) {
    return "";
  }
  if (std::string whole = first(shown, true); columns(whole) <= room) {
    return whole;
  }
  while (shown > 1 && columns(first(shown, false)) > room) {
    --shown;
  }
  return first(shown, false);
}

std::string weakestWord(const ModelView& view) {
  return std::string(name(view.judged->weakestConfidence)) +
         (view.judged->anyStale ? ", stale" : "");
}

/// The folder that all files are in, with its slash; empty when they share none.
std::string commonFolder(const std::vector<ModelView>& views) {
  std::string folder = views.front().label;
  for (const ModelView& view : views) {
    const std::string& path = view.input->inventory.path;
    const auto end = std::ranges::mismatch(folder, path).in1;
    folder.erase(end, folder.end());
  }
  const std::size_t slash = folder.rfind('/');
  return slash == std::string::npos ? "" : folder.substr(0, slash + 1);
}

/// Columns of the model table.
struct ModelTable {
  static constexpr std::size_t kVerdict = 18;
  static constexpr std::size_t kWeakest = 13;
  static constexpr std::size_t kNumbers = 4UL * 5;
  std::size_t label = 5;
  bool narrow = false;  ///< the evidence has no column of its own

  ModelTable(std::size_t width, std::size_t longestLabel) {
    constexpr std::size_t kFixed = 2 + kVerdict + 1 + kNumbers;
    constexpr std::size_t kUsefulLabel = 22;
    narrow = width < kFixed + 2 + kWeakest + std::min(longestLabel, kUsefulLabel);
    const std::size_t room = width - kFixed - (narrow ? 0 : 2 + kWeakest);
    label = std::max<std::size_t>(5, std::min(longestLabel, room));
  }
};

void writeModelRow(TerminalPage& page, const ModelTable& table, const ModelView& view,
                   const std::string& label, const std::vector<Blocker>& ranked) {
  const Tally tally = effectiveTally(view);
  page.line(fmt::format("  {} {}{:>5}{:>5}{:>5}{:>5}  {}",
                        page.inked(inkOf(view), padded(verdictWord(view), ModelTable::kVerdict)),
                        padded(shortenedLeft(label, table.label), table.label), tally.native,
                        tally.fallback, tally.refused, tally.open,
                        table.narrow ? "" : weakestWord(view)));
  std::string second = table.narrow ? "evidence " + weakestWord(view) : "";
  const std::size_t room = page.width() - 6 - std::min(page.width() - 6, columns(second) + 2);
  if (const std::string blockers = blockersText(view, ranked, room); !blockers.empty()) {
    second += (second.empty() ? "" : "; ") + blockers;
  }
  if (!second.empty()) {
    page.line(page.inked(Ink::Dim, "      " + shortened(second, page.width() - 6)));
  }
}

void writeTable(TerminalPage& page, std::vector<ModelView> views,
                const std::vector<Blocker>& ranked) {
  std::ranges::stable_sort(
      views, [](const ModelView& a, const ModelView& b) { return orderOf(a) > orderOf(b); });
  const std::string folder = commonFolder(views);
  std::vector<std::string> labels;
  std::size_t longest = 0;
  for (const ModelView& view : views) {
    labels.push_back(printable(view.label.substr(folder.size())));
    longest = std::max(longest, columns(labels.back()));
  }
  const ModelTable table(page.width(), longest);
  page.heading(folder.empty() ? "MODELS"
                              : "MODELS in " + shortenedLeft(printable(folder), page.width() - 10));
  page.line(page.inked(
      Ink::Dim, fmt::format("  {} {}{:>5}{:>5}{:>5}{:>5}  {}",
                            padded("verdict", ModelTable::kVerdict), padded("model", table.label),
                            "ok", "cpu", "no", "?", table.narrow ? "" : "weakest")));
  for (std::size_t index = 0; index < views.size(); ++index) {
    writeModelRow(page, table, views[index], labels[index], ranked);
  }
  page.paragraph(2,
                 "Uses: ok is native or decomposed, cpu runs on the host, no is refused, by its "
                 "claim or by a finding of severity error, or a view whose writes would be lost, ? "
                 "is not known. Uses without device work are not counted.");
}

void writeRanking(TerminalPage& page, const std::vector<Blocker>& ranked) {
  if (ranked.empty()) {
    return;
  }
  page.heading("WHAT UNBLOCKS MOST");
  const std::size_t shown =
      page.verbosity() > 0 ? ranked.size() : std::min(ranked.size(), kShownRanks);
  constexpr std::size_t kNumber = 11;
  std::size_t width = 4;
  for (std::size_t index = 0; index < shown; ++index) {
    width = std::max(width, columns(printable(ranked[index].what)));
  }
  width = std::min(width, page.width() - 2 - 2 * kNumber - 2 - 17);
  page.line(page.inked(Ink::Dim, fmt::format("  {}{:>11}{:>11}  {}", padded("what", width), "alone",
                                             "of models", "claim")));
  for (std::size_t index = 0; index < shown; ++index) {
    const Blocker& blocker = ranked[index];
    page.line(fmt::format(
        "  {}{:>11}{:>11}  {}", padded(shortened(printable(blocker.what), width), width),
        blocker.unblocks.size(), blocker.models.size(),
        blocker.title.empty()
            ? std::string(name(blocker.claim))
            : shortened(printable(blocker.title), page.width() - width - 2 * kNumber - 4)));
  }
  if (shown < ranked.size()) {
    page.line(fmt::format("  +{} more (-v shows all)", ranked.size() - shown));
  }
  page.paragraph(
      2,
      "Refusals come first, then what is not known, then what runs on the CPU. \"alone\" "
      "counts the models that would be ready, or ready but unconfirmed, without this "
      "one.");
}

}  // namespace

void writePortfolio(TerminalPage& page, const RunRecord& record,
                    const std::vector<ModelView>& views) {
  const std::vector<Blocker> ranked = blockersByWorst(record);
  writeSummary(page, record, views);
  if (!views.empty()) {
    writeTable(page, views, ranked);
  }
  writeRanking(page, ranked);
  writeUnread(page, record);
}

}  // namespace neuroncheck::report
