// SPDX-License-Identifier: Apache-2.0
#include "torch_host/companion/tests/sample_calls.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "torch_host/companion/evaluation.h"

namespace neuroncheck::companion::testing {
namespace {

using c10::IValue;
using torch::jit::Stack;

/// The small language of sample_calls.txt (its head says what it means).
class Line {
 public:
  Line(std::string text, Family family, std::mt19937& numbers,
       const std::map<std::string, IValue>& known)
      : text_(std::move(text)), family_(family), numbers_(numbers), known_(known) {}

  bool ended() {
    skip();
    return at_ >= text_.size();
  }
  bool take(std::string_view word) {
    skip();
    if (text_.compare(at_, word.size(), word) != 0) {
      return false;
    }
    at_ += word.size();
    return true;
  }
  std::string word() {
    skip();
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == ':' || text_[at_] == '.')) {
      ++at_;
    }
    return text_.substr(from, at_ - from);
  }
  /// "name" of "name=value", else empty.
  std::string keyword() {
    const std::size_t from = at_;
    const std::string name = word();
    if (!name.empty() && at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      return name;
    }
    at_ = from;
    return {};
  }
  IValue value();

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }
  IValue list();
  IValue tensor(char kind);
  double draw(char kind);
  [[noreturn]] void wrong(const std::string& what) const {
    throw std::runtime_error(text_ + ": " + what + " at column " + std::to_string(at_));
  }

  std::string text_;
  std::size_t at_ = 0;
  Family family_;
  std::mt19937& numbers_;
  const std::map<std::string, IValue>& known_;
};

double Line::draw(char kind) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> unit(0.03, 0.97);
  const double n = normal(numbers_);
  const double u = unit(numbers_);
  if (kind == 'p') {
    return u + 0.25;
  }
  if (kind == 'u') {
    return u;
  }
  if (kind == 'n') {
    return n;
  }
  if (kind == 'h') {
    return std::round(draw('f') * 16) / 16;
  }
  switch (family_) {
    case Family::Positive:
      return u;
    case Family::Wide:
      return n * 8;
    case Family::MeanTen:
      return n + 10;
    default:
      return n;
  }
}

/// `f[2,3]`, `i[4]<3`, `b[2]`, `i{0,1}`.
IValue Line::tensor(char kind) {
  if (take("{")) {
    std::vector<std::int64_t> values;
    while (!take("}")) {
      values.push_back(value().toInt());
      take(",");
    }
    return torchCall("aten::cat", "", {[&values] {
                       std::vector<at::Tensor> parts;
                       for (const std::int64_t each : values) {
                         parts.push_back(torchCall("aten::full", "", {Dims{1}, each, at::kLong}));
                       }
                       return parts;
                     }()});
  }
  const IValue given = list();
  const Dims sizes = given.isIntList() ? given.toIntVector() : Dims{};
  const std::int64_t top = take("<") ? value().toInt() : 2;
  const at::Tensor flat = torchCall("aten::zeros", "", {sizes, at::kDouble}).contiguous();
  std::uniform_int_distribution<std::int64_t> below(0, top - 1);
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const bool whole = kind == 'i' || kind == 'b';
    flat.mutable_data_ptr<double>()[i] =
        whole ? static_cast<double>(below(numbers_)) : static_cast<float>(draw(kind));
  }
  if (kind == 'c') {
    const at::Tensor other = flat.roll({1}, {0}).mul(-0.5);
    return torchCall("aten::complex", "", {flat, other});
  }
  return flat.to(kind == 'i' ? at::kLong : kind == 'b' ? at::kBool : at::kDouble);
}

IValue Line::list() {
  std::vector<IValue> items;
  if (!take("[")) {
    wrong("no list");
  }
  while (!take("]")) {
    items.push_back(value());
    take(",");
  }
  if (items.empty()) {
    return IValue(Dims{});
  }
  if (items[0].isTensor()) {
    std::vector<at::Tensor> out;
    for (const IValue& each : items) {
      out.push_back(each.toTensor());
    }
    return IValue(out);
  }
  if (items[0].isBool()) {
    c10::List<bool> out;
    for (const IValue& each : items) {
      out.push_back(each.toBool());
    }
    return IValue(out);
  }
  if (items[0].isDouble()) {
    c10::List<double> out;
    for (const IValue& each : items) {
      out.push_back(each.toDouble());
    }
    return IValue(out);
  }
  Dims out;
  for (const IValue& each : items) {
    out.push_back(each.toInt());
  }
  return IValue(out);
}

