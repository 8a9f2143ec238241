// SPDX-License-Identifier: Apache-2.0
#include "core/case_parser.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "core/text_cursor.h"

namespace neuroncheck {
namespace {

using case_detail::kMaxListDepth;

/// Recursive descent over one case; recursion only into lists, which are bounded.
class CaseParser {
 public:
  explicit CaseParser(std::string_view text) : cursor_(text) {}

  Result<CaseSpec> parse() {
    CaseSpec spec;
    do {
      if (spec.steps.size() == case_detail::kMaxSteps) {
        return cursor_.failHere("too many steps");
      }
      NEURONCHECK_TRY(CaseStep next, step());
      spec.steps.push_back(std::move(next));
    } while (cursor_.accept(";;"));
    NEURONCHECK_TRY_VOID(flags(spec));
    if (!cursor_.atEnd()) {
      return cursor_.failHere("expected \";;\", \"!grad\", \"!error=\" or the end");
    }
    return case_detail::canonical(std::move(spec));
  }

 private:
  Result<void> flags(CaseSpec& spec) {
    while (cursor_.accept("!")) {
      if (cursor_.accept("grad") && !spec.backward) {
        spec.backward = true;
      } else if (cursor_.accept("error=") && !spec.expectedError) {
        NEURONCHECK_TRY(spec.expectedError, string());
      } else {
        return cursor_.failHere("expected grad or error=, each once");
      }
    }
    cursor_.skipBlanks();
    return {};
  }

  Result<CaseStep> step() {
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    while (TextCursor::isNameStart(cursor_.peek()) || TextCursor::isDigit(cursor_.peek()) ||
           cursor_.peek() == ':' || cursor_.peek() == '.') {
      cursor_.advance();
    }
    const auto op = OpName::parse(cursor_.since(start));
    if (!op) {
      return cursor_.failHere("expected an operator such as aten::add.Tensor");
    }
    operands_.clear();
    CaseStep out{*op, {}};
    if (!cursor_.accept("(")) {
      return cursor_.failHere("expected \"(\"");
    }
    if (cursor_.accept(")")) {
      return out;
    }
    bool named = cursor_.accept(";");
    while (true) {
      CaseArgument argument;
      if (named) {
        argument.name = std::string(cursor_.identifier());
        if (argument.name.empty() || !cursor_.accept("=")) {
          return cursor_.failHere("expected name=value");
        }
      }
      NEURONCHECK_TRY(argument.value, value(0));
      out.args.push_back(std::move(argument));
      if (cursor_.accept(")")) {
        return out;
      }
      if (!named && cursor_.accept(";")) {
        named = true;
      } else if (!cursor_.accept(",")) {
        return cursor_.failHere("expected \",\", \";\" or \")\"");
      }
    }
  }

  Result<CaseValue> value(int depth) {
    cursor_.skipBlanks();
    const char next = cursor_.peek();
    if (next == '[') {
      return list(depth);
    }
    if (next == '%') {
      return alias();
    }
    if (next == '$') {
      return result();
    }
    if (next == '"') {
      NEURONCHECK_TRY(std::string text, string());
      return CaseValue{std::move(text)};
    }
    if (next == '-' || TextCursor::isDigit(next)) {
      return number();
    }
    return word();
  }

  Result<CaseValue> list(int depth) {
    if (depth >= kMaxListDepth) {
      return cursor_.failHere("lists nested too deeply");
    }
    CaseList out;
    (void)cursor_.accept("[");
    if (cursor_.accept("]")) {
      return CaseValue{std::move(out)};
    }
    do {
      NEURONCHECK_TRY(CaseValue item, value(depth + 1));
      out.items.push_back(std::move(item));
    } while (cursor_.accept(","));
    if (!cursor_.accept("]")) {
      return cursor_.failHere("expected \",\" or \"]\"");
    }
    return CaseValue{std::move(out)};
  }

