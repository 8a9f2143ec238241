// SPDX-License-Identifier: Apache-2.0
#include "opdb/predicate_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::opdb {
namespace {

constexpr std::size_t kMaxLength = 4096;
constexpr std::array<std::string_view, 6> kTwoCharacterSymbols = {
    "&&", "||", "==", "!=", "<=", ">="};
constexpr std::string_view kOneCharacterSymbols = "!<>%(){},-";

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<PredicateToken>> run() {
    std::vector<PredicateToken> tokens;
    while (true) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
        ++at_;
      }
      if (at_ == text_.size()) {
        tokens.push_back({.kind = PredicateToken::Kind::End, .text = "", .column = at_ + 1});
        return tokens;
      }
      NEURONCHECK_TRY(PredicateToken token, next());
      tokens.push_back(std::move(token));
    }
  }

 private:
  Result<PredicateToken> next() {
    const char c = text_[at_];
    if (isWordStart(c)) {
      return take(PredicateToken::Kind::Word, [](char x) { return isWordPart(x); });
    }
    if (isDigit(c)) {
      return number();
    }
    if (c == '\'') {
      return quoted();
    }
    const std::string_view pair = text_.substr(at_, 2);
    if (std::ranges::find(kTwoCharacterSymbols, pair) != kTwoCharacterSymbols.end()) {
      return symbol(2);
    }
    if (kOneCharacterSymbols.find(c) != std::string_view::npos) {
      return symbol(1);
    }
    const bool printable = c >= ' ' && c <= '~';
    return predicateError(at_ + 1, printable ? fmt::format("unexpected '{}'", c)
                                             : std::string("unexpected character"));
  }

  template <typename Accept>
  PredicateToken take(PredicateToken::Kind kind, Accept accept) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && accept(text_[at_])) {
      ++at_;
    }
    return {
        .kind = kind, .text = std::string(text_.substr(begin, at_ - begin)), .column = begin + 1};
  }

  PredicateToken symbol(std::size_t length) {
    PredicateToken token{.kind = PredicateToken::Kind::Symbol,
                         .text = std::string(text_.substr(at_, length)),
                         .column = at_ + 1};
    at_ += length;
    return token;
  }

  Result<PredicateToken> number() {
    PredicateToken token = take(PredicateToken::Kind::Integer, isDigit);
    const auto append = [&] {
      token.text += text_[at_++];
      token.kind = PredicateToken::Kind::Real;
    };
    if (at_ < text_.size() && text_[at_] == '.') {
      append();
      token.text += take(PredicateToken::Kind::Integer, isDigit).text;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      append();
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
        append();
      }
      const std::string digits = take(PredicateToken::Kind::Integer, isDigit).text;
      if (digits.empty()) {
        return predicateError(token.column, fmt::format("'{}' is no number", token.text));
      }
      token.text += digits;
    }
    if (at_ < text_.size() && isWordPart(text_[at_])) {
      return predicateError(token.column,
                            fmt::format("'{}{}' is no number", token.text, text_[at_]));
    }
    return token;
  }

  Result<PredicateToken> quoted() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) {
      return predicateError(at_ + 1, "the quote is not closed");
    }
    PredicateToken token{.kind = PredicateToken::Kind::Text,
                         .text = std::string(text_.substr(at_ + 1, end - at_ - 1)),
                         .column = at_ + 1};
    at_ = end + 1;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

tl::unexpected<Error> predicateError(std::size_t column, std::string_view what) {
  return fail(ErrorCode::Usage, fmt::format("predicate column {}: {}", column, what));
}

Result<std::vector<PredicateToken>> tokenizePredicate(std::string_view text) {
  if (text.size() > kMaxLength) {
    return predicateError(kMaxLength + 1, fmt::format("longer than {} characters", kMaxLength));
  }
  return Lexer(text).run();
}

}  // namespace neuroncheck::opdb
