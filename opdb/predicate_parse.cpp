// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/predicate.h"
#include "opdb/predicate_lexer.h"
#include "opdb/predicate_node.h"
#include "opdb/predicate_types.h"

namespace neuroncheck::opdb {
namespace {

using Node = Predicate::Node;
using NodePtr = std::shared_ptr<const Node>;
using Kind = Node::Kind;
using Token = PredicateToken;

constexpr int kMaxDepth = 64;

struct FunctionWord {
  std::string_view word;
  Kind kind;
  PredicateType type;
  bool hasNumber;  ///< a second, integer parameter
};
constexpr std::array<FunctionWord, 9> kFunctions = {{
    {.word = "dtype", .kind = Kind::DTypeOf, .type = PredicateType::DType, .hasNumber = false},
    {.word = "itemsize",
     .kind = Kind::ItemSizeOf,
     .type = PredicateType::Number,
     .hasNumber = false},
    {.word = "rank", .kind = Kind::RankOf, .type = PredicateType::Number, .hasNumber = false},
    {.word = "size", .kind = Kind::SizeOf, .type = PredicateType::Number, .hasNumber = true},
    {.word = "contiguous",
     .kind = Kind::ContiguousOf,
     .type = PredicateType::Boolean,
     .hasNumber = false},
    {.word = "len", .kind = Kind::LengthOf, .type = PredicateType::Number, .hasNumber = false},
    {.word = "value", .kind = Kind::Value, .type = PredicateType::Any, .hasNumber = false},
    {.word = "is_none", .kind = Kind::IsNone, .type = PredicateType::Boolean, .hasNumber = false},
    {.word = "any_gt", .kind = Kind::AnyGreater, .type = PredicateType::Boolean, .hasNumber = true},
}};

struct ComparisonSymbol {
  std::string_view symbol;
  Comparison comparison;
};
constexpr std::array<ComparisonSymbol, 6> kComparisons = {{
    {.symbol = "==", .comparison = Comparison::Equal},
    {.symbol = "!=", .comparison = Comparison::NotEqual},
    {.symbol = "<", .comparison = Comparison::Less},
    {.symbol = "<=", .comparison = Comparison::LessEqual},
    {.symbol = ">", .comparison = Comparison::Greater},
    {.symbol = ">=", .comparison = Comparison::GreaterEqual},
}};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const FunctionSchema* schema)
      : tokens_(std::move(tokens)), schema_(schema) {}

  Result<NodePtr> run() {
    if (peek().kind == Token::Kind::End) {
      return predicateError(1, "the predicate is empty");
    }
    NEURONCHECK_TRY(NodePtr root, disjunction());
    NEURONCHECK_TRY_VOID(resolveWord(root, PredicateType::Any));
    if (peek().kind != Token::Kind::End) {
      return predicateError(peek().column, fmt::format("'{}' is not expected here", peek().text));
    }
    NEURONCHECK_TRY_VOID(checkCondition(*root));
    return root;
  }

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool isSymbol(std::string_view symbol, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Symbol && peek(ahead).text == symbol;
  }
  bool accept(std::string_view symbol) {
    const bool found = isSymbol(symbol);
    at_ += found ? 1U : 0U;
    return found;
  }
  Result<void> expect(std::string_view symbol) {
    if (accept(symbol)) {
      return {};
    }
    const bool end = peek().kind == Token::Kind::End;
    return predicateError(peek().column,
                          fmt::format("'{}' is expected{}", symbol,
                                      end ? "" : fmt::format(" instead of '{}'", peek().text)));
  }