  Result<CaseValue> alias() {
    const std::size_t start = cursor_.position();
    cursor_.advance();
    NEURONCHECK_TRY(const std::int64_t operand, integer());
    std::string text(cursor_.since(start));
    if (case_detail::aliasOperand(text) != static_cast<std::size_t>(operand) ||
        static_cast<std::size_t>(operand) >= operands_.size()) {
      return cursor_.failHere("an alias names an earlier tensor operand of its step");
    }
    CaseTensor tensor;
    if (cursor_.accept(":")) {
      const auto dtype = parseDType(cursor_.identifier());
      if (!dtype) {
        return cursor_.failHere("expected a dtype");
      }
      tensor.dtype = *dtype;
      NEURONCHECK_TRY_VOID(geometry(tensor));
    } else {
      const CaseTensor& base = operands_[static_cast<std::size_t>(operand)];
      tensor.dtype = base.dtype;
      tensor.sizes = base.sizes;
      tensor.strides = base.strides;
      tensor.offset = base.offset;
    }
    tensor.alias = std::move(text);
    return finishTensor(std::move(tensor));
  }

  Result<CaseValue> result() {
    cursor_.advance();
    CaseResult out;
    NEURONCHECK_TRY(out.step, integer());
    if (cursor_.peek() == '.') {
      cursor_.advance();
      NEURONCHECK_TRY(out.output, integer());
    }
    return CaseValue{out};
  }

  Result<void> geometry(CaseTensor& tensor) {
    if (!cursor_.accept("[")) {
      return cursor_.failHere("expected \"[\" and sizes");
    }
    NEURONCHECK_TRY(tensor.sizes, integers("]"));
    if (cursor_.accept("@")) {
      if (!cursor_.accept("(")) {
        return cursor_.failHere("expected \"(\" and strides");
      }
      NEURONCHECK_TRY(tensor.strides, integers(")"));
    }
    if (cursor_.accept("+")) {
      NEURONCHECK_TRY(tensor.offset, integer());
    }
    return {};
  }

  /// What may follow the geometry of any tensor: literal values and the gradient mark.
  Result<CaseValue> finishTensor(CaseTensor tensor) {
    if (cursor_.accept("={")) {
      std::vector<double> values;
      if (!cursor_.accept("}")) {
        do {
          NEURONCHECK_TRY(const double number, real());
          values.push_back(number);
        } while (cursor_.accept(","));
        if (!cursor_.accept("}")) {
          return cursor_.failHere("expected \",\" or \"}\"");
        }
      }
      tensor.literal = std::move(values);
    }
    tensor.grad = cursor_.accept("^");
    operands_.push_back(tensor);
    return CaseValue{std::move(tensor)};
  }

  Result<CaseValue> word() {
    const std::string_view text = cursor_.identifier();
    if (text == "None") {
      return CaseValue{CaseNone{}};
    }
    if (text == "True" || text == "False") {
      return CaseValue{text == "True"};
    }
    if (text == "inf" || text == "nan") {
      return CaseValue{text == "inf" ? std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN()};
    }
    if (text == "complex" || text == "device") {
      return call(text);
    }
    if (const auto dtype = parseDType(text); dtype && *dtype != DType::Unknown) {
      if (cursor_.peek() != '[') {
        return CaseValue{*dtype};
      }
      CaseTensor tensor;
      tensor.dtype = *dtype;
      NEURONCHECK_TRY_VOID(geometry(tensor));
      return finishTensor(std::move(tensor));
    }
    if (const auto format = parseMemoryFormat(text); format && *format != MemoryFormat::Unknown) {
      return CaseValue{*format};
    }
    if (const auto layout = parseLayout(text); layout && *layout != Layout::Unknown) {
      return CaseValue{*layout};
    }
    return cursor_.failHere(fmt::format("expected a value, found \"{}\"", text));
  }

