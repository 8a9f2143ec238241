// SPDX-License-Identifier: Apache-2.0
// Canonical text of a symbolic expression. Arithmetic is brought to a normal form first: a sum of
// terms, each a rational coefficient and a sorted product of powers of atoms, where an atom is a
// symbol, a real number or a call. Work is bounded; where the bound or 64 bits are exceeded, the
// text falls back to the calls as they stand, which is as stable.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/ratio.h"
#include "core/sym_expr.h"
#include "core/sym_polynomial.h"

namespace neuroncheck {
namespace {

using namespace symbolic;  // NOLINT(google-build-using-namespace): internals of this very class

std::string realText(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : "oo";
  }
  const std::string out = fmt::format("{}", value);
  const bool plain = out.find_first_not_of("0123456789") == std::string::npos;
  return plain ? out + ".0" : out;
}

std::string callText(std::string_view head, const std::vector<std::string>& args) {
  const bool constantName =
      args.empty() && (head == "int_oo" || head == "oo" || head == "zoo" || head == "nan");
  return constantName ? std::string(head) : fmt::format("{}({})", head, fmt::join(args, ", "));
}

// The expression as it stands, without any arithmetic; linear in its size.
std::string plainText(const SymExpr& expr) {
  switch (expr.kind()) {
    case SymExpr::Kind::Integer:
      return std::to_string(expr.integer());
    case SymExpr::Kind::Bool:
      return expr.integer() != 0 ? "True" : "False";
    case SymExpr::Kind::Symbol:
      return expr.head();
    case SymExpr::Kind::Real:
      return (std::signbit(expr.real()) ? "-" : "") + realText(std::abs(expr.real()));
    case SymExpr::Kind::Call:
      break;
  }
  std::vector<std::string> args;
  for (const SymExprPtr& arg : expr.args()) {
    args.push_back(plainText(*arg));
  }
  return callText(expr.head(), args);
}

constexpr std::size_t kMaxTerms = 64;
constexpr std::size_t kMaxWork = 1U << 20U;

struct Shown {
  std::string_view head;
  std::string_view text;
};
constexpr std::array<Shown, 4> kOrderings{{{"GreaterThan", ">="},
                                           {"LessThan", "<="},
                                           {"StrictGreaterThan", ">"},
                                           {"StrictLessThan", "<"}}};

class Normalizer {
 public:
  /// nullopt when the work bound is exceeded.
  std::optional<Text> text(const SymExpr& expr) {
    const Polynomial terms = normal(expr);
    return exhausted() ? std::nullopt : std::optional(spent(textOf(terms)));
  }

 private:
  struct Power {
    Polynomial base;
    int exponent = 1;
  };

  [[nodiscard]] bool exhausted() const { return work_ > kMaxWork; }
  void spend(std::size_t amount) { work_ += amount; }
  Text spent(Text text) {
    spend(text.text.size());
    return text;
  }

  Polynomial atom(AtomClass cls, std::string_view head, Text text) {
    spend(text.text.size());
    auto made = std::make_shared<const Atom>(
        Atom{cls, std::string(head), std::move(text.text), text.bind, {}});
    return {Term{{Factor{std::move(made), 1}}, Ratio(1)}};
  }

  Polynomial normal(const SymExpr& expr) {
    spend(1);
    if (exhausted()) {
      return {};
    }
    switch (expr.kind()) {
      case SymExpr::Kind::Integer:
        return constant(Ratio(expr.integer()));
      case SymExpr::Kind::Bool:
        return atom(AtomClass::Number, "", {plainText(expr), Bind::Atom});
      case SymExpr::Kind::Symbol:
        return atom(AtomClass::Symbol, expr.head(), {expr.head(), Bind::Atom});
      case SymExpr::Kind::Real:
        return real(expr.real());
      case SymExpr::Kind::Call:
        break;
    }
    if (expr.head() == "Rational" && expr.args().size() == 2) {
      return rational(expr);
    }
    if (!expr.args().empty() && expr.head() == "Add") {
      return sum(expr);
    }
    const bool isPower = expr.head() == "Pow" && expr.args().size() == 2;
    if (!expr.args().empty() && (expr.head() == "Mul" || isPower)) {
      return product(expr);
    }
    return call(expr);
  }

