// SPDX-License-Identifier: Apache-2.0
#include "core/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/schema_default.h"
#include "core/text_cursor.h"

namespace neuroncheck {
namespace {

constexpr std::size_t kMaxText = 65536;
constexpr int kMaxTypeDepth = 32;

struct TypeName {
  std::string_view text;
  SchemaType type;
};
constexpr std::array<TypeName, 19> kTypeNames{{
    {"Tensor", SchemaType::Tensor},         {"Scalar", SchemaType::Scalar},
    {"number", SchemaType::Scalar},         {"int", SchemaType::Int},
    {"SymInt", SchemaType::SymInt},         {"float", SchemaType::Float},
    {"SymFloat", SchemaType::SymFloat},     {"bool", SchemaType::Bool},
    {"SymBool", SchemaType::SymBool},       {"str", SchemaType::String},
    {"ScalarType", SchemaType::ScalarType}, {"Layout", SchemaType::Layout},
    {"Device", SchemaType::Device},         {"MemoryFormat", SchemaType::MemoryFormat},
    {"Generator", SchemaType::Generator},   {"Dimname", SchemaType::Dimname},
    {"Storage", SchemaType::Storage},       {"Stream", SchemaType::Stream},
    {"QScheme", SchemaType::QScheme},
}};
constexpr std::array<std::string_view, 8> kGenericTypes{"Dict",  "Future", "RRef", "Await",
                                                        "Tuple", "Union",  "List", "Optional"};

SchemaType typeOf(std::string_view text) {
  const auto* found =
      std::find_if(kTypeNames.begin(), kTypeNames.end(),
                   [text](const TypeName& candidate) { return candidate.text == text; });
  if (found != kTypeNames.end()) {
    return found->type;
  }
  return text.starts_with("__torch__.") ? SchemaType::CustomClass : SchemaType::Other;
}

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : cursor_(text) {}

  Result<FunctionSchema> declaration() {
    FunctionSchema schema;
    NEURONCHECK_TRY(schema.name, name());
    NEURONCHECK_TRY(schema.arguments, list(true));
    if (!cursor_.accept("->")) {
      return cursor_.failHere("expected '->'");
    }
    NEURONCHECK_TRY(schema.returns, returns());
    cursor_.skipBlanks();
    if (!cursor_.atEnd()) {
      return cursor_.failHere("text after the end of the schema");
    }
    return schema;
  }

 private:
  Result<OpName> name() {
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    const std::size_t length = cursor_.rest().find('(');
    if (length == std::string_view::npos) {
      return cursor_.failHere("expected 'namespace::name('");
    }
    cursor_.advance(length);
    const std::string_view text = cursor_.since(start);
    auto parsed = text.find(' ') == std::string_view::npos ? OpName::parse(text) : std::nullopt;
    if (!parsed) {
      cursor_.rewind(start);
      return cursor_.failHere("no operator name of the form namespace::name.overload");
    }
    return *std::move(parsed);
  }

  // "(a, b, *, c)": the list of arguments, or of returns, where '*' has no meaning.
  Result<std::vector<SchemaArgument>> list(bool isArguments) {
    std::vector<SchemaArgument> out;
    bool keywordOnly = false;
    if (!cursor_.accept("(")) {
      return cursor_.failHere("expected '('");
    }
    if (cursor_.accept(")")) {
      return out;
    }
    while (true) {
      if (cursor_.accept("...")) {
        if (!cursor_.accept(")")) {
          return cursor_.failHere("expected ')' after '...'");
        }
        return out;
      }
      if (isArguments && cursor_.accept("*")) {
        keywordOnly = true;
      } else {
        NEURONCHECK_TRY(SchemaArgument one, argument(isArguments));
        one.keywordOnly = keywordOnly;
        out.push_back(std::move(one));
      }
      if (cursor_.accept(")")) {
        return out;
      }
      if (!cursor_.accept(",")) {
        return cursor_.failHere("expected ',' or ')'");
      }
    }
  }

  Result<std::vector<SchemaArgument>> returns() {
    if (cursor_.accept("...")) {
      return std::vector<SchemaArgument>{};
    }
    cursor_.skipBlanks();
    if (cursor_.peek() == '(') {
      return list(false);
    }
    NEURONCHECK_TRY(SchemaArgument one, argument(false));
    std::vector<SchemaArgument> out;
    out.push_back(std::move(one));
    return out;
  }

  Result<SchemaArgument> argument(bool isArgument) {
    SchemaArgument out;
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    std::optional<std::size_t> fixedLength;
    NEURONCHECK_TRY_VOID(type(out, fixedLength, 0));
    out.typeText = cursor_.since(start);
    out.name = cursor_.identifier();
    if (isArgument && out.name.empty()) {
      return cursor_.failHere("expected an argument name");
    }
    if (isArgument && cursor_.accept("=")) {
      NEURONCHECK_TRY(out.defaultValue, parseSchemaDefault(cursor_, out, fixedLength));
    }
    return out;
  }

