// SPDX-License-Identifier: Apache-2.0
#include "opdb/predicate_atom.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

namespace neuroncheck::opdb {
namespace {

std::optional<Atom> atomOf(const SymIntValue& value) {
  return value.value.isSymbolic() ? std::nullopt : std::optional<Atom>(value.value.value);
}
std::optional<Atom> atomOf(const SymFloat& value) {
  return value.expr != nullptr || !value.name.empty() ? std::nullopt
                                                      : std::optional<Atom>(value.value);
}
std::optional<Atom> atomOf(const SymBool& value) {
  return value.expr != nullptr || !value.name.empty() ? std::nullopt
                                                      : std::optional<Atom>(value.value);
}
std::optional<Atom> atomOf(const std::string& value) { return Atom(value); }

struct ValueVisitor {
  std::string by;

  Quantity operator()(const NoneValue&) const { return Quantity::of(NoneValue{}); }
  Quantity operator()(const DType& v) const { return Quantity::of(v); }
  Quantity operator()(const MemoryFormat& v) const { return Quantity::of(v); }
  Quantity operator()(const Layout& v) const { return Quantity::of(v); }
  Quantity operator()(const Device& v) const { return Quantity::of(v.type); }
  Quantity operator()(const std::string& v) const { return Quantity::of(v); }
  Quantity operator()(const SymIntValue& v) const { return one(v); }
  Quantity operator()(const SymFloat& v) const { return one(v); }
  Quantity operator()(const SymBool& v) const { return one(v); }
  Quantity operator()(const std::vector<SymIntValue>& v) const { return each(v); }
  Quantity operator()(const std::vector<SymFloat>& v) const { return each(v); }
  Quantity operator()(const std::vector<SymBool>& v) const { return each(v); }
  Quantity operator()(const std::vector<std::string>& v) const { return each(v); }
  /// Tensors, complex numbers, nested lists, subgraphs and objects have no comparable value.
  template <typename T>
  Quantity operator()(const T& /*value*/) const {
    return Quantity::unknown(by);
  }

 private:
  template <typename T>
  Quantity one(const T& value) const {
    return {.items = {atomOf(value)}, .by = by};
  }
  template <typename T>
  Quantity each(const std::vector<T>& values) const {
    Quantity result{.items = {}, .by = by};
    for (const T& value : values) {
      result.items.push_back(atomOf(value));
    }
    return result;
  }
};

struct LengthVisitor {
  template <typename T>
  std::optional<std::int64_t> operator()(const std::vector<T>& list) const {
    return static_cast<std::int64_t>(list.size());
  }
  template <typename T>
  std::optional<std::int64_t> operator()(const T& /*value*/) const {
    return std::nullopt;
  }
};

bool isBoolean(const Atom& atom) { return std::holds_alternative<bool>(atom); }
bool isNumber(const Atom& atom) {
  return isBoolean(atom) || std::holds_alternative<std::int64_t>(atom) ||
         std::holds_alternative<double>(atom);
}
double asReal(const Atom& atom) {
  if (const auto* real = std::get_if<double>(&atom)) {
    return *real;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&atom)) {
    return static_cast<double>(*integer);
  }
  return std::get<bool>(atom) ? 1.0 : 0.0;
}
std::optional<std::int64_t> asInteger(const Atom& atom) {
  if (const auto* integer = std::get_if<std::int64_t>(&atom)) {
    return *integer;
  }
  if (const auto* boolean = std::get_if<bool>(&atom)) {
    return *boolean ? 1 : 0;
  }
  return std::nullopt;
}

template <typename T>
bool compareOrdered(const T& a, const T& b, Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal:
      return a == b;
    case Comparison::NotEqual:
      return !(a == b);
    case Comparison::Less:
      return a < b;
    case Comparison::LessEqual:
      return a <= b;
    case Comparison::Greater:
      return a > b;
    case Comparison::GreaterEqual:
      return a >= b;
  }
  return false;
}

}  // namespace

bool compare(const Atom& a, const Atom& b, Comparison comparison) {
  if (isNumber(a) && isNumber(b)) {
    const auto left = asInteger(a);
    const auto right = asInteger(b);
    return left && right ? compareOrdered(*left, *right, comparison)
                         : compareOrdered(asReal(a), asReal(b), comparison);
  }
  const auto* left = std::get_if<ChipOrder>(&a);
  const auto* right = std::get_if<ChipOrder>(&b);
  if (left != nullptr && right != nullptr) {
    return compareOrdered(left->generation, right->generation, comparison);
  }
  if (comparison == Comparison::Equal) {
    return a == b;
  }
  return comparison == Comparison::NotEqual && !(a == b);
}

std::optional<Atom> remainder(const Atom& a, const Atom& b) {
  if (!isNumber(a) || !isNumber(b)) {
    return std::nullopt;
  }
  const auto left = asInteger(a);
  const auto right = asInteger(b);
  if (left && right) {
    if (*right == 0) {
      return std::nullopt;
    }
    if (*right == -1) {
      return Atom(std::int64_t{0});  // INT64_MIN % -1 overflows
    }
    const std::int64_t result = *left % *right;
    return Atom(result != 0 && (result < 0) != (*right < 0) ? result + *right : result);
  }
  const double divisor = asReal(b);
  const double result = std::fmod(asReal(a), divisor);
  if (std::isnan(result)) {
    return std::nullopt;
  }
  return Atom(result != 0 && (result < 0) != (divisor < 0) ? result + divisor : result);
}

Quantity quantityOf(const ArgValue& value, const std::string& argument) {
  return std::visit(ValueVisitor{argument}, value);
}

std::optional<std::int64_t> lengthOf(const ArgValue& value) {
  return std::visit(LengthVisitor{}, value);
}

bool isSymbolic(const ArgValue& value) {
  const auto anyOf = [](const auto& list, const auto& test) {
    return std::any_of(list.begin(), list.end(), test);
  };
  const auto symInt = [](const SymIntValue& v) { return v.value.isSymbolic(); };
  const auto expression = [](const auto& v) { return v.expr != nullptr; };
  if (const auto* integer = std::get_if<SymIntValue>(&value)) {
    return symInt(*integer);
  }
  if (const auto* integers = std::get_if<std::vector<SymIntValue>>(&value)) {
    return anyOf(*integers, symInt);
  }
  if (const auto* real = std::get_if<SymFloat>(&value)) {
    return expression(*real);
  }
  if (const auto* reals = std::get_if<std::vector<SymFloat>>(&value)) {
    return anyOf(*reals, expression);
  }
  if (const auto* boolean = std::get_if<SymBool>(&value)) {
    return expression(*boolean);
  }
  if (const auto* booleans = std::get_if<std::vector<SymBool>>(&value)) {
    return anyOf(*booleans, expression);
  }
  return false;
}

}  // namespace neuroncheck::opdb
