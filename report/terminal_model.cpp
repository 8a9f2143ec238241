// SPDX-License-Identifier: Apache-2.0
// The full report of one model.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/terminal_reporter.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

constexpr std::size_t kShownBlockers = 6;
constexpr std::size_t kShownPlaces = 3;
constexpr std::size_t kShownOpenRules = 4;
constexpr std::size_t kWideEnoughForReasons = 110;

std::string more(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("+{} more {} (-v shows all)", count, count == 1 ? one : many);
}

/// The first places, or all with -v, as one text.
std::string placeList(const TerminalPage& page, const std::vector<std::string>& places) {
  const std::size_t shown =
      page.verbosity() > 0 ? places.size() : std::min(places.size(), kShownPlaces);
  std::string out;
  std::string file;
  for (std::size_t index = 0; index < shown; ++index) {
    // Lines of one file share its name: "net.py:21, :22".
    const std::string& place = places[index];
    const std::size_t colon = place.rfind(':');
    const std::string ownFile = colon == std::string::npos ? std::string() : place.substr(0, colon);
    out += index == 0 ? "" : ", ";
    out += !ownFile.empty() && ownFile == file ? place.substr(colon) : place;
    file = ownFile;
  }
  if (shown < places.size()) {
    out += fmt::format(", +{} more", places.size() - shown);
  }
  return out;
}

std::string modelText(const ModelView& view) {
  std::string out(name(view.input->inventory.kind));
  if (!view.input->inventory.producer.empty()) {
    out += ", " + view.input->inventory.producer;
  }
  if (!view.model->dialect.empty()) {
    out += ", dialect " + view.model->dialect;
  }
  if (!view.model->madeOn.empty()) {
    out += fmt::format(", made on {}", fmt::join(view.model->madeOn, " and "));
  }
  return out;
}

void writeHeadline(TerminalPage& page, const RunRecord& record, const ModelView& view) {
  const std::string word = headline(view);
  const std::size_t room = page.width() - word.size() - 2;
  page.line(page.inked(inkOf(view), word) + "  " + shortenedLeft(printable(view.label), room));
  page.paragraph(2, verdictSentence(view, record.target));
}

void writeVerdict(TerminalPage& page, const RunRecord& record, const ModelView& view,
                  const std::vector<OperatorRow>& rows) {
  std::set<std::string_view> names;
  for (const OperatorRow& row : rows) {
    names.insert(row.op);
  }
  const std::size_t operators = names.size();
  writeHeadline(page, record, view);
  page.line(fmt::format("  {} of {}:", counted(view.model->uses.size(), "use", "uses"),
                        counted(operators, "operator", "operators")));
  for (const auto& [count, words] : verdictParts(view)) {
    const std::string number = std::to_string(count);
    page.paragraph(number.size() < 8 ? 8 - number.size() : 0, fmt::format("{} {}", number, words),
                   number.size() + 1);
  }
  if (const std::size_t errors = errorCount(view); errors > 0) {
    page.line("  " + counted(errors, "finding is", "findings are") + " of severity error.");
  }
  page.blank();
  writeTarget(page, record);
  const std::string deciding = decidingEvidence(view);
  if (!deciding.empty()) {
    page.field("Evidence", "the verdict rests on " + deciding);
  }
  page.field(deciding.empty() ? "Evidence" : "", "weakest is " + weakestEvidence(view));
  if (const std::string confirm = confirmation(view, record.target); !confirm.empty()) {
    page.field("To confirm", confirm);
  }
  page.field("Model", modelText(view));
  for (const std::string& note : view.model->notes) {
    page.field("Note", note);
  }
}

void writeBlocker(TerminalPage& page, const OperatorRow& row) {
  constexpr std::size_t kLabel = 11;
  page.line(fmt::format(
      "  {}  {}", page.inked(Ink::Bold, printable(row.op)),
      page.inked(inkOf(row.claim),
                 fmt::format("{}, {}", name(row.claim), counted(row.uses.size(), "use", "uses")))));
  page.field("  at", placeList(page, placesOf(row)), kLabel);
  std::string reason = row.reason.empty() ? "no reason is recorded" : reasonOf(row);
  if (row.otherReasons > 0) {
    reason += fmt::format(" (and {} for other uses)",
                          counted(row.otherReasons, "other reason", "other reasons"));
  }
  page.field("  why", reason, kLabel);
  for (const LeafClaim& leaf : row.missing) {
    if (leaf.op != row.op) {
      page.field("  needs", fmt::format("{}: {}", leaf.op, name(leaf.claim)), kLabel);
    }
  }
  if (const std::string decides = decidesText(row); !decides.empty()) {
    page.field("  decides", decides, kLabel);
  }
  if (!row.remedy.empty()) {
    page.field("  do", row.remedy, kLabel);
  }
}

