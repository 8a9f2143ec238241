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

}  // namespace neuroncheck::report