  Result<NodePtr> chain(Kind kind, std::string_view symbol, Result<NodePtr> (Parser::*operand)()) {
    NEURONCHECK_TRY(NodePtr first, (this->*operand)());
    if (!isSymbol(symbol)) {
      return first;
    }
    Node node{
        .kind = kind, .type = PredicateType::Boolean, .children = {}, .column = first->column};
    NEURONCHECK_TRY_VOID(resolveWord(first, PredicateType::Any));
    NEURONCHECK_TRY_VOID(checkCondition(*first));
    node.children.push_back(std::move(first));
    while (accept(symbol)) {
      NEURONCHECK_TRY(NodePtr next, (this->*operand)());
      NEURONCHECK_TRY_VOID(resolveWord(next, PredicateType::Any));
      NEURONCHECK_TRY_VOID(checkCondition(*next));
      node.children.push_back(std::move(next));
    }
    return std::make_shared<const Node>(std::move(node));
  }
  Result<NodePtr> disjunction() { return chain(Kind::Or, "||", &Parser::conjunction); }
  Result<NodePtr> conjunction() { return chain(Kind::And, "&&", &Parser::negation); }

  Result<NodePtr> negation() {
    if (depth_ >= kMaxDepth) {
      return predicateError(peek().column, fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    ++depth_;
    const std::size_t column = peek().column;
    if (!accept("!")) {
      auto result = comparison();
      --depth_;
      return result;
    }
    NEURONCHECK_TRY(NodePtr operand, negation());
    --depth_;
    NEURONCHECK_TRY_VOID(resolveWord(operand, PredicateType::Any));
    NEURONCHECK_TRY_VOID(checkCondition(*operand));
    return std::make_shared<const Node>(Node{.kind = Kind::Not,
                                             .type = PredicateType::Boolean,
                                             .children = {std::move(operand)},
                                             .column = column});
  }

  Result<NodePtr> comparison() {
    NEURONCHECK_TRY(NodePtr left, remainder());
    if (peek().kind == Token::Kind::Word && peek().text == "in") {
      ++at_;
      return membership(std::move(left));
    }
    const auto* found = std::ranges::find_if(
        kComparisons, [&](const ComparisonSymbol& entry) { return isSymbol(entry.symbol); });
    if (found == kComparisons.end()) {
      return left;
    }
    ++at_;
    NEURONCHECK_TRY(NodePtr right, remainder());
    NEURONCHECK_TRY_VOID(resolveWord(right, left->type));
    NEURONCHECK_TRY_VOID(resolveWord(left, right->type));
    NEURONCHECK_TRY_VOID(checkComparison(*left, *right, found->comparison));
    const std::size_t column = left->column;
    return std::make_shared<const Node>(Node{.kind = Kind::Compare,
                                             .type = PredicateType::Boolean,
                                             .comparison = found->comparison,
                                             .children = {std::move(left), std::move(right)},
                                             .column = column});
  }

  Result<NodePtr> membership(NodePtr left) {
    const std::size_t column = left->column;
    Node node{.kind = Kind::In,
              .type = PredicateType::Boolean,
              .children = {std::move(left)},
              .column = column};
    NEURONCHECK_TRY_VOID(resolveWord(node.children.front(), PredicateType::Any));
    NEURONCHECK_TRY(std::vector<NodePtr> elements, setElements(node.children.front()->type));
    for (NodePtr& element : elements) {
      NEURONCHECK_TRY_VOID(checkComparison(*node.children.front(), *element, Comparison::Equal));
      node.children.push_back(std::move(element));
    }
    return std::make_shared<const Node>(std::move(node));
  }

  Result<std::vector<NodePtr>> setElements(PredicateType of) {
    std::vector<NodePtr> elements;
    if (peek().kind == Token::Kind::Word) {
      if (const auto named = namedDTypeSet(peek().text)) {
        for (const DType dtype : *named) {
          elements.push_back(literal(dtype, PredicateType::DType, peek().column));
        }
        ++at_;
        return elements;
      }
    }
    NEURONCHECK_TRY_VOID(expect("{"));
    do {
      NEURONCHECK_TRY(NodePtr element, primary());
      if (element->type == PredicateType::Word && of == PredicateType::Text) {
        element = literal(element->argument, PredicateType::Text, element->column);
      }
      if (element->kind != Kind::Literal) {
        const bool name = element->kind == Kind::Value;
        return predicateError(element->column,
                              name ? fmt::format("'{}' is no dtype, chip, layout or memory format "
                                                 "(a set holds literals; texts stand in quotes)",
                                                 element->argument)
                                   : std::string("a set holds literals only"));
      }
      elements.push_back(std::move(element));
    } while (accept(","));
    NEURONCHECK_TRY_VOID(expect("}"));
    return elements;
  }

  Result<NodePtr> remainder() {
    NEURONCHECK_TRY(NodePtr left, primary());
    while (isSymbol("%")) {
      ++at_;
      NEURONCHECK_TRY(NodePtr right, primary());
      NEURONCHECK_TRY_VOID(resolveWord(left, PredicateType::Any));
      NEURONCHECK_TRY_VOID(resolveWord(right, PredicateType::Any));
      NEURONCHECK_TRY_VOID(checkNumber(*left));
      NEURONCHECK_TRY_VOID(checkNumber(*right));
      if (right->kind == Kind::Literal && right->literal == Atom(std::int64_t{0})) {
        return predicateError(right->column, "remainder of a division by zero");
      }
      const std::size_t column = left->column;
      left = std::make_shared<const Node>(Node{.kind = Kind::Modulo,
                                               .type = PredicateType::Number,
                                               .children = {std::move(left), std::move(right)},
                                               .column = column});
    }
    return left;
  }

  Result<NodePtr> primary() {
    const Token token = peek();
    switch (token.kind) {
      case Token::Kind::Integer:
      case Token::Kind::Real:
        ++at_;
        return number(token, false);
      case Token::Kind::Text:
        ++at_;
        return literal(token.text, PredicateType::Text, token.column);
      case Token::Kind::Word:
        ++at_;
        return word(token);
      case Token::Kind::End:
        return predicateError(token.column, "the predicate ends where a value is expected");
      case Token::Kind::Symbol:
        break;
    }
    if (accept("-")) {
      const Token digits = peek();
      if (digits.kind == Token::Kind::Word && (digits.text == "inf" || digits.text == "Infinity")) {
        ++at_;
        return literal(-std::numeric_limits<double>::infinity(), PredicateType::Number,
                       token.column);
      }
      if (digits.kind != Token::Kind::Integer && digits.kind != Token::Kind::Real) {
        return predicateError(digits.column, "a number is expected after '-'");
      }
      ++at_;
      return number(digits, true);
    }
    if (accept("(")) {
      NEURONCHECK_TRY(NodePtr inner, disjunction());
      NEURONCHECK_TRY_VOID(expect(")"));
      return inner;
    }
    return predicateError(token.column, fmt::format("'{}' is not expected here", token.text));
  }

  /// A bare word beside a text is a text; anywhere else it was meant to be an argument.
  Result<void> resolveWord(NodePtr& node, PredicateType other) const {
    if (node->type != PredicateType::Word) {
      return {};
    }
    if (other != PredicateType::Text) {
      return noArgument(*schema_, node->argument, node->column);
    }
    node = literal(node->argument, PredicateType::Text, node->column);
    return {};
  }

  static NodePtr literal(Atom atom, PredicateType type, std::size_t column) {
    return std::make_shared<const Node>(
        Node{.kind = Kind::Literal, .type = type, .literal = std::move(atom), .column = column});
  }

  static Result<NodePtr> number(const Token& token, bool negative) {
    const std::string digits = (negative ? "-" : "") + token.text;
    const char* const end = digits.data() + digits.size();
    if (token.kind == Token::Kind::Integer) {
      std::int64_t value = 0;
      if (const auto parsed = std::from_chars(digits.data(), end, value);
          parsed.ec != std::errc() || parsed.ptr != end) {
        return predicateError(token.column, fmt::format("{} is beyond 64 bits", digits));
      }
      return literal(value, PredicateType::Number, token.column);
    }
    double value = 0;
    if (const auto parsed = std::from_chars(digits.data(), end, value);
        parsed.ec != std::errc() || parsed.ptr != end) {
      return predicateError(token.column, fmt::format("'{}' is no number", digits));
    }
    return literal(value, PredicateType::Number, token.column);
  }

  Result<NodePtr> word(const Token& token) {
    if (isSymbol("(")) {
      return call(token);
    }
    if (const auto constant = literalWord(token.text)) {
      return literal(constant->atom, constant->type, token.column);
    }
    if (token.text == "any_dtype" || token.text == "any_symbolic") {
      const bool ofDType = token.text == "any_dtype";
      return std::make_shared<const Node>(
          Node{.kind = ofDType ? Kind::AnyDType : Kind::AnySymbolic,
               .type = ofDType ? PredicateType::DType : PredicateType::Boolean,
               .column = token.column,
               .scope = scopeOf(ofDType)});
    }
    if (token.text == "chip") {
      return std::make_shared<const Node>(
          Node{.kind = Kind::Chip, .type = PredicateType::Chip, .column = token.column});
    }
    if (token.text == "in" || namedDTypeSet(token.text)) {
      return predicateError(token.column, fmt::format("'{}' is not expected here", token.text));
    }
    if (schema_ != nullptr && schema_->argument(token.text) == nullptr) {
      return std::make_shared<const Node>(Node{.kind = Kind::Value,
                                               .type = PredicateType::Word,
                                               .argument = token.text,
                                               .column = token.column});
    }
    return argumentNode(Kind::Value, PredicateType::Any, token, token.column);
  }

  Result<NodePtr> call(const Token& name) {
    const auto* function = std::ranges::find(kFunctions, name.text, &FunctionWord::word);
    if (function == kFunctions.end()) {
      return predicateError(name.column, fmt::format("no function '{}'", name.text));
    }
    NEURONCHECK_TRY_VOID(expect("("));
    const Token argument = peek();
    if (argument.kind != Token::Kind::Word) {
      return predicateError(argument.column, "the name of an argument is expected");
    }
    ++at_;
    std::int64_t value = 0;
    if (function->hasNumber) {
      NEURONCHECK_TRY_VOID(expect(","));
      NEURONCHECK_TRY(const NodePtr parameter, primary());
      const auto* integer = std::get_if<std::int64_t>(&parameter->literal);
      if (parameter->kind != Kind::Literal || integer == nullptr) {
        return predicateError(parameter->column, "an integer is expected");
      }
      value = *integer;
    }
    NEURONCHECK_TRY_VOID(expect(")"));
    NEURONCHECK_TRY(NodePtr node,
                    argumentNode(function->kind, function->type, argument, name.column));
    if (!function->hasNumber) {
      return node;
    }
    Node numbered = *node;
    numbered.number = value;
    return std::make_shared<const Node>(std::move(numbered));
  }

  Result<NodePtr> argumentNode(Kind kind, PredicateType type, const Token& argument,
                               std::size_t column) {
    if (schema_ != nullptr) {
      NEURONCHECK_TRY(const PredicateType checked,
                      checkArgument(*schema_, kind, argument.text, argument.column));
      type = kind == Kind::Value ? checked : type;
    }
    return std::make_shared<const Node>(
        Node{.kind = kind, .type = type, .argument = argument.text, .column = column});
  }

  std::optional<std::vector<std::string>> scopeOf(bool tensorsOnly) const {
    if (schema_ == nullptr) {
      return std::nullopt;
    }
    std::vector<std::string> names;
    for (const SchemaArgument& argument : schema_->arguments) {
      if (!tensorsOnly || argument.type == SchemaType::Tensor) {
        names.push_back(argument.name);
      }
    }
    return names;
  }

  std::vector<Token> tokens_;
  const FunctionSchema* schema_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void collectArguments(const Node& node, std::set<std::string>& names) {
  if (!node.argument.empty()) {
    names.insert(node.argument);
  }
  for (const NodePtr& child : node.children) {
    collectArguments(*child, names);
  }
}

}  // namespace

Result<Predicate> Predicate::parse(std::string_view text, const FunctionSchema* schema) {
  NEURONCHECK_TRY(std::vector<Token> tokens, tokenizePredicate(text));
  NEURONCHECK_TRY(NodePtr root, Parser(std::move(tokens), schema).run());
  Predicate predicate;
  predicate.text_ = text;
  predicate.root_ = std::move(root);
  return predicate;
}

std::vector<std::string> Predicate::arguments() const {
  std::set<std::string> names;
  if (root_ != nullptr) {
    collectArguments(*root_, names);
  }
  return {names.begin(), names.end()};
}

}  // namespace neuroncheck::opdb
