// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/result.h"

namespace neuroncheck {

/// A reading position in a one-line text, for the small recursive-descent parsers of this room. It
/// never reads past the end; at the end `peek()` is '\0'.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool atEnd() const { return position_ >= text_.size(); }
  [[nodiscard]] char peek() const { return atEnd() ? '\0' : text_[position_]; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  [[nodiscard]] std::string_view since(std::size_t start) const {
    return text_.substr(start, position_ - start);
  }

  void advance(std::size_t count = 1) { position_ = std::min(position_ + count, text_.size()); }
  void rewind(std::size_t position) { position_ = position; }
  void skipBlanks() {
    while (!atEnd() && (text_[position_] == ' ' || text_[position_] == '\t')) {
      ++position_;
    }
  }
  /// Skips blanks, then takes `token` when it comes next.
  [[nodiscard]] bool accept(std::string_view token) {
    skipBlanks();
    if (!rest().starts_with(token)) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  /// Skips blanks, then takes a name ([A-Za-z_][A-Za-z0-9_]*); empty when there is none.
  [[nodiscard]] std::string_view identifier() {
    skipBlanks();
    const std::size_t start = position_;
    while (!atEnd() &&
           (isNameStart(text_[position_]) || (position_ > start && isDigit(text_[position_])))) {
      ++position_;
    }
    return since(start);
  }
  /// "column 12: <message>", 1-based.
  [[nodiscard]] tl::unexpected<Error> failHere(
      std::string_view message,
      std::source_location where = std::source_location::current()) const {
    return inputError("column " + std::to_string(position_ + 1) + ": " + std::string(message),
                      where);
  }

  [[nodiscard]] static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] static bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace neuroncheck
