// SPDX-License-Identifier: Apache-2.0
#include "core/schema_default.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace neuroncheck {
namespace {

// One literal, before the type of the argument gives it a meaning.
struct Word {
  std::string text;
};
using Literal = std::variant<std::int64_t, double, std::string, Word>;

constexpr std::size_t kMaxListLength = 1024;

// torch's c10 enumerations by their integers (c10/core/ScalarType.h, MemoryFormat.h, Layout.h).
// These are not the codes of the export schema.
constexpr std::array<DType, 30> kScalarTypes{
    DType::UInt8,        DType::Int8,           DType::Int16,          DType::Int32,
    DType::Int64,        DType::Float16,        DType::Float32,        DType::Float64,
    DType::Complex32,    DType::Complex64,      DType::Complex128,     DType::Bool,
    DType::QInt8,        DType::QUInt8,         DType::QInt32,         DType::BFloat16,
    DType::QUInt4x2,     DType::QUInt2x4,       DType::Unknown,        DType::Unknown,
    DType::Unknown,      DType::Unknown,        DType::Unknown,        DType::Float8E5M2,
    DType::Float8E4M3FN, DType::Float8E5M2FNUZ, DType::Float8E4M3FNUZ, DType::UInt16,
    DType::UInt32,       DType::UInt64};
constexpr std::array<MemoryFormat, 4> kMemoryFormats{
    MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast,
    MemoryFormat::ChannelsLast3d};
constexpr std::array<Layout, 8> kLayouts{Layout::Strided,   Layout::SparseCoo, Layout::SparseCsr,
                                         Layout::Mkldnn,    Layout::SparseCsc, Layout::SparseBsr,
                                         Layout::SparseBsc, Layout::Jagged};

template <typename E, std::size_t N>
std::optional<E> byCode(const std::array<E, N>& table, std::int64_t code) {
  if (code < 0 || code >= static_cast<std::int64_t>(N)) {
    return std::nullopt;
  }
  return table.at(static_cast<std::size_t>(code));
}

Result<char> escapedCharacter(TextCursor& cursor) {
  const char c = cursor.peek();
  constexpr std::string_view kNames = "ntrfvab0\\'\"";
  constexpr std::string_view kValues{"\n\t\r\f\v\a\b\0\\'\"", 11};
  const std::size_t at = kNames.find(c);
  if (at == std::string_view::npos) {
    return cursor.failHere("unknown escape in a string");
  }
  cursor.advance();
  return kValues[at];
}

Result<std::string> quoted(TextCursor& cursor) {
  const char quote = cursor.peek();
  std::string out;
  cursor.advance();
  while (cursor.peek() != quote) {
    if (cursor.atEnd()) {
      return cursor.failHere("a string does not end");
    }
    const char c = cursor.peek();
    cursor.advance();
    if (c == '\\') {
      NEURONCHECK_TRY(const char escaped, escapedCharacter(cursor));
      out += escaped;
    } else {
      out += c;
    }
  }
  cursor.advance();
  return out;
}

Result<Literal> number(TextCursor& cursor) {
  const std::string_view rest = cursor.rest();
  std::int64_t integer = 0;
  const char* end = rest.data() + rest.size();
  const auto whole = std::from_chars(rest.data(), end, integer);
  const bool isInteger =
      whole.ec == std::errc() &&
      (whole.ptr == end || (*whole.ptr != '.' && *whole.ptr != 'e' && *whole.ptr != 'E'));
  if (isInteger) {
    cursor.advance(static_cast<std::size_t>(whole.ptr - rest.data()));
    return Literal(integer);
  }
  double real = 0;
  const auto fraction = std::from_chars(rest.data(), end, real);
  if (fraction.ec != std::errc()) {
    return cursor.failHere("a number is expected, or it is out of range");
  }
  cursor.advance(static_cast<std::size_t>(fraction.ptr - rest.data()));
  return Literal(real);
}

Result<Literal> literal(TextCursor& cursor) {
  cursor.skipBlanks();
  const char c = cursor.peek();
  if (c == '"' || c == '\'') {
    NEURONCHECK_TRY(std::string text, quoted(cursor));
    return Literal(std::move(text));
  }
  const std::string_view word = cursor.identifier();
  if (word == "inf") {
    return Literal(std::numeric_limits<double>::infinity());
  }
  if (word == "nan") {
    return Literal(std::numeric_limits<double>::quiet_NaN());
  }
  if (!word.empty()) {
    return Literal(Word{std::string(word)});
  }
  return number(cursor);
}

std::optional<std::int64_t> integerOf(const Literal& literal) {
  if (const auto* value = std::get_if<std::int64_t>(&literal)) {
    return *value;
  }
  // at::Reduction, whose words native_functions.yaml uses as integers.
  if (const auto* word = std::get_if<Word>(&literal)) {
    if (word->text == "Mean") {
      return 1;
    }
    if (word->text == "Sum") {
      return 2;
    }
  }
  return std::nullopt;
}

std::optional<double> realOf(const Literal& literal) {
  if (const auto* value = std::get_if<double>(&literal)) {
    return *value;
  }
  if (const auto* value = std::get_if<std::int64_t>(&literal)) {
    return static_cast<double>(*value);
  }
  return std::nullopt;
}

std::optional<bool> boolOf(const Literal& literal) {
  const auto* word = std::get_if<Word>(&literal);
  if (word != nullptr && (word->text == "True" || word->text == "False")) {
    return word->text == "True";
  }
  return std::nullopt;
}

template <typename E, std::size_t N, typename Parse>
std::optional<ArgValue> enumValue(const Literal& literal, const std::array<E, N>& table,
                                  Parse parse) {
  std::optional<E> value;
  if (const auto* code = std::get_if<std::int64_t>(&literal)) {
    value = byCode(table, *code);
  } else if (const auto* word = std::get_if<Word>(&literal)) {
    value = parse(word->text);
  }
  return value ? std::optional<ArgValue>(*value) : std::nullopt;
}

std::optional<ArgValue> deviceOf(const Literal& literal) {
  const auto* text = std::get_if<std::string>(&literal);
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::size_t colon = text->find(':');
  Device device{text->substr(0, colon), std::nullopt};
  if (colon != std::string::npos) {
    std::int64_t index = 0;
    const char* begin = text->data() + colon + 1;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(begin, end, index);
    if (read.ec != std::errc() || read.ptr != end) {
      return std::nullopt;
    }
    device.index = index;
  }
  return device;
}

// A number, bool or string by its own form: for Scalar and for types we do not know.
std::optional<ArgValue> byForm(const Literal& literal) {
  if (const auto flag = boolOf(literal)) {
    return SymBool{*flag, nullptr, {}};
  }
  if (const auto integer = integerOf(literal)) {
    return SymIntValue{SymInt(*integer), {}};
  }
  if (const auto real = realOf(literal)) {
    return SymFloat{*real, nullptr, {}};
  }
  if (const auto* text = std::get_if<std::string>(&literal)) {
    return *text;
  }
  return std::nullopt;
}

std::optional<ArgValue> typed(const Literal& literal, SchemaType type) {
  switch (type) {
    case SchemaType::Int:
    case SchemaType::SymInt: {
      const auto value = integerOf(literal);
      return value ? std::optional<ArgValue>(SymIntValue{SymInt(*value), {}}) : std::nullopt;
    }
    case SchemaType::Float:
    case SchemaType::SymFloat: {
      const auto value = realOf(literal);
      return value ? std::optional<ArgValue>(SymFloat{*value, nullptr, {}}) : std::nullopt;
    }
    case SchemaType::Bool:
    case SchemaType::SymBool: {
      const auto value = boolOf(literal);
      return value ? std::optional<ArgValue>(SymBool{*value, nullptr, {}}) : std::nullopt;
    }
    case SchemaType::String: {
      const auto* value = std::get_if<std::string>(&literal);
      return value != nullptr ? std::optional<ArgValue>(*value) : std::nullopt;
    }
    case SchemaType::ScalarType:
      return enumValue(literal, kScalarTypes, parseDType);
    case SchemaType::MemoryFormat:
      return enumValue(literal, kMemoryFormats, parseMemoryFormat);
    case SchemaType::Layout:
      return enumValue(literal, kLayouts, parseLayout);
    case SchemaType::Device:
      return deviceOf(literal);
    case SchemaType::Scalar:
    case SchemaType::Other:
      return byForm(literal);
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<ArgValue> allOf(const std::vector<ArgValue>& values) {
  std::vector<T> out;
  for (const ArgValue& value : values) {
    const T* one = std::get_if<T>(&value);
    if (one == nullptr) {
      return std::nullopt;
    }
    out.push_back(*one);
  }
  return out;
}

std::optional<ArgValue> realsOf(const std::vector<ArgValue>& values) {
  std::vector<SymFloat> out;
  for (const ArgValue& value : values) {
    if (const auto* real = std::get_if<SymFloat>(&value)) {
      out.push_back(*real);
    } else if (const auto* integer = std::get_if<SymIntValue>(&value)) {
      out.push_back(SymFloat{static_cast<double>(integer->value.value), nullptr, {}});
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<ArgValue> listOf(const std::vector<ArgValue>& values, SchemaType type) {
  switch (type) {
    case SchemaType::Tensor:
      return values.empty() ? std::optional<ArgValue>(TensorList{}) : std::nullopt;
    case SchemaType::Bool:
    case SchemaType::SymBool:
      return allOf<SymBool>(values);
    case SchemaType::String:
      return allOf<std::string>(values);
    case SchemaType::Float:
    case SchemaType::SymFloat:
      return allOf<SymFloat>(values);
    default: {
      auto integers = allOf<SymIntValue>(values);
      return integers ? std::move(integers) : realsOf(values);
    }
  }
}

}  // namespace

Result<ArgValue> parseSchemaDefault(TextCursor& cursor, const SchemaArgument& argument,
                                    std::optional<std::size_t> fixedLength) {
  cursor.skipBlanks();
  const std::size_t start = cursor.position();
  const auto wrong = [&cursor, start, &argument]() {
    cursor.rewind(start);
    return cursor.failHere("the default of '" + argument.name + "' does not fit the type " +
                           argument.typeText);
  };
  std::vector<ArgValue> values;
  const auto one = [&cursor, &argument, &values, &wrong]() -> Result<void> {
    NEURONCHECK_TRY(const Literal value, literal(cursor));
    auto meant = typed(value, argument.type);
    if (!meant) {
      return wrong();
    }
    values.push_back(*std::move(meant));
    return {};
  };

  if (argument.list && cursor.accept("[")) {
    while (!cursor.accept("]")) {
      if (values.size() >= kMaxListLength || (!values.empty() && !cursor.accept(","))) {
        return cursor.failHere("expected ',' or ']'");
      }
      NEURONCHECK_TRY_VOID(one());
    }
  } else {
    const std::string_view word = cursor.identifier();
    if (word == "None") {
      return ArgValue(NoneValue{});
    }
    cursor.rewind(start);
    NEURONCHECK_TRY_VOID(one());
    if (!argument.list) {
      return std::move(values.front());
    }
    values.resize(fixedLength.value_or(1), values.front());
  }
  auto list = listOf(values, argument.type);
  if (!list) {
    return wrong();
  }
  return *std::move(list);
}

}  // namespace neuroncheck
