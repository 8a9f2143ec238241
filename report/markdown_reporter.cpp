// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_reporter.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "report/outcomes.h"
#include "report/summary.h"
#include "report/tally.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownPlaces = 3;
constexpr std::size_t kShownRanks = 10;

/// Text of a model in code style, where Markdown needs no other escape than a fence longer than any
/// within.
std::string code(std::string_view text) {
  std::string safe = printable(text);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : safe) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  for (std::size_t at = safe.find('|'); at != std::string::npos; at = safe.find('|', at + 2)) {
    safe.insert(at, "\\");
  }
  const std::string fence(longest + 1, '`');
  return longest == 0 ? fence + safe + fence : fence + " " + safe + " " + fence;
}

void writeTarget(const RunRecord& record, std::ostream& out) {
  fmt::print(out, "Target: {}.", markdown(targetText(record.target)));
  if (const std::string caution = targetCaution(record.target); !caution.empty()) {
    fmt::print(out, " **{}**", markdown(caution));
  }
  fmt::print(out, " Device: {}.\n",
             record.simulated ? markdown(record.device) + ", simulated" : markdown(record.device));
}

void writePlaces(const std::vector<std::string>& places, bool all, std::ostream& out) {
  const std::size_t shown = all ? places.size() : std::min(places.size(), kShownPlaces);
  for (std::size_t index = 0; index < shown; ++index) {
    fmt::print(out, "{}{}", index == 0 ? "" : ", ", code(places[index]));
  }
  if (shown < places.size()) {
    fmt::print(out, ", +{} more", places.size() - shown);
  }
}

void writeBlockers(const std::vector<OperatorRow>& rows, bool all, std::ostream& out) {
  const bool any =
      std::ranges::any_of(rows, [](const OperatorRow& row) { return standsInTheWay(row.claim); });
  if (!any) {
    return;
  }
  fmt::print(out,
             "\n**What stands in the way**\n\n| operator | claim | uses | places | why | what to "
             "do |\n|---|---|---:|---|---|---|\n");
  for (const OperatorRow& row : rows) {
    if (!standsInTheWay(row.claim)) {
      continue;
    }
    fmt::print(out, "| {} | {} | {} | ", code(row.op), name(row.claim), row.uses.size());
    writePlaces(placesOf(row), all, out);
    fmt::print(out, " | {} | {} |\n", markdown(reasonOf(row)), markdown(row.remedy));
  }
}

void writeFindings(const ModelView& view, bool all, std::ostream& out) {
  const auto findings = findingsOf(view);
  if (findings.empty()) {
    return;
  }
  fmt::print(out, "\n**Findings**\n\n");
  for (const Finding* finding : findings) {
    fmt::print(out, "- **{} {}** {}: {}", name(finding->severity), markdown(finding->rule),
               markdown(finding->title), markdown(finding->message));
    if (!finding->places.empty()) {
      fmt::print(out, " At ");
      writePlaces(placesOf(*finding), all, out);
      fmt::print(out, ".");
    }
    fmt::print(out, "{}\n", finding->remedy.empty() ? "" : " *Do:* " + markdown(finding->remedy));
  }
}

void writeOperators(const std::vector<OperatorRow>& rows, std::ostream& out) {
  fmt::print(out,
             "\n<details><summary>Operators by claim</summary>\n\n| claim | operator | uses | "
             "dtypes | evidence |\n"
             "|---|---|---:|---|---|\n");
  for (const OperatorRow& row : rows) {
    const std::string refused = refusedText(row);
    fmt::print(out, "| {}{} | {} | {} | {} | {} |\n", name(row.claim),
               refused.empty() ? "" : markdown("; " + refused), code(row.op), row.uses.size(),
               fmt::join(row.dtypes, ", "), confidenceText(row.confidence, row.stale, row.ageDays));
  }
  fmt::print(out, "\n</details>\n");
}

void writeNotChecked(const RunRecord& record, const ModelView& view, bool all, std::ostream& out) {
  fmt::print(out, "\n**Not checked:** ");
  const auto questions = openQuestions(record);
  for (std::size_t index = 0; index < questions.size(); ++index) {
    const auto& [question, why] = questions[index];
    const bool last = index + 1 == questions.size() || questions[index + 1].second != why;
    fmt::print(out, "{}{}{}", index == 0 ? "" : ", ", question,
               last ? fmt::format(" ({})", markdown(why)) : "");
  }
  fmt::print(out, "{}.", questions.empty() ? "no question of any use" : "");
  const auto& rules = view.judged->notChecked;
  if (!all && !rules.empty()) {
    fmt::print(out, " Besides, {} (`-v` lists them).", counted(rules.size(), "point", "points"));
  }
  fmt::print(out, "\n");
  for (std::size_t index = 0; all && index < rules.size(); ++index) {
    fmt::print(out, "- {}: {} {}\n", markdown(rules[index].what), markdown(rules[index].why),
               markdown(rules[index].how));
  }
}

