// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::report {

/// One line that is safe on a terminal: control characters (C0, DEL, C1), line ends and marks that
/// reorder or hide text become \x1b or \u202e, bytes that are no UTF-8 become \xff. Names in model
/// files are anyone's text.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for Markdown on one line or in a table cell: also escapes what Markdown and HTML would
/// act on.
[[nodiscard]] std::string markdown(std::string_view text);

/// Columns that printable UTF-8 takes, one per code point.
[[nodiscard]] std::size_t columns(std::string_view text);

/// At most `width` columns, with "..." in place of the end that does not fit.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);
/// The same with "..." in place of the beginning: of a path, the end tells more.
[[nodiscard]] std::string shortenedLeft(std::string_view text, std::size_t width);

/// Fills with blanks up to `width` columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);
[[nodiscard]] std::string paddedLeft(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks, a longer word in pieces. Line ends in the
/// text are kept; a line that starts with two blanks is code and is not broken. The lines are
/// printable().
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// "1 use", "2 uses".
[[nodiscard]] std::string counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace neuroncheck::report