  Polynomial real(double value) {
    Polynomial out = atom(AtomClass::Number, "", {realText(std::abs(value)), Bind::Atom});
    out.front().coefficient = Ratio(std::signbit(value) ? -1 : 1);
    return out;
  }

  Polynomial rational(const SymExpr& expr) {
    const bool plain = expr.args()[0]->kind() == SymExpr::Kind::Integer &&
                       expr.args()[1]->kind() == SymExpr::Kind::Integer;
    const auto value =
        plain ? Ratio::make(expr.args()[0]->integer(), expr.args()[1]->integer()) : std::nullopt;
    return value ? constant(*value) : opaque(expr);
  }

  Polynomial sum(const SymExpr& expr) {
    Polynomial out;
    for (const SymExprPtr& arg : expr.args()) {
      for (Term& term : normal(*arg)) {
        spend(term.factors.size() + 1);
        out.push_back(std::move(term));
      }
      if (exhausted()) {
        return {};
      }
    }
    return tidy(out) ? out : opaque(expr);
  }

  Polynomial product(const SymExpr& expr) {
    std::vector<Power> powers;
    if (!flatten(expr, 1, powers)) {
      return expr.head() == "Pow" ? powerAtom(expr) : opaque(expr);
    }
    auto out = multiplied(powers);
    if (out) {
      return *std::move(out);
    }
    return expr.head() == "Pow" ? powerAtom(expr) : opaque(expr);
  }

  // Takes nested products and constant powers apart. False when this very power has to stay as it
  // is.
  bool flatten(const SymExpr& expr, int exponent, std::vector<Power>& out) {
    spend(1);
    if (exhausted()) {
      return true;
    }
    if (expr.kind() == SymExpr::Kind::Call && expr.head() == "Mul" && !expr.args().empty()) {
      for (const SymExprPtr& arg : expr.args()) {
        if (!flatten(*arg, exponent, out)) {
          out.push_back({powerAtom(*arg), exponent});
        }
      }
      return true;
    }
    if (expr.kind() == SymExpr::Kind::Call && expr.head() == "Pow" && expr.args().size() == 2) {
      const auto n = constantOf(normal(*expr.args()[1]));
      const bool small = n && n->isWhole() && std::abs(n->numerator()) <= kMaxExponent &&
                         std::abs(n->numerator() * exponent) <= kMaxExponent;
      if (!small) {
        return false;
      }
      const int inner = static_cast<int>(n->numerator()) * exponent;
      if (inner == 0) {
        return true;
      }
      const SymExpr& base = *expr.args()[0];
      if (!flatten(base, inner, out)) {
        out.push_back({powerAtom(base), inner});
      }
      return true;
    }
    out.push_back({normal(expr), exponent});
    return true;
  }

  std::optional<Polynomial> multiplied(const std::vector<Power>& powers) {
    std::size_t count = 1;
    for (const Power& power : powers) {
      for (int i = 0; i < power.exponent && count <= kMaxTerms; ++i) {
        count *= std::max<std::size_t>(power.base.size(), 1);
      }
    }
    const bool distribute = count <= kMaxTerms;
    Term scale{{}, Ratio(1)};
    bool zero = false;
    for (const Power& power : powers) {
      zero = zero || (power.base.empty() && power.exponent > 0);
      if (!absorb(power, distribute, scale)) {
        return std::nullopt;
      }
    }
    if (zero) {
      return Polynomial{};
    }
    if (!tidy(scale.factors)) {
      return std::nullopt;
    }
    Polynomial out{std::move(scale)};
    for (const Power& power : powers) {
      const bool spread = distribute && power.base.size() > 1;
      for (int i = 0; spread && i < power.exponent; ++i) {
        auto next = times(out, power.base);
        if (!next) {
          return std::nullopt;
        }
        out = *std::move(next);
      }
    }
    return out;
  }