/// One group of operators that stand in the way, under its own title.
void writeBlockers(TerminalPage& page, std::string_view title, const std::vector<OperatorRow>& rows,
                   Verdict verdict) {
  std::vector<const OperatorRow*> blockers;
  for (const OperatorRow& row : rows) {
    if (verdictOf(row.claim, true) == verdict) {
      blockers.push_back(&row);
    }
  }
  if (blockers.empty()) {
    return;
  }
  page.heading(title);
  const std::size_t shown =
      page.verbosity() > 0 ? blockers.size() : std::min(blockers.size(), kShownBlockers);
  for (std::size_t index = 0; index < shown; ++index) {
    writeBlocker(page, *blockers[index]);
  }
  if (shown < blockers.size()) {
    page.line("  " + more(blockers.size() - shown, "operator", "operators"));
  }
}

/// Widths of the operator table, from what stands in it.
struct TableWidths {
  std::size_t op = 8;
  std::size_t dtypes = 6;
  std::size_t evidence = 8;
};

std::string dtypesText(const OperatorRow& row) {
  return row.dtypes.empty() ? "-" : fmt::format("{}", fmt::join(row.dtypes, ","));
}

TableWidths widthsOf(const std::vector<OperatorRow>& rows, std::size_t width) {
  TableWidths out;
  for (const OperatorRow& row : rows) {
    out.op = std::max(out.op, columns(printable(row.op)));
    out.dtypes = std::max(out.dtypes, columns(dtypesText(row)));
    out.evidence =
        std::max(out.evidence, columns(confidenceText(row.confidence, row.stale, row.ageDays)));
  }
  out.dtypes = std::min<std::size_t>(out.dtypes, 12);
  const std::size_t rest = out.dtypes + std::min<std::size_t>(out.evidence, 24) + 4 + 5 + 6;
  out.op = std::min(out.op, width > rest + 16 ? width - rest : 16);
  return out;
}

void writeRow(TerminalPage& page, const OperatorRow& row, const TableWidths& widths) {
  std::string text = fmt::format(
      "    {}  {:>5}  {}  ", padded(shortened(printable(row.op), widths.op), widths.op),
      row.uses.size(), padded(shortened(dtypesText(row), widths.dtypes), widths.dtypes));
  const std::string evidence = confidenceText(row.confidence, row.stale, row.ageDays);
  const std::string reason = printable(reasonOf(row));
  const bool beside = page.width() >= kWideEnoughForReasons && !reason.empty();
  if (beside) {
    text += padded(evidence, widths.evidence) + "  ";
  }
  page.line(text + shortened(beside ? reason : evidence, page.width() - columns(text)));
  const auto below = [&page](const std::string& more) {
    page.line(page.inked(Ink::Dim, "      " + shortened(more, page.width() - 6)));
  };
  if (!beside && standsInTheWay(row.claim) && !reason.empty()) {
    below(reason);
  }
  if (const std::string refused = refusedText(row); !refused.empty()) {
    below(printable(refused));
  }
}

/// Operators that need nothing of the device, as one list: they only have to be known to be there.
void writeNoWork(TerminalPage& page, const std::vector<OperatorRow>& rows) {
  std::string text;
  for (const OperatorRow& row : rows) {
    if (row.claim == Claim::NoDeviceWork) {
      text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", row.op, row.uses.size());
    }
  }
  page.paragraph(4, text);
}

void writeOperators(TerminalPage& page, const std::vector<OperatorRow>& rows) {
  if (rows.empty()) {
    return;
  }
  page.heading("OPERATORS BY CLAIM");
  const TableWidths widths = widthsOf(rows, page.width());
  page.line(page.inked(Ink::Dim, fmt::format("    {}  {:>5}  {}  {}", padded("operator", widths.op),
                                             "uses", padded("dtypes", widths.dtypes), "evidence")));
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const OperatorRow& row = rows[index];
    if (index == 0 || row.claim != rows[index - 1].claim) {
      std::size_t uses = 0;
      for (const OperatorRow& other : rows) {
        uses += other.claim == row.claim ? other.uses.size() : 0;
      }
      page.line(fmt::format("  {}  {}", page.inked(inkOf(row.claim), name(row.claim)),
                            counted(uses, "use", "uses")));
      if (row.claim == Claim::NoDeviceWork) {
        writeNoWork(page, rows);
      }
    }
    if (row.claim != Claim::NoDeviceWork) {
      writeRow(page, row, widths);
    }
  }
}

void writeCaveats(TerminalPage& page, const std::vector<OperatorRow>& rows) {
  const std::vector<std::string> caveats = nativeCaveats(rows);
  if (!caveats.empty()) {
    page.heading("CAVEATS OF NATIVE OPERATORS");
  }
  for (const std::string& caveat : caveats) {
    page.paragraph(2, caveat, 4);
  }
}

