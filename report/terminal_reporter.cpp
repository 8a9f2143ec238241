// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_reporter.h"

#include <ostream>

#include <fmt/format.h>

#include "report/outcomes.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

void writeNextSteps(TerminalPage& page, const RunRecord& record,
                    const std::vector<ModelView>& views) {
  const auto steps = nextSteps(record, views);
  if (steps.empty()) {
    return;
  }
  page.heading("WHAT TO DO NEXT");
  for (const auto& [command, purpose] : steps) {
    page.line("  " + printable(command));
    page.line(page.inked(Ink::Dim, "      " + purpose));
  }
}

void writeQuiet(TerminalPage& page, const RunRecord& record, const std::vector<ModelView>& views) {
  for (const ModelView& view : views) {
    page.line(page.inked(inkOf(view), padded(verdictWord(view), 18)) + " " + printable(view.label));
  }
  for (const InputResult& input : record.inputs) {
    if (input.error || input.assessment.models.empty()) {
      page.line(page.inked(Ink::Bad, padded("not read", 18)) + " " +
                printable(input.inventory.path));
    }
  }
  if (record.device != "none") {
    page.line(passedText(record) +
              (record.simulated ? " Simulated: no hardware ran anything." : ""));
  }
}

}  // namespace

Ink inkOf(const ModelView& view) {
  return decides(*view.model, *view.judged) ? inkOf(view.judged->verdict) : Ink::Dim;
}

void writeTarget(TerminalPage& page, const RunRecord& record) {
  page.field("Target", targetText(record.target));
  if (const std::string caution = targetCaution(record.target); !caution.empty()) {
    page.field("", caution);
  }
  const std::string device = record.device == "none" ? "none: nothing was run" : record.device;
  page.field("Device",
             record.simulated ? device + ", simulated: no hardware ran anything" : device);
  if (!record.database.empty()) {
    page.field("Database", record.database);
  }
}

void writeUnread(TerminalPage& page, const RunRecord& record) {
  bool first = true;
  for (const InputResult& input : record.inputs) {
    if (!input.error && !input.assessment.models.empty()) {
      continue;
    }
    if (first) {
      page.heading("NOT READ");
      first = false;
    }
    page.paragraph(2, input.inventory.path);
    std::string reason = input.error ? input.error->text() : "holds no model";
    if (reason.starts_with(input.inventory.path + ": ")) {
      reason.erase(0, input.inventory.path.size() + 2);
    }
    page.paragraph(6, reason);
    if (input.inventory.kind != FileKind::Unknown) {
      page.paragraph(6, fmt::format("Kind: {}", name(input.inventory.kind)));
    }
  }
}

Result<void> TerminalReporter::write(const RunRecord& record, std::ostream& out) const {
  TerminalPage page(out, style_);
  const std::vector<ModelView> views = modelViews(record);
  if (style_.verbosity < 0) {
    writeQuiet(page, record, views);
  } else {
    if (record.inputs.size() > 1) {
      writePortfolio(page, record, views);
    }
    if (record.inputs.size() <= 1 || style_.verbosity > 0) {
      bool first = record.inputs.size() <= 1;
      for (const ModelView& view : views) {
        if (!first) {
          page.blank();
          page.line(std::string(page.width(), '-'));
        }
        first = false;
        writeModel(page, record, view);
      }
    }
    if (record.inputs.size() <= 1) {
      writeUnread(page, record);
    }
    writeRun(page, record);
    if (!views.empty()) {
      writeNextSteps(page, record, views);
    }
  }
  if (!out) {
    return fail(ErrorCode::Output, "the report could not be written");
  }
  return {};
}

}  // namespace neuroncheck::report
