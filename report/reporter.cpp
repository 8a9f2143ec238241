// SPDX-License-Identifier: Apache-2.0
#include "report/reporter.h"

#include <fmt/format.h>

#include "report/json_reporter.h"
#include "report/markdown_reporter.h"
#include "report/terminal_reporter.h"

namespace neuroncheck::report {

Result<std::unique_ptr<Reporter>> makeReporter(std::string_view format, const Style& style) {
  if (format == "terminal") {
    return std::make_unique<TerminalReporter>(style);
  }
  if (format == "json") {
    return std::make_unique<JsonReporter>();
  }
  if (format == "jsonl") {
    return std::make_unique<JsonLinesReporter>();
  }
  if (format == "md") {
    return std::make_unique<MarkdownReporter>(style);
  }
  return fail(ErrorCode::Usage,
              fmt::format("--format '{}': the formats are terminal, json, jsonl and md", format));
}

}  // namespace neuroncheck::report