IValue Line::value() {
  skip();
  const char first = at_ < text_.size() ? text_[at_] : '\0';
  const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (std::string_view("fpunicbh").find(first) != std::string_view::npos && first != '\0' &&
      (second == '[' || second == '{')) {
    ++at_;
    return tensor(first);
  }
  if (first == '[') {
    return list();
  }
  if (first == '"') {
    const std::size_t end = text_.find('"', at_ + 1);
    const std::string out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return IValue(out);
  }
  if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-') {
    std::size_t used = 0;
    const std::string rest = text_.substr(at_);
    const double number = std::stod(rest, &used);
    const bool real = rest.substr(0, used).find_first_of(".ein") != std::string::npos;
    at_ += used;
    return real ? IValue(number) : IValue(static_cast<std::int64_t>(number));
  }
  const std::string name = word();
  static const std::map<std::string, IValue> constants{
      {"none", IValue()},      {"true", IValue(true)}, {"false", IValue(false)},
      {"quint8", at::kQUInt8}, {"qint8", at::kQInt8},  {"float64", at::kDouble},
      {"uint8", at::kByte},    {"bool", at::kBool},    {"inf", IValue(HUGE_VAL)}};
  if (const auto found = constants.find(name); found != constants.end()) {
    return found->second;
  }
  if (const auto found = known_.find(name); found != known_.end()) {
    return found->second;
  }
  wrong("what is '" + name + "'?");
}

/// Numbers for tensors, integers for numbers, lists of optional tensors, as the schema has them.
IValue asType(const IValue& value, const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  const c10::TypePtr& type = optional ? optional->getElementType() : argument.real_type();
  if (value.isInt() && type->kind() == c10::TypeKind::FloatType) {
    return static_cast<double>(value.toInt());
  }
  if (value.isInt() && type->kind() == c10::TypeKind::ListType) {
    return Dims(static_cast<std::size_t>(argument.N().value_or(1)), value.toInt());
  }
  if (const auto of = type->cast<c10::ListType>(); of && value.isTensorList()) {
    if (of->getElementType()->kind() == c10::TypeKind::OptionalType) {
      c10::List<std::optional<at::Tensor>> out;
      for (const at::Tensor& each : value.toTensorVector()) {
        out.push_back(each);
      }
      return out;
    }
  }
  const bool empty = value.isIntList() && value.toIntVector().empty();
  if (const auto of = type->cast<c10::ListType>(); of && empty) {
    return IValue(c10::impl::GenericList(of->getElementType()->kind() == c10::TypeKind::SymIntType
                                             ? c10::IntType::get()
                                             : of->getElementType()));
  }
  return value;
}

struct Parsed {
  c10::OperatorHandle op;
  Stack arguments;
};

Parsed parseCall(Line& line, const std::string& text) {
  const std::string name = line.word();
  const auto colons = name.find("::");
  const auto dot = name.find('.', colons);
  const auto op =
      findOperator(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
  if (!op) {
    throw std::runtime_error(text + ": torch has no " + name);
  }
  std::map<std::string, IValue> given;
  const auto& declared = op->schema().arguments();
  for (std::size_t i = 0; !line.ended() && !line.take("=>"); ++i) {
    const std::string key = line.keyword();
    if (key.empty() && i >= declared.size()) {
      throw std::runtime_error(text + ": too many arguments");
    }
    given.emplace(key.empty() ? declared[i].name() : key, line.value());
  }
  Stack stack;
  for (const c10::Argument& argument : declared) {
    const auto found = given.find(argument.name());
    stack.push_back(found != given.end() ? asType(found->second, argument)
                                         : argument.default_value().value_or(IValue()));
  }
  if (const auto dtype = op->schema().argumentIndexWithName("dtype");
      dtype && stack[static_cast<std::size_t>(*dtype)].isNone() &&
      op->schema().argumentIndexWithName("layout")) {
    stack[static_cast<std::size_t>(*dtype)] = at::kDouble;
  }
  return {*op, std::move(stack)};
}

}  // namespace

