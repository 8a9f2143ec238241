// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/reporter.h"

namespace neuroncheck::report {

/// Markdown for a pull-request comment or a ticket. Text from models is escaped: no table, link or
/// HTML of a file takes effect.
class MarkdownReporter : public Reporter {
 public:
  explicit MarkdownReporter(const Style& style) : style_(style) {}
  [[nodiscard]] Result<void> write(const RunRecord& record, std::ostream& out) const override;

 private:
  Style style_;
};

/// The section of a run on a device; nothing where none was run.
void writeMarkdownRun(const RunRecord& record, bool all, std::ostream& out);

}  // namespace neuroncheck::report
