// SPDX-License-Identifier: Apache-2.0
// What a run on a device found, in Markdown.
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "report/markdown_reporter.h"
#include "report/outcomes.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownCases = 20;

std::string whyOf(const Outcome& outcome) {
  std::string out = outcome.cause;
  if (!outcome.message.empty() && outcome.message != out) {
    out += (out.empty() ? "" : ": ") + outcome.message;
  }
  if (const OutputOutcome* output = decidingOutput(outcome);
      output != nullptr && output->wrong > 0) {
    out += fmt::format(" ({}: {} of {} wrong)", output->what, output->wrong, output->elements);
  }
  return out;
}

}  // namespace

void writeMarkdownRun(const RunRecord& record, bool all, std::ostream& out) {
  if (record.device == "none") {
    return;
  }
  fmt::print(out, "\n### {}\n\n{}",
             record.simulated ? "Run on a simulated device (no hardware ran anything)"
                              : "Run on the device " + markdown(record.device),
             passedText(record));
  for (const std::string& caution : runCautions(record)) {
    fmt::print(out, " **{}**", markdown(caution));
  }
  fmt::print(out, "\n\n| state | cases |\n|---|---:|\n");
  const auto groups = groupedOutcomes(record);
  for (const auto& [state, cases] : groups) {
    fmt::print(out, "| {} | {} |\n", name(state), cases.size());
  }
  bool first = true;
  for (const auto& [state, cases] : groups) {
    if (state == CaseState::Pass) {
      continue;
    }
    fmt::print(out, "{}", first ? "\n| state | case | why |\n|---|---|---|\n" : "");
    first = false;
    const std::size_t shown = all ? cases.size() : std::min(cases.size(), kShownCases);
    for (std::size_t i = 0; i < shown; ++i) {
      fmt::print(out, "| {} | {} | {} |\n", name(state), markdown(cases[i]->text),
                 markdown(whyOf(*cases[i])));
    }
    if (shown < cases.size()) {
      fmt::print(out, "| {} | +{} more | |\n", name(state), cases.size() - shown);
    }
  }
  for (const NotChecked& entry : record.notRun) {
    fmt::print(out, "\n- not run: {}: {}; {}\n", markdown(entry.what), markdown(entry.why),
               markdown(entry.how));
  }
}

}  // namespace neuroncheck::report