  Result<CaseValue> call(std::string_view head) {
    if (!cursor_.accept("(")) {
      return cursor_.failHere("expected \"(\"");
    }
    CaseValue out;
    if (head == "complex") {
      NEURONCHECK_TRY(const double realPart, real());
      if (!cursor_.accept(",")) {
        return cursor_.failHere("expected \",\"");
      }
      NEURONCHECK_TRY(const double imaginaryPart, real());
      out.value = std::complex<double>(realPart, imaginaryPart);
    } else {
      Device device{std::string(cursor_.identifier()), std::nullopt};
      if (device.type.empty()) {
        return cursor_.failHere("expected a device type");
      }
      if (cursor_.accept(":")) {
        NEURONCHECK_TRY(device.index, integer());
      }
      out.value = std::move(device);
    }
    if (!cursor_.accept(")")) {
      return cursor_.failHere("expected \")\"");
    }
    return out;
  }

  /// The characters of a number, sign included.
  std::string_view numberText() {
    cursor_.skipBlanks();
    const std::size_t start = cursor_.position();
    while (TextCursor::isDigit(cursor_.peek()) ||
           std::string_view("+-.einfa").find(cursor_.peek()) != std::string_view::npos) {
      const bool sign = cursor_.peek() == '+' || cursor_.peek() == '-';
      const std::string_view before = cursor_.since(start);
      if (sign && !before.empty() && !before.ends_with('e')) {
        break;
      }
      cursor_.advance();
    }
    return cursor_.since(start);
  }

  Result<CaseValue> number() {
    const std::size_t start = cursor_.position();
    const std::string_view text = numberText();
    const bool isFloat = text.find_first_of(".einfa") != std::string_view::npos;
    cursor_.rewind(start);
    if (isFloat) {
      NEURONCHECK_TRY(const double value, real());
      return CaseValue{value};
    }
    NEURONCHECK_TRY(const std::int64_t value, integer());
    return CaseValue{value};
  }

  Result<double> real() {
    const std::string_view text = numberText();
    double value = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return cursor_.failHere(fmt::format("\"{}\" is no number of 64 bits", text));
    }
    return value;
  }

  Result<std::int64_t> integer() {
    cursor_.skipBlanks();
    const std::string_view rest = cursor_.rest();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (parsed.ec != std::errc()) {
      return cursor_.failHere("expected an integer of 64 bits");
    }
    cursor_.advance(static_cast<std::size_t>(parsed.ptr - rest.data()));
    return value;
  }

  Result<std::vector<std::int64_t>> integers(std::string_view close) {
    std::vector<std::int64_t> out;
    if (cursor_.accept(close)) {
      return out;
    }
    do {
      NEURONCHECK_TRY(const std::int64_t value, integer());
      out.push_back(value);
    } while (cursor_.accept(","));
    if (!cursor_.accept(close)) {
      return cursor_.failHere(fmt::format("expected \",\" or \"{}\"", close));
    }
    return out;
  }

  Result<std::string> string() {
    if (!cursor_.accept("\"")) {
      return cursor_.failHere("expected a string in double quotes");
    }
    std::string out;
    while (!cursor_.atEnd() && cursor_.peek() != '"') {
      const char c = cursor_.peek();
      cursor_.advance();
      if (c == '\\') {
        NEURONCHECK_TRY(const char escaped, escape());
        out += escaped;
      } else {
        out += c;
      }
    }
    if (!cursor_.accept("\"")) {
      return cursor_.failHere("the string has no end");
    }
    return out;
  }

  Result<char> escape() {
    const char c = cursor_.peek();
    cursor_.advance();
    switch (c) {
      case '"':
      case '\\':
        return c;
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'x': {
        unsigned value = 0;
        const std::string_view digits = cursor_.rest().substr(0, 2);
        const auto parsed =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (parsed.ec != std::errc() || parsed.ptr != digits.data() + 2) {
          return cursor_.failHere("expected two hexadecimal digits");
        }
        cursor_.advance(2);
        return static_cast<char>(value);
      }
      default:
        return cursor_.failHere("unknown escape");
    }
  }

  TextCursor cursor_;
  std::vector<CaseTensor> operands_;  ///< of the step that is being read
};

}  // namespace

Result<CaseSpec> CaseSpec::parse(std::string_view text) {
  if (text.size() > case_detail::kMaxText) {
    return inputError(
        fmt::format("a case of {} bytes is longer than {}", text.size(), case_detail::kMaxText));
  }
  return CaseParser(text).parse();
}

}  // namespace neuroncheck