std::vector<at::Tensor> run(const c10::OperatorHandle& op, const Stack& stack) {
  Stack copy;  // Operators that write leave the call as it was.
  for (const IValue& value : stack) {
    const bool held = value.isTensor() && value.toTensor().defined();
    copy.push_back(held ? IValue(value.toTensor().clone()) : value);
  }
  return invoke(op, std::move(copy));
}

Stack narrowed(const Stack& stack) {
  Stack out;
  const auto narrow = [](const at::Tensor& x) {
    return !x.defined()                            ? x
           : x.scalar_type() == at::kDouble        ? x.to(at::kFloat)
           : x.scalar_type() == at::kComplexDouble ? x.to(at::kComplexFloat)
                                                   : x;
  };
  for (const IValue& value : stack) {
    if (value.isTensor()) {
      out.emplace_back(narrow(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector()) {
        list.push_back(narrow(each));
      }
      out.emplace_back(std::move(list));
    } else {
      out.push_back(value);
    }
  }
  return out;
}

namespace {

std::vector<SampleCall> callsOf(std::istream& in, Family family, unsigned seed) {
  std::mt19937 numbers(seed);
  std::map<std::string, IValue> known;
  std::vector<SampleCall> out;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') {
      continue;
    }
    const std::size_t assigned = text.find(":=");
    const std::size_t arrow = text.find("=>");
    Line line(assigned == std::string::npos ? text : text.substr(assigned + 2), family, numbers,
              known);
    try {
      if (assigned != std::string::npos && text.find("::") == std::string::npos) {
        known[Line(text, family, numbers, known).word()] = line.value();
        continue;
      }
      Parsed call = parseCall(line, text);
      SampleCall sample{text, call.op, call.arguments, {}, arrow == std::string::npos};
      if (sample.ran) {
        sample.truth = run(call.op, call.arguments);
      }
      while (!sample.ran && !line.ended()) {
        sample.truth.push_back(line.value().toTensor());
      }
      Line names(text.substr(0, assigned == std::string::npos ? 0 : assigned), family, numbers,
                 known);
      for (const at::Tensor& each : sample.truth) {
        const std::string name = names.word();
        if (!name.empty()) {
          known[name] = each.defined() && each.is_floating_point()
                            ? IValue(each.to(at::kFloat).to(at::kDouble))
                            : IValue(each);
          names.take(",");
        }
      }
      out.push_back(std::move(sample));
    } catch (const std::exception& error) {
      ADD_FAILURE() << text << ": " << std::string(error.what()).substr(0, 400);
    }
  }
  return out;
}

}  // namespace

std::vector<SampleCall> sampleCalls(const std::string& file, Family family, unsigned seed) {
  std::ifstream in(file);
  if (!in) {
    throw std::runtime_error("cannot read " + file);
  }
  return callsOf(in, family, seed);
}

SampleCall sampleCall(const std::string& text, Family family, unsigned seed) {
  std::istringstream in(text);
  std::vector<SampleCall> calls = callsOf(in, family, seed);
  if (calls.empty()) {
    throw std::runtime_error(text + ": no call");
  }
  return calls.back();
}

std::vector<double> values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  const double* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

std::vector<double> values(const at::Tensor& tensor, at::IntArrayRef sizes) {
  return values(tensor.expand(sizes));
}

at::Tensor argument(const SampleCall& call, std::string_view name) {
  const auto index = call.op.schema().argumentIndexWithName(name);
  return call.arguments.at(static_cast<std::size_t>(index.value())).toTensor();
}

at::Tensor magnitudeOf(const std::string& word, const SampleCall& call, std::size_t output,
                       double k) {
  auto s = magnitude(word, {call.op, call.arguments, call.truth, output, k, 0x1p-24});
  if (!s) {
    ADD_FAILURE() << call.text << ": " << s.error().text();
    return call.truth.at(output);
  }
  return *std::move(s);
}

}  // namespace neuroncheck::companion::testing