  // Multiplies a power into `scale` where it stays one term: single terms, reciprocals, and sums
  // too large to distribute.
  bool absorb(const Power& power, bool distribute, Term& scale) {
    if (power.base.empty()) {
      // A zero below the line is not defined and stays visible; one above makes the product 0.
      if (power.exponent < 0) {
        scale.factors.push_back(
            {std::make_shared<const Atom>(Atom{AtomClass::Number, "", "0", Bind::Atom, {}}),
             power.exponent});
      }
      return true;
    }
    if (power.base.size() > 1) {
      if (power.exponent < 0 || !distribute) {
        Text text = spent(textOf(power.base));
        scale.factors.push_back({std::make_shared<const Atom>(Atom{
                                     AtomClass::Call, "", std::move(text.text), text.bind, {}}),
                                 power.exponent});
      }
      return true;
    }
    const Term& term = power.base.front();
    const auto raised = term.coefficient.power(power.exponent);
    const auto product = raised ? scale.coefficient.times(*raised) : std::nullopt;
    if (!product) {
      return false;
    }
    scale.coefficient = *product;
    for (const Factor& factor : term.factors) {
      const int exponent = factor.exponent * power.exponent;
      if (std::abs(exponent) > kMaxExponent) {
        return false;
      }
      scale.factors.push_back({factor.atom, exponent});
    }
    spend(term.factors.size());
    return true;
  }

  std::optional<Polynomial> times(const Polynomial& a, const Polynomial& b) {
    Polynomial out;
    for (const Term& left : a) {
      for (const Term& right : b) {
        spend(left.factors.size() + right.factors.size() + 1);
        if (exhausted()) {
          return Polynomial{};
        }
        const auto coefficient = left.coefficient.times(right.coefficient);
        Term term{left.factors, Ratio(0)};
        term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
        if (!coefficient || !tidy(term.factors)) {
          return std::nullopt;
        }
        term.coefficient = *coefficient;
        out.push_back(std::move(term));
      }
    }
    if (!tidy(out)) {
      return std::nullopt;
    }
    return out;
  }

  Text argument(const SymExpr& expr) { return spent(textOf(normal(expr))); }

  std::vector<std::string> arguments(const SymExpr& expr) {
    std::vector<std::string> out;
    for (const SymExprPtr& arg : expr.args()) {
      out.push_back(argument(*arg).text);
    }
    return out;
  }

  Polynomial opaque(const SymExpr& expr) {
    return atom(AtomClass::Call, expr.head(), {callText(expr.head(), arguments(expr)), Bind::Atom});
  }

  Polynomial powerAtom(const SymExpr& expr) {
    const std::string base = argument(*expr.args()[0]).atLeast(Bind::Atom);
    const std::string exponent = argument(*expr.args()[1]).atLeast(Bind::Atom);
    return atom(AtomClass::Call, "Pow", {base + "**" + exponent, Bind::Power});
  }

