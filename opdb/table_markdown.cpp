// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "opdb/table.h"
#include "opdb/words.h"

namespace neuroncheck::opdb {
namespace {

struct Line {
  std::size_t number = 0;
  std::string text;
  bool code = false;  ///< a fence, or between two
};

bool isFence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

/// `line` without what stands in HTML comments; `open` says whether one is open before and after.
std::string withoutComments(std::string_view line, bool& open) {
  std::string text;
  bool codeSpan = false;
  for (std::size_t i = 0; i < line.size();) {
    if (open) {
      const std::size_t end = line.find("-->", i);
      if (end == std::string_view::npos) {
        break;
      }
      open = false;
      i = end + 3;
    } else if (!codeSpan && line.substr(i).starts_with("<!--")) {
      open = true;
      i += 2;  // "<!-->" is a whole comment
    } else {
      codeSpan = codeSpan != (line[i] == '`');
      text += line[i++];
    }
  }
  return text;
}

std::vector<Line> linesOf(std::string_view text) {
  std::vector<Line> lines;
  std::size_t number = 1;
  bool comment = false;
  bool fenced = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view raw = trimmed(text.substr(0, end));
    const bool fence = !comment && isFence(raw);
    const bool code = fence || fenced;
    fenced = fenced != fence;
    std::string visible = code ? std::string(raw) : withoutComments(raw, comment);
    lines.push_back({number++, std::string(trimmed(visible)), code});
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Splits at the pipes that are not escaped; the empty edges of "| a | b |" are no cells.
std::vector<std::string> cellsOf(std::string_view line) {
  if (line.starts_with('|')) {
    line.remove_prefix(1);
  }
  std::vector<std::string> cells;
  std::string cell;
  bool closed = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    closed = false;
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(trimmed(std::exchange(cell, {})));
      closed = true;
    } else {
      cell += line[i];
    }
  }
  if (!closed) {
    cells.emplace_back(trimmed(cell));
  }
  return cells;
}

bool hasPipe(std::string_view line) { return line.find('|') != std::string_view::npos; }

/// "|---|:--:|": the row below a header.
bool isDelimiterRow(std::string_view line, std::size_t columns) {
  if (line.find('-') == std::string_view::npos) {
    return false;
  }
  const std::vector<std::string> cells = cellsOf(line);
  return cells.size() == columns && std::ranges::all_of(cells, [](std::string_view cell) {
           if (cell.starts_with(':')) {
             cell.remove_prefix(1);
           }
           if (cell.ends_with(':')) {
             cell.remove_suffix(1);
           }
           return !cell.empty() && cell.find_first_not_of('-') == std::string_view::npos;
         });
}

Table tableAt(const std::vector<Line>& lines, std::size_t& at, std::string title) {
  Table table;
  table.line = lines[at].number;
  table.title = std::move(title);
  for (const std::string& cell : cellsOf(lines[at].text)) {
    table.header.push_back(plainText(cell));
  }
  for (at += 2; at < lines.size() && !lines[at].code && hasPipe(lines[at].text); ++at) {
    std::vector<std::string> cells = cellsOf(lines[at].text);
    if (cells.size() > table.header.size()) {
      table.problems.push_back(
          {lines[at].number, fmt::format("{} cells, the header has {} (a '|' within a cell is "
                                         "written '\\|')",
                                         cells.size(), table.header.size())});
      continue;
    }
    cells.resize(table.header.size());
    std::ranges::transform(cells, cells.begin(), [](const std::string& c) { return plainText(c); });
    table.rows.push_back({lines[at].number, std::move(cells)});
  }
  return table;
}

/// "[text](target)" and "![alt](target)" become the text.
std::string withoutLinks(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::size_t close = open == std::string_view::npos ? open : text.find("](", open);
    const std::size_t end = close == std::string_view::npos ? close : text.find(')', close);
    if (end == std::string_view::npos) {
      result += text;
      break;
    }
    const bool image = open > 0 && text[open - 1] == '!';
    result += text.substr(0, image ? open - 1 : open);
    result += text.substr(open + 1, close - open - 1);
    text.remove_prefix(end + 1);
  }
  return result;
}

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string plainText(std::string_view cell) {
  std::string text = withoutLinks(cell);
  for (const std::string_view tag : {"<br>", "<br/>", "<br />"}) {
    replaceAll(text, tag, ", ");
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMarkup = {{
      {"`", ""},
      {"**", ""},
      {"&lt;", "<"},
      {"&gt;", ">"},
      {"&nbsp;", " "},
      {"&amp;", "&"},
      {"\\_", "_"},
  }};
  for (const auto& [from, to] : kMarkup) {
    replaceAll(text, from, to);
  }
  std::string_view plain = trimmed(text);
  // A single star or underscore around the whole text is emphasis; an underscore at one end belongs
  // to a name.
  const bool emphasis = plain.size() > 2 && plain.front() == '*' && plain.back() == '*';
  if (emphasis) {
    plain = trimmed(plain.substr(1, plain.size() - 2));
  }
  return std::string(plain);
}

std::vector<Table> parseMarkdownTables(std::string_view text) {
  const std::vector<Line> lines = linesOf(text);
  std::vector<Table> tables;
  std::string title;
  for (std::size_t at = 0; at < lines.size();) {
    const std::string_view line = lines[at].text;
    if (!lines[at].code && line.starts_with('#')) {
      title = plainText(trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size()))));
    } else if (!lines[at].code && hasPipe(line) && at + 1 < lines.size() &&
               isDelimiterRow(lines[at + 1].text, cellsOf(line).size())) {
      tables.push_back(tableAt(lines, at, title));
      continue;
    }
    ++at;
  }
  return tables;
}

}  // namespace neuroncheck::opdb
