// SPDX-License-Identifier: Apache-2.0
#include "numerics/rules/length.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "core/text_cursor.h"

namespace neuroncheck::numerics {

namespace {

using Kind = LengthNode::Kind;

constexpr int kMaxDepth = 32;
constexpr std::int64_t kMaxRank = 64;

constexpr std::array<std::pair<std::string_view, Kind>, 7> kFunctions = {{
    {"numel", Kind::Numel},
    {"size", Kind::Size},
    {"prod", Kind::Product},
    {"contracted", Kind::Contracted},
    {"max", Kind::Max},
    {"min", Kind::Min},
    {"if", Kind::If},
}};

std::optional<Kind> functionKind(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, [](const auto& f) { return f.first; });
  return found == kFunctions.end() ? std::nullopt : std::optional(found->second);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  Result<LengthNode> all() {
    NEURONCHECK_TRY(LengthNode node, sum(0));
    cursor_.skipBlanks();
    if (!cursor_.atEnd()) {
      return cursor_.failHere("an operator is expected");
    }
    return node;
  }

 private:
  Result<LengthNode> sum(int depth) {
    if (depth > kMaxDepth) {
      return cursor_.failHere("nested too deeply");
    }
    NEURONCHECK_TRY(LengthNode left, product(depth));
    while (cursor_.accept("+")) {
      NEURONCHECK_TRY(LengthNode right, product(depth));
      left = join(Kind::Add, std::move(left), std::move(right));
    }
    return left;
  }

  Result<LengthNode> product(int depth) {
    NEURONCHECK_TRY(LengthNode left, atom(depth));
    while (true) {
      Kind kind = Kind::Multiply;
      if (cursor_.accept("/")) {
        kind = Kind::Divide;
      } else if (!cursor_.accept("*")) {
        return left;
      }
      NEURONCHECK_TRY(LengthNode right, atom(depth));
      left = join(kind, std::move(left), std::move(right));
    }
  }

  Result<LengthNode> atom(int depth) {
    if (cursor_.accept("(")) {
      NEURONCHECK_TRY(LengthNode node, sum(depth + 1));
      NEURONCHECK_TRY_VOID(expect(")"));
      return node;
    }
    cursor_.skipBlanks();
    if (TextCursor::isDigit(cursor_.peek())) {
      return integer();
    }
    const std::string name(cursor_.identifier());
    if (name.empty()) {
      return cursor_.failHere("a number, a name or '(' is expected");
    }
    // "size" and "max" are arguments of some operators: a function only where "(" follows.
    if (!cursor_.accept("(")) {
      return named(name);
    }
    const std::optional<Kind> kind = functionKind(name);
    if (!kind) {
      return cursor_.failHere("'" + name + "' is not a function");
    }
    NEURONCHECK_TRY(LengthNode node, arguments(*kind, depth));
    NEURONCHECK_TRY_VOID(expect(")"));
    return node;
  }

  Result<LengthNode> arguments(Kind kind, int depth) {
    LengthNode node{kind, 0, {}, {}};
    if (kind == Kind::Max || kind == Kind::Min || kind == Kind::If) {
      const int count = kind == Kind::If ? 3 : 2;
      for (int i = 0; i < count; ++i) {
        if (i > 0) {
          NEURONCHECK_TRY_VOID(expect(","));
        }
        NEURONCHECK_TRY(LengthNode child, sum(depth + 1));
        node.children.push_back(std::move(child));
      }
      return node;
    }
    node.name = std::string(cursor_.identifier());
    if (node.name.empty()) {
      return cursor_.failHere("the name of an argument is expected");
    }
    if (kind == Kind::Product && cursor_.accept(",")) {
      NEURONCHECK_TRY(const LengthNode count, integer());
      if (count.value > kMaxRank) {
        return cursor_.failHere("a count of dimensions is expected");
      }
      node.value = count.value;
    } else if (kind == Kind::Size || kind == Kind::Contracted) {
      NEURONCHECK_TRY_VOID(expect(","));
      NEURONCHECK_TRY(LengthNode child, dimension(kind == Kind::Size));
      node.children.push_back(std::move(child));
    }
    return node;
  }

