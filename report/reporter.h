// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string_view>

#include "core/result.h"
#include "core/run_record.h"

namespace neuroncheck::report {

/// How text meant for people is laid out. The JSON formats ignore it.
struct Style {
  std::size_t width = 80;  ///< columns; at least 60 is used
  bool color = false;      ///< ANSI colours
  int verbosity =
      0;  ///< -1: the verdict only; 0: what to act on; 1 and more: all places and all uses
};

/// Writes one RunRecord in one format. Equal records give equal bytes.
class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;
  [[nodiscard]] virtual Result<void> write(const RunRecord& record, std::ostream& out) const = 0;
};

/// The reporter of a format: terminal, json, jsonl or md. Usage error that lists them for any other
/// word.
[[nodiscard]] Result<std::unique_ptr<Reporter>> makeReporter(std::string_view format,
                                                             const Style& style);

}  // namespace neuroncheck::report
