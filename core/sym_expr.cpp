// SPDX-License-Identifier: Apache-2.0
#include "core/sym_expr.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ratio.h"

namespace neuroncheck {
namespace {

using ValueOf = std::function<std::optional<std::int64_t>(std::string_view)>;
using Values = std::vector<Ratio>;
using Maybe = std::optional<Ratio>;

Maybe flag(bool value) { return Ratio(value ? 1 : 0); }

bool isTrue(const Ratio& value) { return !value.isZero(); }

Maybe whole(std::int64_t value) { return Ratio(value); }

Maybe sum(const Values& v) {
  Maybe out = Ratio(0);
  for (const Ratio& value : v) {
    out = out ? out->plus(value) : out;
  }
  return out;
}

Maybe product(const Values& v) {
  Maybe out = Ratio(1);
  for (const Ratio& value : v) {
    out = out ? out->times(value) : out;
  }
  return out;
}

Maybe power(const Values& v) {
  return v[1].isWhole() ? v[0].power(v[1].numerator()) : std::nullopt;
}

Maybe quotient(const Values& v) { return v[0].dividedBy(v[1]); }

Maybe floorDiv(const Values& v) {
  const Maybe exact = quotient(v);
  return exact ? whole(exact->floor()) : std::nullopt;
}

Maybe ceilDiv(const Values& v) {
  const Maybe exact = quotient(v);
  return exact ? whole(exact->ceil()) : std::nullopt;
}

Maybe cleanDiv(const Values& v) {
  const Maybe exact = quotient(v);
  return exact && exact->isWhole() ? exact : std::nullopt;
}

// a - floor(a/b)*b: Python's sign rule. torch's Mod is only used where both are not negative, so
// that it is the same.
Maybe remainder(const Values& v) {
  const Maybe down = floorDiv(v);
  const Maybe back = down ? down->times(v[1]) : std::nullopt;
  const Maybe negative = back ? back->times(Ratio(-1)) : std::nullopt;
  return negative ? v[0].plus(*negative) : std::nullopt;
}

Maybe modularIndexing(const Values& v) {
  const Maybe block = floorDiv({v[0], v[1]});
  return block ? remainder({*block, v[2]}) : std::nullopt;
}

Maybe truncated(const Values& v) { return whole(v[0] < Ratio(0) ? v[0].ceil() : v[0].floor()); }

constexpr std::size_t kAnyNumber = 0;

struct Function {
  std::string_view head;
  std::size_t argumentCount;  // kAnyNumber: one or more
  Maybe (*apply)(const Values&);
};

constexpr std::array kFunctions{
    Function{"Add", kAnyNumber, sum},
    Function{"Mul", kAnyNumber, product},
    Function{"Pow", 2, power},
    Function{"PowByNatural", 2, power},
    Function{"FloatPow", 2, power},
    Function{"Max", kAnyNumber,
             [](const Values& v) -> Maybe { return *std::max_element(v.begin(), v.end()); }},
    Function{"Min", kAnyNumber,
             [](const Values& v) -> Maybe { return *std::min_element(v.begin(), v.end()); }},
    Function{"FloorDiv", 2, floorDiv},
    Function{"CeilDiv", 2, ceilDiv},
    Function{"CleanDiv", 2, cleanDiv},
    Function{"TrueDiv", 2, quotient},
    Function{"IntTrueDiv", 2, quotient},
    Function{"FloatTrueDiv", 2, quotient},
    Function{"Rational", 2, quotient},
    Function{"Mod", 2, remainder},
    Function{"PythonMod", 2, remainder},
    Function{"ModularIndexing", 3, modularIndexing},
    Function{"Where", 3, [](const Values& v) -> Maybe { return isTrue(v[0]) ? v[1] : v[2]; }},
    Function{"ToFloat", 1, [](const Values& v) -> Maybe { return v[0]; }},
    Function{"Identity", 1, [](const Values& v) -> Maybe { return v[0]; }},
    Function{"TruncToInt", 1, truncated},
    Function{"TruncToFloat", 1, truncated},
    Function{"FloorToInt", 1, [](const Values& v) { return whole(v[0].floor()); }},
    Function{"CeilToInt", 1, [](const Values& v) { return whole(v[0].ceil()); }},
    Function{"RoundToInt", 1, [](const Values& v) { return whole(v[0].round()); }},
    Function{"Abs", 1,
             [](const Values& v) { return v[0] < Ratio(0) ? v[0].times(Ratio(-1)) : Maybe(v[0]); }},
    Function{"GreaterThan", 2, [](const Values& v) { return flag(v[0] >= v[1]); }},
    Function{"LessThan", 2, [](const Values& v) { return flag(v[0] <= v[1]); }},
    Function{"StrictGreaterThan", 2, [](const Values& v) { return flag(v[0] > v[1]); }},
    Function{"StrictLessThan", 2, [](const Values& v) { return flag(v[0] < v[1]); }},
    Function{"Equality", 2, [](const Values& v) { return flag(v[0] == v[1]); }},
    Function{"Unequality", 2, [](const Values& v) { return flag(v[0] != v[1]); }},
    Function{"And", kAnyNumber,
             [](const Values& v) { return flag(std::all_of(v.begin(), v.end(), isTrue)); }},
    Function{"Or", kAnyNumber,
             [](const Values& v) { return flag(std::any_of(v.begin(), v.end(), isTrue)); }},
    Function{"Not", 1, [](const Values& v) { return flag(v[0].isZero()); }},
};

Maybe evaluateExactly(const SymExpr& expr, const ValueOf& value) {
  switch (expr.kind()) {
    case SymExpr::Kind::Integer:
    case SymExpr::Kind::Bool:
      return Ratio(expr.integer());
    case SymExpr::Kind::Real:
      return Ratio::fromReal(expr.real());
    case SymExpr::Kind::Symbol: {
      const std::optional<std::int64_t> bound = value(expr.head());
      return bound ? Maybe(Ratio(*bound)) : std::nullopt;
    }
    case SymExpr::Kind::Call:
      break;
  }
  const auto* function =
      std::find_if(kFunctions.begin(), kFunctions.end(),
                   [&expr](const Function& candidate) { return candidate.head == expr.head(); });
  if (function == kFunctions.end()) {
    return std::nullopt;
  }
  const bool fits = function->argumentCount == kAnyNumber
                        ? !expr.args().empty()
                        : expr.args().size() == function->argumentCount;
  if (!fits) {
    return std::nullopt;
  }
  Values values;
  values.reserve(expr.args().size());
  for (const SymExprPtr& arg : expr.args()) {
    const Maybe one = evaluateExactly(*arg, value);
    if (!one) {
      return std::nullopt;
    }
    values.push_back(*one);
  }
  return function->apply(values);
}

void collectSymbols(const SymExpr& expr, std::set<std::string>& out) {
  if (expr.kind() == SymExpr::Kind::Symbol) {
    out.insert(expr.head());
  }
  for (const SymExprPtr& arg : expr.args()) {
    collectSymbols(*arg, out);
  }
}

// "u7" and "zuf7", as torch's ShapeEnv names what depends on data.
bool isUnbackedName(std::string_view name) {
  for (const std::string_view prefix : {std::string_view("zuf"), std::string_view("u")}) {
    if (name.starts_with(prefix) && name.size() > prefix.size()) {
      return name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
    }
  }
  return false;
}

}  // namespace

SymExprPtr SymExpr::makeInteger(std::int64_t value) {
  auto out = std::make_shared<SymExpr>();
  out->integer_ = value;
  return out;
}

SymExprPtr SymExpr::makeReal(double value) {
  auto out = std::make_shared<SymExpr>();
  out->kind_ = Kind::Real;
  out->real_ = value;
  return out;
}

SymExprPtr SymExpr::makeBool(bool value) {
  auto out = std::make_shared<SymExpr>();
  out->kind_ = Kind::Bool;
  out->integer_ = value ? 1 : 0;
  return out;
}

SymExprPtr SymExpr::makeSymbol(std::string name) {
  auto out = std::make_shared<SymExpr>();
  out->kind_ = Kind::Symbol;
  out->head_ = std::move(name);
  return out;
}

SymExprPtr SymExpr::makeCall(std::string head, std::vector<SymExprPtr> args) {
  NEURONCHECK_CHECK(std::none_of(args.begin(), args.end(), [](const SymExprPtr& a) { return !a; }),
                    "a call has a null argument");
  auto out = std::make_shared<SymExpr>();
  out->kind_ = Kind::Call;
  out->head_ = std::move(head);
  out->args_ = std::move(args);
  return out;
}

std::set<std::string> SymExpr::symbols() const {
  std::set<std::string> out;
  collectSymbols(*this, out);
  return out;
}

bool SymExpr::isUnbacked() const {
  if (kind_ == Kind::Symbol) {
    return isUnbackedName(head_);
  }
  return std::any_of(args_.begin(), args_.end(),
                     [](const SymExprPtr& a) { return a->isUnbacked(); });
}

std::optional<std::int64_t> SymExpr::evaluate(const ValueOf& value) const {
  const Maybe exact = evaluateExactly(*this, value);
  if (!exact || !exact->isWhole()) {
    return std::nullopt;
  }
  return exact->numerator();
}

bool SymInt::operator==(const SymInt& other) const {
  if (!expr && !other.expr) {
    return value == other.value;
  }
  if (expr == other.expr) {
    return true;
  }
  // An expression may be a plain integer in disguise, so both texts are compared.
  return str() == other.str();
}

}  // namespace neuroncheck
