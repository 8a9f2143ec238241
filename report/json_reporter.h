// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/reporter.h"

namespace neuroncheck::report {

/// One document of "neuron-check/report/1", written part by part: memory is that of one operator,
/// not of the report.
class JsonReporter : public Reporter {
 public:
  [[nodiscard]] Result<void> write(const RunRecord& record, std::ostream& out) const override;
};

/// The same parts as one object per line, each with a "type": header, input, op, finding, evidence,
/// not_checked, footer. A report without its footer is not complete.
class JsonLinesReporter : public Reporter {
 public:
  [[nodiscard]] Result<void> write(const RunRecord& record, std::ostream& out) const override;
};

}  // namespace neuroncheck::report