  Polynomial call(const SymExpr& expr) {
    const std::string& head = expr.head();
    const std::vector<SymExprPtr>& args = expr.args();
    if ((head == "Max" || head == "Min") && !args.empty()) {
      return extremum(expr);
    }
    if ((head == "And" || head == "Or") && !args.empty()) {
      return junction(expr);
    }
    if (head == "Not" && args.size() == 1) {
      return atom(AtomClass::Call, head,
                  {"~" + argument(*args[0]).atLeast(Bind::Atom), Bind::Relation});
    }
    if (args.size() != 2) {
      return opaque(expr);
    }
    const auto* ordering = std::find_if(kOrderings.begin(), kOrderings.end(),
                                        [&head](const Shown& s) { return s.head == head; });
    if (ordering != kOrderings.end()) {
      return atom(AtomClass::Call, head,
                  {fmt::format("{} {} {}", argument(*args[0]).atLeast(Bind::Sum), ordering->text,
                               argument(*args[1]).atLeast(Bind::Sum)),
                   Bind::Relation});
    }
    if (head == "Equality" || head == "Unequality") {
      return atom(AtomClass::Call, head,
                  {callText(head == "Equality" ? "Eq" : "Ne", arguments(expr)), Bind::Atom});
    }
    if (head == "FloorDiv") {
      return atom(AtomClass::Call, head,
                  {fmt::format("({}//{})", argument(*args[0]).atLeast(Bind::Power),
                               argument(*args[1]).atLeast(Bind::Power)),
                   Bind::Atom});
    }
    return opaque(expr);
  }

  // Arguments of an operation whose order and grouping do not matter, those of nested ones
  // included.
  std::vector<Polynomial> gather(const SymExpr& expr) {
    std::vector<Polynomial> out;
    for (const SymExprPtr& arg : expr.args()) {
      Polynomial one = normal(*arg);
      const Atom* atom = bareAtom(one);
      if (atom != nullptr && atom->head == expr.head() && !atom->args.empty()) {
        out.insert(out.end(), atom->args.begin(), atom->args.end());
        spend(atom->args.size() + atom->text.size());
      } else {
        out.push_back(std::move(one));
      }
      if (exhausted()) {
        return {};
      }
    }
    return out;
  }

  Polynomial foldedAtom(std::string_view head, Text text, std::vector<Polynomial> args) {
    spend(text.text.size() + args.size());
    auto made = std::make_shared<const Atom>(
        Atom{AtomClass::Call, std::string(head), std::move(text.text), text.bind, std::move(args)});
    return {Term{{Factor{std::move(made), 1}}, Ratio(1)}};
  }

  Polynomial extremum(const SymExpr& expr) {
    std::vector<Polynomial> args = gather(expr);
    std::optional<Ratio> best;
    std::vector<std::string> texts;
    Polynomial last;
    for (const Polynomial& arg : args) {
      if (const auto value = constantOf(arg)) {
        const bool better = !best || (expr.head() == "Max" ? *value > *best : *value < *best);
        best = better ? value : best;
      } else {
        texts.push_back(spent(textOf(arg)).text);
        last = arg;
      }
    }
    sortUnique(texts);
    if (texts.empty() && best) {
      return constant(*best);
    }
    if (texts.size() == 1 && !best) {
      return last;
    }
    if (best) {
      texts.insert(texts.begin(), textOf(constant(*best)).text);
    }
    return foldedAtom(expr.head(), {callText(expr.head(), texts), Bind::Atom}, std::move(args));
  }

  Polynomial junction(const SymExpr& expr) {
    const bool isAnd = expr.head() == "And";
    std::vector<Polynomial> args = gather(expr);
    std::vector<std::string> texts;
    texts.reserve(args.size());
    for (const Polynomial& arg : args) {
      texts.push_back(spent(textOf(arg)).atLeast(Bind::Atom));
    }
    sortUnique(texts);
    if (texts.size() == 1) {
      // "x & x" is not x: x may be a number, of which only the truth counts.
      return foldedAtom(expr.head(), {callText(expr.head(), texts), Bind::Atom}, std::move(args));
    }
    return foldedAtom(expr.head(),
                      {join(texts, isAnd ? " & " : " | "), isAnd ? Bind::And : Bind::Or},
                      std::move(args));
  }

  static void sortUnique(std::vector<std::string>& texts) {
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  }

  std::size_t work_ = 0;
};

}  // namespace

std::string SymExpr::str() const {
  if (kind_ == Kind::Integer || kind_ == Kind::Symbol) {
    return plainText(*this);
  }
  auto text = Normalizer().text(*this);
  return text ? std::move(text->text) : plainText(*this);
}

}  // namespace neuroncheck
