// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ratio.h"

/// The normal form of symbolic arithmetic and its text; used by SymExpr::str() only.
namespace neuroncheck::symbolic {

/// How tightly a text binds, so that the caller knows when to put parentheses.
enum class Bind : std::uint8_t { Or, And, Relation, Sum, Product, Power, Atom };

struct Text {
  std::string text;
  Bind bind = Bind::Atom;

  /// The text, in parentheses when it binds less tightly than `needed`.
  [[nodiscard]] std::string atLeast(Bind needed) const {
    return bind < needed ? "(" + text + ")" : text;
  }
};

enum class AtomClass : std::uint8_t { Number, Symbol, Call };

struct Atom;
using AtomPtr = std::shared_ptr<const Atom>;

/// An atom to a power that is not 0. A negative exponent is never merged with a positive one of the
/// same atom: x/x is not 1 where x is 0.
struct Factor {
  AtomPtr atom;
  int exponent = 1;
};
/// A coefficient times factors, sorted and merged by tidy().
struct Term {
  std::vector<Factor> factors;
  Ratio coefficient;
};
/// A sum of terms, sorted and merged by tidy(); empty for 0.
using Polynomial = std::vector<Term>;

/// What arithmetic does not look into: a symbol, a real number, a call, or a sum too large to
/// distribute.
struct Atom {
  AtomClass cls = AtomClass::Call;
  std::string head;
  std::string text;
  Bind bind = Bind::Atom;
  /// The arguments of Max, Min, And and Or, so that nested ones can be merged.
  std::vector<Polynomial> args;
};

inline constexpr int kMaxExponent = 64;

/// Sorts factors and merges equal ones; false when an exponent leaves its range.
[[nodiscard]] bool tidy(std::vector<Factor>& factors);
/// Sorts terms and merges equal ones; false when a coefficient leaves 64 bits.
[[nodiscard]] bool tidy(Polynomial& terms);

[[nodiscard]] Polynomial constant(const Ratio& value);
[[nodiscard]] std::optional<Ratio> constantOf(const Polynomial& terms);
/// The atom that is the whole polynomial; null when there is more to it.
[[nodiscard]] const Atom* bareAtom(const Polynomial& terms);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view mark);
[[nodiscard]] Text textOf(const Polynomial& terms);

}  // namespace neuroncheck::symbolic
