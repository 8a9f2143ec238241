// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/reporter.h"
#include "report/summary.h"
#include "report/terminal_page.h"

namespace neuroncheck::report {

/// Text for people: one full report for a single input, a table of models for several.
class TerminalReporter : public Reporter {
 public:
  explicit TerminalReporter(const Style& style) : style_(style) {}
  [[nodiscard]] Result<void> write(const RunRecord& record, std::ostream& out) const override;

 private:
  Style style_;
};

/// The colour of the model's verdict; none of them for a method without operators.
[[nodiscard]] Ink inkOf(const ModelView& view);
/// The sections of one model, from its verdict to what was not checked.
void writeModel(TerminalPage& page, const RunRecord& record, const ModelView& view);
/// The table of several inputs, what unblocks most, and what could not be read.
void writePortfolio(TerminalPage& page, const RunRecord& record,
                    const std::vector<ModelView>& views);
/// What the answers are for: target, device, database.
void writeTarget(TerminalPage& page, const RunRecord& record);
/// The outcomes of a run on a device; nothing where none was run.
void writeRun(TerminalPage& page, const RunRecord& record);
/// Inputs without a model, each with its reason.
void writeUnread(TerminalPage& page, const RunRecord& record);

}  // namespace neuroncheck::report