  // Fills the type facts of `out` from one type with its marks, and leaves the cursor right behind
  // it.
  Result<void> type(SchemaArgument& out, std::optional<std::size_t>& fixedLength, int depth) {
    if (depth > kMaxTypeDepth) {
      return cursor_.failHere("types are nested too deeply");
    }
    NEURONCHECK_TRY_VOID(baseType(out, depth));
    while (true) {
      switch (cursor_.peek()) {
        case '?':
          cursor_.advance();
          out.optional = true;
          break;
        case '[': {
          NEURONCHECK_TRY(fixedLength, listMark());
          out.elementOptional = out.elementOptional || out.optional;
          out.optional = false;
          out.list = true;
          break;
        }
        case '(':
          NEURONCHECK_TRY_VOID(alias(out));
          break;
        default:
          return {};
      }
    }
  }

  Result<void> baseType(SchemaArgument& out, int depth) {
    cursor_.skipBlanks();
    if (cursor_.peek() == '(') {
      return innerTypes(depth);
    }
    const std::size_t start = cursor_.position();
    if (cursor_.identifier().empty()) {
      return cursor_.failHere("expected a type");
    }
    while (cursor_.peek() == '.') {
      cursor_.advance();
      if (cursor_.identifier().empty()) {
        return cursor_.failHere("expected a name after '.'");
      }
    }
    const std::string_view base = cursor_.since(start);
    out.type = typeOf(base);
    const bool generic =
        std::find(kGenericTypes.begin(), kGenericTypes.end(), base) != kGenericTypes.end();
    if (generic && cursor_.peek() == '(') {
      return innerTypes(depth);
    }
    return {};
  }

  // "(str, t)" behind Dict, or a tuple type; what is inside decides nothing for us.
  Result<void> innerTypes(int depth) {
    (void)cursor_.accept("(");
    do {
      SchemaArgument inner;
      std::optional<std::size_t> innerLength;
      NEURONCHECK_TRY_VOID(type(inner, innerLength, depth + 1));
    } while (cursor_.accept(","));
    if (!cursor_.accept(")")) {
      return cursor_.failHere("expected ',' or ')' in a type");
    }
    return {};
  }

  // "[]" or "[2]".
  Result<std::optional<std::size_t>> listMark() {
    (void)cursor_.accept("[");
    std::optional<std::size_t> length;
    while (TextCursor::isDigit(cursor_.peek())) {
      length = length.value_or(0) * 10 + static_cast<std::size_t>(cursor_.peek() - '0');
      if (*length > kMaxFixedLength) {
        return cursor_.failHere("the list length is out of range");
      }
      cursor_.advance();
    }
    if (!cursor_.accept("]")) {
      return cursor_.failHere("expected ']'");
    }
    return length;
  }

  // "(a!)", "(a|b)", "(*)", "(a -> *)": the set before the call is kept, the one after it is not.
  Result<void> alias(SchemaArgument& out) {
    (void)cursor_.accept("(");
    NEURONCHECK_TRY(out.aliasSet, aliasSet());
    out.written = out.written || cursor_.accept("!");
    if (cursor_.accept("->")) {
      NEURONCHECK_TRY(const std::string after, aliasSet());
      (void)after;
    }
    if (!cursor_.accept(")")) {
      return cursor_.failHere("expected ')' after an alias set");
    }
    return {};
  }

  Result<std::string> aliasSet() {
    if (cursor_.accept("*")) {
      return std::string("*");
    }
    std::string out;
    do {
      const std::string_view set = cursor_.identifier();
      if (set.empty()) {
        return cursor_.failHere("expected an alias set");
      }
      out += out.empty() ? "" : "|";
      out += set;
    } while (cursor_.accept("|"));
    return out;
  }

  TextCursor cursor_;
};

bool shareSet(std::string_view a, std::string_view b) {
  while (!a.empty()) {
    const std::size_t bar = std::min(a.find('|'), a.size());
    const std::string_view first = a.substr(0, bar);
    for (std::string_view rest = b; !rest.empty();) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      if (rest.substr(0, end) == first) {
        return true;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    a.remove_prefix(std::min(bar + 1, a.size()));
  }
  return false;
}

}  // namespace

Result<FunctionSchema> FunctionSchema::parse(std::string_view text) {
  if (text.size() > kMaxText) {
    return inputError("a schema is longer than " + std::to_string(kMaxText) + " bytes");
  }
  auto schema = SchemaParser(text).declaration();
  if (!schema) {
    return tl::unexpected(std::move(schema).error().within("schema"));
  }
  schema->text = text;
  return schema;
}

const SchemaArgument* FunctionSchema::argument(std::string_view argumentName) const {
  const auto index = argumentIndex(argumentName);
  return index ? &arguments[*index] : nullptr;
}

std::optional<std::size_t> FunctionSchema::argumentIndex(std::string_view argumentName) const {
  const auto found = std::find_if(
      arguments.begin(), arguments.end(),
      [argumentName](const SchemaArgument& candidate) { return candidate.name == argumentName; });
  if (found == arguments.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - arguments.begin());
}

bool FunctionSchema::mutates() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const SchemaArgument& a) { return a.written; });
}

bool FunctionSchema::returnsAlias() const {
  return std::any_of(returns.begin(), returns.end(), [this](const SchemaArgument& result) {
    return std::any_of(arguments.begin(), arguments.end(), [&result](const SchemaArgument& a) {
      return !a.written && shareSet(a.aliasSet, result.aliasSet);
    });
  });
}

bool FunctionSchema::isOut() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const SchemaArgument& a) { return a.written && a.keywordOnly; });
}

bool OpInfo::hasTag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace neuroncheck
