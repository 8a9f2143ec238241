// SPDX-License-Identifier: Apache-2.0
#include "tensor_io/python_literal.h"

#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "scanner/archive/printable.h"

namespace neuroncheck::tensor_io {
namespace {

constexpr int kMaxDepth = 16;
constexpr std::string_view kSpace = " \t\n\r\f\v";

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordChar(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Literal> run() {
    NEURONCHECK_TRY(Literal value, parseValue(0));
    skipSpace();
    if (at_ != text_.size()) {
      return unexpectedHere();
    }
    return value;
  }

 private:
  void skipSpace() {
    while (at_ < text_.size() && kSpace.find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }
  [[nodiscard]] tl::unexpected<Error> unexpectedHere() const {
    if (at_ >= text_.size()) {
      return inputError("the literal is cut off");
    }
    return inputError(fmt::format("at character {} stands '{}', no Python literal", at_,
                                  scanner::printable(text_.substr(at_, 20))));
  }

  Result<Literal> parseValue(int depth) {
    if (depth > kMaxDepth) {
      return inputError("the literal is nested too deeply");
    }
    skipSpace();
    const char c = peek();
    if (c == '{') {
      return parseDict(depth);
    }
    if (c == '(') {
      return parseSequence(depth, ')', Literal::Kind::Tuple);
    }
    if (c == '[') {
      return parseSequence(depth, ']', Literal::Kind::List);
    }
    if (c == '\'' || c == '"') {
      return parseText();
    }
    if ((c == 'u' || c == 'b') && at_ + 1 < text_.size() &&
        (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"')) {
      ++at_;
      return parseText();
    }
    return isDigit(c) || c == '-' ? parseInteger() : parseWord();
  }

  Result<Literal> parseSequence(int depth, char close, Literal::Kind kind) {
    ++at_;
    Literal value;
    value.kind = kind;
    bool comma = true;
    while (!take(close)) {
      if (!comma) {
        return unexpectedHere();
      }
      NEURONCHECK_TRY(Literal item, parseValue(depth + 1));
      value.items.push_back(std::move(item));
      comma = take(',');
    }
    // Parentheses around one value and no comma are only parentheses.
    if (kind == Literal::Kind::Tuple && value.items.size() == 1 && !comma) {
      Literal inner = std::move(value.items.front());
      return inner;
    }
    return value;
  }

  Result<Literal> parseDict(int depth) {
    ++at_;
    Literal value;
    value.kind = Literal::Kind::Dict;
    bool comma = true;
    while (!take('}')) {
      if (!comma) {
        return unexpectedHere();
      }
      NEURONCHECK_TRY(Literal key, parseValue(depth + 1));
      value.items.push_back(std::move(key));
      if (!take(':')) {
        return unexpectedHere();
      }
      NEURONCHECK_TRY(Literal item, parseValue(depth + 1));
      value.items.push_back(std::move(item));
      comma = take(',');
    }
    return value;
  }

  Result<Literal> parseText() {
    const char quote = text_[at_++];
    Literal value;
    value.kind = Literal::Kind::Text;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        value.text += text_[at_++];
      }
      value.text += text_[at_++];
    }
    if (at_ >= text_.size()) {
      return unexpectedHere();
    }
    ++at_;
    return value;
  }

  Result<Literal> parseInteger() {
    Literal value;
    value.kind = Literal::Kind::Integer;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value.number);
    if (error == std::errc::result_out_of_range) {
      return inputError("a number is larger than 64 bits hold");
    }
    if (error != std::errc()) {
      return unexpectedHere();
    }
    at_ += static_cast<std::size_t>(end - first);
    if (peek() == 'L') {
      ++at_;
    }
    if (isWordChar(peek()) || peek() == '.') {
      return unexpectedHere();
    }
    return value;
  }

  Result<Literal> parseWord() {
    std::size_t end = at_;
    while (end < text_.size() && isWordChar(text_[end])) {
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    Literal value;
    if (word == "True" || word == "False") {
      value.kind = Literal::Kind::Bool;
      value.truth = word == "True";
    } else if (word != "None") {
      return unexpectedHere();
    }
    at_ = end;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Literal> parseLiteral(std::string_view text) { return Parser(text).run(); }

}  // namespace neuroncheck::tensor_io
