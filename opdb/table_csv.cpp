// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "opdb/table.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Record {
  std::size_t line = 0;
  std::vector<std::string> cells;
  bool open = false;   ///< the text ended within quotes
  bool blank = false;  ///< a line of nothing
};

class CsvScanner {
 public:
  CsvScanner(std::string_view text, char separator) : text_(text), separator_(separator) {}

  bool atEnd() const { return at_ >= text_.size(); }

  Record next() {
    Record record{.line = line_, .cells = {}};
    std::string cell;
    bool quotedBefore = false;
    while (!atEnd()) {
      const char c = text_[at_];
      if (c == '"' && cell.empty() && !quotedBefore) {
        record.open = !quoted(cell);
        quotedBefore = true;
        continue;
      }
      ++at_;
      if (c == separator_) {
        record.cells.push_back(std::exchange(cell, {}));
        quotedBefore = false;
      } else if (c == '\n') {
        ++line_;
        break;
      } else if (!(c == '\r' && (atEnd() || text_[at_] == '\n'))) {
        cell += c;
      }
    }
    record.blank = record.cells.empty() && trimmed(cell).empty() && !quotedBefore;
    record.cells.push_back(std::move(cell));
    return record;
  }

 private:
  /// Reads a quoted field from its opening quote on; false when it is never closed.
  bool quoted(std::string& cell) {
    ++at_;
    while (!atEnd()) {
      const char c = text_[at_++];
      if (c == '"') {
        if (atEnd() || text_[at_] != '"') {
          return true;
        }
        ++at_;
      }
      line_ += c == '\n' ? 1U : 0U;
      cell += c;
    }
    return false;
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

char separatorOf(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  const auto commas = std::ranges::count(first, ',');
  const auto semicolons = std::ranges::count(first, ';');
  const auto tabs = std::ranges::count(first, '\t');
  if (tabs > commas && tabs > semicolons) {
    return '\t';
  }
  return semicolons > commas ? ';' : ',';
}

}  // namespace

std::optional<std::size_t> Table::column(std::string_view name) const {
  const std::string wanted = lowered(trimmed(name));
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (lowered(header[i]) == wanted) {
      return i;
    }
  }
  return std::nullopt;
}

Table parseCsv(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  CsvScanner scanner(text, separatorOf(text));
  Table table;
  while (!scanner.atEnd()) {
    Record record = scanner.next();
    if (record.blank) {
      continue;
    }
    if (table.header.empty()) {
      table.line = record.line;
      for (const std::string& cell : record.cells) {
        table.header.emplace_back(trimmed(cell));
      }
    } else if (record.open) {
      table.problems.push_back({record.line, "a quote is opened and never closed"});
    } else if (record.cells.size() != table.header.size()) {
      table.problems.push_back(
          {record.line,
           fmt::format("{} fields, the header has {}", record.cells.size(), table.header.size())});
    } else {
      table.rows.push_back({record.line, std::move(record.cells)});
    }
  }
  return table;
}

std::string csvField(std::string_view text) {
  const bool edges = !text.empty() && trimmed(text).size() != text.size();
  if (!edges && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    field += c;
    if (c == '"') {
      field += c;
    }
  }
  return field + '"';
}

}  // namespace neuroncheck::opdb
