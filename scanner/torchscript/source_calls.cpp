// SPDX-License-Identifier: Apache-2.0
#include "scanner/torchscript/source_calls.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace neuroncheck::scanner {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Position behind the string literal that begins at `at`.
std::size_t afterString(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

/// A chain of names joined by dots that begins at `at`: "ops.myns.foo".
std::string_view chainAt(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (isWord(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                     isWord(text[end + 1])))) {
    ++end;
  }
  return text.substr(at, end - at);
}

/// The operator a chain names; nullopt for anything else.
std::optional<std::string> operatorOf(std::string_view chain) {
  constexpr std::string_view kTorch = "torch.";
  constexpr std::string_view kOps = "ops.";
  if (chain.starts_with(kTorch)) {
    const std::string_view name = chain.substr(kTorch.size());
    return name.find('.') == std::string_view::npos ? std::optional("aten::" + std::string(name))
                                                    : std::nullopt;
  }
  if (!chain.starts_with(kOps)) {
    return std::nullopt;
  }
  const std::string_view rest = chain.substr(kOps.size());
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos || rest.substr(0, dot) == "prim" ||
      rest.find('.', dot + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(rest.substr(0, dot)) + "::" + std::string(rest.substr(dot + 1));
}

/// Counts the arguments of a call whose "(" is at `open`.
void countArguments(std::string_view text, std::size_t open, SourceCall& call) {
  int depth = 0;
  std::size_t start = open + 1;
  const auto finish = [&](std::size_t end) {
    std::string_view argument = text.substr(start, end - start);
    while (!argument.empty() && std::isspace(static_cast<unsigned char>(argument.front())) != 0) {
      argument.remove_prefix(1);
    }
    const std::size_t equals = argument.find('=');
    const bool keyword = equals != std::string_view::npos && equals > 0 &&
                         std::ranges::all_of(argument.substr(0, equals), isWord) &&
                         argument.substr(equals, 2) != "==";
    if (keyword) {
      call.keywords.emplace_back(argument.substr(0, equals));
    } else if (!argument.empty()) {
      ++call.positional;
    }
    start = end + 1;
  };
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = afterString(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) {
        finish(i);
        return;
      }
    } else if (c == ',' && depth == 1) {
      finish(i);
    }
  }
}

/// Names on the left of "=" when the call is all that is on its right: "a, b, = ops.n.f(x)".
std::size_t unpackedBy(std::string_view before) {
  const std::size_t lineStart =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::string_view left = before.substr(lineStart);
  while (!left.empty() && left.back() == ' ') {
    left.remove_suffix(1);
  }
  if (left.empty() || left.back() != '=') {
    return 1;
  }
  left.remove_suffix(1);
  const auto names = std::ranges::count(left, ',');
  while (!left.empty() && left.back() == ' ') {
    left.remove_suffix(1);
  }
  // "a, b, = " ends with a comma, "a = " has none.
  return names == 0 ? 1 : static_cast<std::size_t>(names) + (left.ends_with(',') ? 0 : 1);
}

/// Which indented blocks the current line is in.
class Blocks {
 public:
  void beginLine(std::string_view line) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) {
      return;
    }
    while (!open_.empty() && open_.back().indent >= indent) {
      --(open_.back().loop ? loops_ : branches_);
      open_.pop_back();
    }
    const std::string_view text = line.substr(indent);
    const bool branch = text.starts_with("if ") || text.starts_with("else:");
    const bool loop = text.starts_with("for ") || text.starts_with("while ");
    if (branch || loop) {
      pending_ = Block{indent, loop};
    }
  }
  /// The header's own expression is outside its block.
  void endLine() {
    if (pending_) {
      open_.push_back(*pending_);
      ++(pending_->loop ? loops_ : branches_);
      pending_.reset();
    }
  }
  [[nodiscard]] bool inside(bool loop) const { return (loop ? loops_ : branches_) > 0; }

 private:
  struct Block {
    std::size_t indent;
    bool loop;
  };
  std::vector<Block> open_;
  std::size_t loops_ = 0;
  std::size_t branches_ = 0;
  std::optional<Block> pending_;
};

}  // namespace

std::vector<SourceCall> findCalls(std::string_view source, std::size_t most) {
  // A hostile text of brackets must not cost its square; arguments matter for custom operators.
  constexpr std::size_t kLongestCall = std::size_t{16} << 10;
  constexpr std::size_t kMostDescribed = 10'000;
  std::size_t described = 0;
  std::vector<SourceCall> calls;
  Blocks blocks;
  std::int64_t line = 1;
  blocks.beginLine(source.substr(0, source.find('\n')));
  for (std::size_t i = 0; i < source.size() && calls.size() < most;) {
    const char c = source[i];
    if (c == '\n') {
      ++line;
      ++i;
      blocks.endLine();
      blocks.beginLine(source.substr(i, source.find('\n', i) - i));
    } else if (c == '#') {
      i = std::min(source.find('\n', i), source.size());
    } else if (c == '"' || c == '\'') {
      const std::size_t end = afterString(source, i);
      line += std::ranges::count(source.substr(i, end - i - 1), '\n');
      i = source[end - 1] == '\n' ? end - 1 : end;
    } else if (isWord(c)) {
      const std::string_view chain = chainAt(source, i);
      const std::size_t end = i + chain.size();
      const bool called = end < source.size() && source[end] == '(';
      const bool part = i > 0 && source[i - 1] == '.';
      if (const auto op = called && !part ? operatorOf(chain) : std::nullopt) {
        SourceCall call{.op = *op,
                        .line = line,
                        .positional = 0,
                        .keywords = {},
                        .unpacked = 1,
                        .conditional = blocks.inside(false),
                        .inLoop = blocks.inside(true)};
        if (!op->starts_with("aten::") && described < kMostDescribed) {
          ++described;
          const std::size_t from = i - std::min(i, kLongestCall);
          call.unpacked = unpackedBy(source.substr(from, i - from));
          countArguments(source.substr(0, std::min(source.size(), end + kLongestCall)), end, call);
        }
        calls.push_back(std::move(call));
      }
      i = end;
    } else {
      ++i;
    }
  }
  return calls;
}

}  // namespace neuroncheck::scanner
