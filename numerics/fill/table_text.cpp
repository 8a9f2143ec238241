// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "numerics/fill/fill_plan.h"

namespace neuroncheck::numerics {

Result<std::vector<TableRow>> tableRows(std::string_view text, std::size_t columns) {
  std::vector<TableRow> rows;
  bool header = true;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (rest.empty() || rest.front() == '#') {
      continue;
    }
    if (header) {
      header = false;
      continue;
    }
    TableRow row{line, {}};
    while (true) {
      const std::size_t tab = rest.find('\t');
      row.cells.push_back(rest.substr(0, tab));
      if (tab == std::string_view::npos) {
        break;
      }
      rest.remove_prefix(tab + 1);
    }
    if (row.cells.size() != columns) {
      return inputError(
          fmt::format("row {}: {} columns instead of {}", line, row.cells.size(), columns));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace neuroncheck::numerics
