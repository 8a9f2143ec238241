// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::opdb {

/// A row that could not be used, and why. Lines count from 1.
struct RowProblem {
  std::size_t line = 0;
  std::string reason;
  bool operator==(const RowProblem&) const = default;
};

struct TableRow {
  std::size_t line = 0;
  std::vector<std::string> cells;  ///< as many as the header has
};

/// A table of a text file: header words and rows, markup removed.
struct Table {
  std::size_t line = 0;  ///< of the header
  std::string title;     ///< nearest heading above, of a markdown page
  std::vector<std::string> header;
  std::vector<TableRow> rows;
  std::vector<RowProblem> problems;

  /// Position of a column by its name, without regard to case; nullopt when there is none.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Comma, semicolon or tab separated text (the separator is told from the header), RFC 4180
/// quoting, with or without a byte order mark, LF or CRLF. Rows with another number of cells than
/// the header, and an open quote, become problems.
[[nodiscard]] Table parseCsv(std::string_view text);

/// Every table of a markdown page (GitHub's pipe tables), outside code fences and HTML comments.
/// Cells lose backticks, emphasis, links (the text stays) and line break tags.
[[nodiscard]] std::vector<Table> parseMarkdownTables(std::string_view text);

/// The text of one markdown cell without its markup.
[[nodiscard]] std::string plainText(std::string_view cell);

/// One CSV field, quoted where it must be.
[[nodiscard]] std::string csvField(std::string_view text);

}  // namespace neuroncheck::opdb