  Result<LengthNode> dimension(bool mayBeNumber) {
    const bool negative = mayBeNumber && cursor_.accept("-");
    cursor_.skipBlanks();
    if (mayBeNumber && (negative || TextCursor::isDigit(cursor_.peek()))) {
      NEURONCHECK_TRY(LengthNode node, integer());
      node.value = negative ? -node.value : node.value;
      return node;
    }
    const std::string name(cursor_.identifier());
    if (name.empty()) {
      return cursor_.failHere("a name is expected");
    }
    return named(name);
  }

  Result<LengthNode> integer() {
    cursor_.skipBlanks();
    const std::string_view rest = cursor_.rest();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || value < 0) {
      return cursor_.failHere("an integer of 63 bits is expected");
    }
    cursor_.advance(static_cast<std::size_t>(end - rest.data()));
    return LengthNode{Kind::Integer, value, {}, {}};
  }

  Result<void> expect(std::string_view token) {
    if (!cursor_.accept(token)) {
      return cursor_.failHere("'" + std::string(token) + "' is expected");
    }
    return {};
  }

  static LengthNode named(std::string name) {
    return LengthNode{Kind::Name, 0, std::move(name), {}};
  }
  static LengthNode join(Kind kind, LengthNode left, LengthNode right) {
    LengthNode node{kind, 0, {}, {}};
    node.children.push_back(std::move(left));
    node.children.push_back(std::move(right));
    return node;
  }

  TextCursor cursor_;
};

int binding(Kind kind) {
  switch (kind) {
    case Kind::Add:
      return 1;
    case Kind::Multiply:
    case Kind::Divide:
      return 2;
    default:
      return 3;
  }
}

std::string print(const LengthNode& node);

std::string printOperand(const LengthNode& node, int least) {
  const std::string text = print(node);
  return binding(node.kind) < least ? "(" + text + ")" : text;
}

std::string printBinary(const LengthNode& node, std::string_view sign) {
  const int own = binding(node.kind);
  // The left operand may bind as loosely: the grammar groups to the left.
  return printOperand(node.children[0], own) + std::string(sign) +
         printOperand(node.children[1], own + 1);
}

std::string printCall(const LengthNode& node) {
  const auto* function =
      std::ranges::find(kFunctions, node.kind, [](const auto& f) { return f.second; });
  std::string text = std::string(function->first) + "(" + node.name;
  for (const LengthNode& child : node.children) {
    text += text.back() == '(' ? "" : ", ";
    text += print(child);
  }
  if (node.kind == Kind::Product && node.value > 0) {
    text += ", " + std::to_string(node.value);
  }
  return text + ")";
}

std::string print(const LengthNode& node) {
  switch (node.kind) {
    case Kind::Integer:
      return std::to_string(node.value);
    case Kind::Name:
      return node.name;
    case Kind::Add:
      return printBinary(node, " + ");
    case Kind::Multiply:
      return printBinary(node, " * ");
    case Kind::Divide:
      return printBinary(node, " / ");
    default:
      return printCall(node);
  }
}

void collectNames(const LengthNode& node, std::vector<std::string>& names) {
  if (!node.name.empty()) {
    names.push_back(node.name);
  }
  for (const LengthNode& child : node.children) {
    collectNames(child, names);
  }
}

}  // namespace

const LengthOperand* LengthOperands::find(std::string_view name) const {
  auto found = named.find(name);
  if (found == named.end() && name == "out") {
    found = named.find("out0");
  }
  return found == named.end() ? nullptr : &found->second;
}

Result<LengthExpression> LengthExpression::parse(std::string_view text) {
  NEURONCHECK_TRY(LengthNode root, Parser(text).all());
  return LengthExpression(std::move(root));
}

std::string LengthExpression::str() const { return print(root_); }

std::vector<std::string> LengthExpression::names() const {
  std::vector<std::string> out;
  collectNames(root_, out);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace neuroncheck::numerics
