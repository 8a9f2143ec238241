// SPDX-License-Identifier: Apache-2.0
// What a run on a device found.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/outcomes.h"
#include "report/terminal_reporter.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownCases = 12;

Ink inkOf(CaseState state) {
  if (state == CaseState::Pass) {
    return Ink::Good;
  }
  switch (state) {
    case CaseState::PassWeak:
    case CaseState::PassFallback:
    case CaseState::NotComparable:
    case CaseState::Mistrusted:
    case CaseState::NotRun:
    case CaseState::Skip:
    case CaseState::ReferenceError:
      return Ink::Warning;
    default:
      return Ink::Bad;
  }
}

/// How bad a group of states is, for the order of the page.
int rankOf(CaseState state) {
  const Ink ink = inkOf(state);
  return ink == Ink::Bad ? 0 : ink == Ink::Warning ? 1 : 2;
}

std::string usesText(const Outcome& outcome) {
  return outcome.uses == 0
             ? std::string()
             : fmt::format(", {}", counted(static_cast<std::size_t>(outcome.uses), "use", "uses"));
}

void writeCase(TerminalPage& page, const Outcome& outcome) {
  page.paragraph(4, fmt::format("{}{}", outcome.text, usesText(outcome)), 2);
  std::string why = outcome.message;
  if (!outcome.cause.empty() && why.find(outcome.cause) == std::string::npos) {
    why = outcome.cause + (why.empty() ? "" : ": " + why);
  }
  if (!why.empty()) {
    page.paragraph(8, why);
  }
  const OutputOutcome* worst = decidingOutput(outcome);
  if (worst != nullptr && worst->worstIndex >= 0) {
    page.paragraph(8, fmt::format("{}: {} of {} wrong, worst at {}: {} where it should be {}",
                                  worst->what, worst->wrong, worst->elements, worst->worstIndex,
                                  worst->worstActual, worst->worstTruth));
  }
  for (const std::string& note : outcome.notes) {
    page.paragraph(8, note);
  }
}

void writeGroup(TerminalPage& page, CaseState state, const std::vector<const Outcome*>& cases) {
  page.line("  " + page.inked(inkOf(state), name(state)) + "  " +
            counted(cases.size(), "case", "cases"));
  if (state == CaseState::Pass && page.verbosity() == 0) {
    return;
  }
  const std::size_t shown =
      page.verbosity() > 0 ? cases.size() : std::min(cases.size(), kShownCases);
  for (std::size_t i = 0; i < shown; ++i) {
    writeCase(page, *cases[i]);
  }
  if (shown < cases.size()) {
    page.paragraph(4, fmt::format("+{} more (-v shows all)", cases.size() - shown));
  }
}

}  // namespace

void writeRun(TerminalPage& page, const RunRecord& record) {
  if (record.device == "none") {
    return;
  }
  page.heading(record.simulated ? "RUN ON A SIMULATED DEVICE (no hardware ran anything)"
                                : "RUN ON THE DEVICE: " + record.device);
  page.paragraph(2, passedText(record));
  for (const std::string& caution : runCautions(record)) {
    page.paragraph(2, caution);
  }
  if (!record.simulated) {
    page.paragraph(2, "Each was compared with references in fp64 on the CPU.");
  }
  auto groups = groupedOutcomes(record);
  std::ranges::stable_sort(groups, {}, [](const auto& group) { return rankOf(group.first); });
  for (const auto& [state, cases] : groups) {
    writeGroup(page, state, cases);
  }
  for (const NotChecked& entry : record.notRun) {
    page.paragraph(2, fmt::format("not run: {}: {}; {}", entry.what, entry.why, entry.how), 4);
  }
}

}  // namespace neuroncheck::report