void writeFinding(TerminalPage& page, const Finding& finding) {
  const std::string code = finding.code.empty() ? "" : " (" + finding.code + ")";
  page.line(fmt::format(
      "  {} {}{}  {}", page.inked(inkOf(finding.severity), name(finding.severity)),
      printable(finding.rule), printable(code), page.inked(Ink::Bold, printable(finding.title))));
  page.paragraph(6, finding.message);
  const std::vector<std::string> places = placesOf(finding);
  const std::size_t shown =
      page.verbosity() > 0 ? places.size() : std::min(places.size(), kShownPlaces);
  for (std::size_t index = 0; index < shown; ++index) {
    page.paragraph(6, "at " + places[index], 3);
  }
  if (shown < places.size()) {
    page.line("      " + more(places.size() - shown, "place", "places"));
  }
  if (!finding.remedy.empty()) {
    page.paragraph(6, "do " + finding.remedy, 3);
  }
}

void writeErrors(TerminalPage& page, const ModelView& view) {
  if (errorCount(view) == 0) {
    return;
  }
  page.heading("FINDINGS THAT BLOCK");
  for (const Finding* finding : findingsOf(view)) {
    if (finding->severity == Severity::Error) {
      writeFinding(page, *finding);
    }
  }
}

void writeOtherFindings(TerminalPage& page, const ModelView& view) {
  std::size_t warnings = 0;
  std::size_t notes = 0;
  for (const Finding* finding : findingsOf(view)) {
    warnings += finding->severity == Severity::Warning ? 1 : 0;
    notes += finding->severity == Severity::Note ? 1 : 0;
  }
  if (warnings + notes == 0) {
    return;
  }
  page.heading("FINDINGS: " + counted(warnings, "warning", "warnings") + ", " +
               counted(notes, "note", "notes"));
  for (const Finding* finding : findingsOf(view)) {
    if (finding->severity != Severity::Error) {
      writeFinding(page, *finding);
    }
  }
}

void writeNotChecked(TerminalPage& page, const RunRecord& record, const ModelView& view) {
  page.heading("NOT CHECKED");
  const auto questions = openQuestions(record);
  std::string open;
  for (std::size_t index = 0; index < questions.size(); ++index) {
    const auto& [question, why] = questions[index];
    open += (open.empty() ? "" : ", ") + question;
    if (index + 1 == questions.size() || questions[index + 1].second != why) {
      page.paragraph(2, open + ": " + why);
      open.clear();
    }
  }
  const std::vector<NotChecked>& rules = view.judged->notChecked;
  const std::size_t shown =
      page.verbosity() > 0 ? rules.size() : std::min(rules.size(), kShownOpenRules);
  for (std::size_t index = 0; index < shown; ++index) {
    const NotChecked& rule = rules[index];
    page.paragraph(2, rule.what + ": " + rule.why, 4);
    if (!rule.how.empty()) {
      page.paragraph(6, "to check: " + rule.how, 4);
    }
  }
  if (shown < rules.size()) {
    page.line("  " + more(rules.size() - shown, "point", "points"));
  }
}

void writeUses(TerminalPage& page, const ModelView& view) {
  page.heading("EVERY USE");
  for (const UseClaim& claim : view.judged->uses) {
    if (claim.use >= view.model->uses.size()) {
      continue;
    }
    const OpUse& use = view.model->uses[claim.use];
    std::string arguments;
    for (const Argument& argument : use.args) {
      if (!argument.isDefault) {
        arguments += (arguments.empty() ? "" : ", ") + argument.name + "=" + text(argument.value);
      }
    }
    page.paragraph(
        2,
        fmt::format("{} {}({}) {}{}", name(claim.claim), use.op.str(), arguments,
                    (use.source.known() || use.lastFrame.known() ? "at " : "") + placeText(use),
                    use.graph.empty() ? "" : " in " + use.graph),
        4);
  }
}

}  // namespace

void writeModel(TerminalPage& page, const RunRecord& record, const ModelView& view) {
  if (!decides(*view.model, *view.judged)) {
    writeHeadline(page, record, view);
    return;
  }
  const std::vector<OperatorRow> rows = operatorRows(view);
  writeVerdict(page, record, view, rows);
  writeBlockers(page, "WHAT BLOCKS", rows, Verdict::Blocked);
  writeErrors(page, view);
  writeBlockers(page, "WHAT IS NOT KNOWN", rows, Verdict::Unknown);
  writeBlockers(page, "WHAT RUNS ON THE CPU", rows, Verdict::RunsWithFallback);
  writeOperators(page, rows);
  writeOtherFindings(page, view);
  writeCaveats(page, rows);
  if (page.verbosity() > 0) {
    writeUses(page, view);
  }
  writeNotChecked(page, record, view);
}

}  // namespace neuroncheck::report
