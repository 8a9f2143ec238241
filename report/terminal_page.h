// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "core/states.h"
#include "report/reporter.h"

namespace neuroncheck::report {

enum class Ink { Plain, Bold, Dim, Good, Warning, Bad };

[[nodiscard]] Ink inkOf(Verdict verdict);
[[nodiscard]] Ink inkOf(Claim claim);
[[nodiscard]] Ink inkOf(Severity severity);

/// Lays text out in the columns of a terminal. All text that comes in is made printable() here,
/// once.
class TerminalPage {
 public:
  /// `out` must outlive the page. Fewer than 60 columns are not used.
  TerminalPage(std::ostream& out, const Style& style);

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] int verbosity() const { return style_.verbosity; }
  /// `text` between the codes of an ink; as it is without colour.
  [[nodiscard]] std::string inked(Ink ink, std::string_view text) const;

  void blank();
  /// A section title after an empty line.
  void heading(std::string_view text);
  /// A line that is already laid out and printable, with codes where wanted.
  void line(std::string_view text);
  /// Wrapped text behind `indent` blanks; lines after the first are `hanging` deeper.
  void paragraph(std::size_t indent, std::string_view text, std::size_t hanging = 0);
  /// "  Label      text", with the text wrapped in its column. The label is ours.
  void field(std::string_view label, std::string_view text, std::size_t labelWidth = 12);

 private:
  std::ostream& out_;
  Style style_;
  std::size_t width_;
};

}  // namespace neuroncheck::report