/// "45 uses: 1 refused, or would give wrong results; 44 native".
std::string partsText(const ModelView& view) {
  std::string out = counted(view.model->uses.size(), "use", "uses");
  std::string separator = ": ";
  for (const auto& [count, words] : verdictParts(view)) {
    out += fmt::format("{}{} {}", separator, count, words);
    separator = "; ";
  }
  if (const std::size_t errors = errorCount(view); errors > 0) {
    out += "; " + counted(errors, "finding is", "findings are") + " of severity error";
  }
  return out;
}

void writeModel(const RunRecord& record, const ModelView& view, bool all, std::ostream& out) {
  if (!decides(*view.model, *view.judged)) {
    fmt::print(out, "\n### {}: {}\n\n{}\n", headline(view), code(view.label),
               markdown(verdictSentence(view, record.target)));
    return;
  }
  const auto rows = operatorRows(view);
  fmt::print(out, "\n### {}: {}\n\n{} {}.\n\nWeakest evidence: {}.", headline(view),
             code(view.label), markdown(verdictSentence(view, record.target)), partsText(view),
             markdown(weakestEvidence(view)));
  if (const std::string deciding = decidingEvidence(view); !deciding.empty()) {
    fmt::print(out, " The verdict rests on: {}.", markdown(deciding));
  }
  if (const std::string confirm = confirmation(view, record.target); !confirm.empty()) {
    fmt::print(out, " To confirm: {}.", markdown(confirm));
  }
  fmt::print(out, "\n");
  writeBlockers(rows, all, out);
  writeFindings(view, all, out);
  writeOperators(rows, out);
  writeNotChecked(record, view, all, out);
}

void writePortfolio(const RunRecord& record, const std::vector<ModelView>& views,
                    std::ostream& out) {
  fmt::print(out,
             "\n| verdict | model | ok | cpu | no | ? | weakest evidence "
             "|\n|---|---|---:|---:|---:|---:|---|\n");
  for (const ModelView& view : views) {
    const Tally tally = effectiveTally(view);
    fmt::print(out, "| {} | {} | {} | {} | {} | {} | {}{} |\n", verdictWord(view), code(view.label),
               tally.native, tally.fallback, tally.refused, tally.open,
               name(view.judged->weakestConfidence), view.judged->anyStale ? ", stale" : "");
  }
  const auto ranked = blockersByWorst(record);
  if (ranked.empty()) {
    return;
  }
  fmt::print(out,
             "\n**What unblocks most**\n\n| what | alone holds | of models | claim "
             "|\n|---|---:|---:|---|\n");
  for (std::size_t index = 0; index < std::min(ranked.size(), kShownRanks); ++index) {
    const Blocker& blocker = ranked[index];
    fmt::print(out, "| {} | {} | {} | {} |\n", code(blocker.what), blocker.unblocks.size(),
               blocker.models.size(),
               blocker.title.empty() ? std::string(name(blocker.claim)) : markdown(blocker.title));
  }
  if (ranked.size() > kShownRanks) {
    fmt::print(out, "\n+{} more.\n", ranked.size() - kShownRanks);
  }
}

void writeUnread(const RunRecord& record, std::ostream& out) {
  for (const InputResult& input : record.inputs) {
    if (input.error || input.assessment.models.empty()) {
      fmt::print(out, "\n- **not read** {} ({}): {}", code(input.inventory.path),
                 name(input.inventory.kind),
                 input.error ? markdown(input.error->text()) : "holds no model");
    }
  }
  fmt::print(out, "\n");
}

}  // namespace

Result<void> MarkdownReporter::write(const RunRecord& record, std::ostream& out) const {
  const std::vector<ModelView> views = modelViews(record);
  const bool all = style_.verbosity > 0;
  fmt::print(out, "## neuron-check: {}\n\n",
             record.inputs.empty() ? passedText(record) : std::string(name(worstVerdict(record))));
  writeTarget(record, out);
  if (record.inputs.size() > 1) {
    writePortfolio(record, views, out);
  }
  if (style_.verbosity >= 0 && (record.inputs.size() <= 1 || all)) {
    for (const ModelView& view : views) {
      writeModel(record, view, all, out);
    }
  }
  writeUnread(record, out);
  writeMarkdownRun(record, all, out);
  if (!out) {
    return fail(ErrorCode::Output, "the report could not be written");
  }
  return {};
}

}  // namespace neuroncheck::report
