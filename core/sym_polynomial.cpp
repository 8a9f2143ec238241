// SPDX-License-Identifier: Apache-2.0
#include "core/sym_polynomial.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::symbolic {
namespace {

int compare(const Factor& a, const Factor& b) {
  if (a.atom != b.atom) {
    if (a.atom->cls != b.atom->cls) {
      return a.atom->cls < b.atom->cls ? -1 : 1;
    }
    if (const int heads = a.atom->head.compare(b.atom->head); heads != 0) {
      return heads;
    }
    if (const int texts = a.atom->text.compare(b.atom->text); texts != 0) {
      return texts;
    }
  }
  const bool aBelow = a.exponent < 0;
  const bool bBelow = b.exponent < 0;
  return static_cast<int>(aBelow) - static_cast<int>(bBelow);
}

// The order of sympy's printer: higher powers of earlier atoms first, the constant last.
int compare(const Term& a, const Term& b) {
  const std::size_t common = std::min(a.factors.size(), b.factors.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const int order = compare(a.factors[i], b.factors[i]); order != 0) {
      return order;
    }
    if (a.factors[i].exponent != b.factors[i].exponent) {
      return std::abs(a.factors[i].exponent) > std::abs(b.factors[i].exponent) ? -1 : 1;
    }
  }
  if (a.factors.size() == b.factors.size()) {
    return 0;
  }
  return a.factors.size() > b.factors.size() ? -1 : 1;
}

std::string factorText(const Factor& factor) {
  const int exponent = std::abs(factor.exponent);
  const Text atom{factor.atom->text, factor.atom->bind};
  return exponent == 1 ? atom.atLeast(Bind::Power)
                       : fmt::format("{}**{}", atom.atLeast(Bind::Atom), exponent);
}

// A term without its sign.
Text termText(const Term& term) {
  // Unsigned, so that the lowest integer has a magnitude.
  const std::int64_t numerator = term.coefficient.numerator();
  const auto magnitude = numerator < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(numerator)
                                       : static_cast<std::uint64_t>(numerator);
  std::vector<std::string> above;
  std::vector<std::string> below;
  if (term.coefficient.denominator() != 1) {
    below.push_back(std::to_string(term.coefficient.denominator()));
  }
  for (const Factor& factor : term.factors) {
    (factor.exponent > 0 ? above : below).push_back(factorText(factor));
  }
  if (magnitude != 1 || above.empty()) {
    above.insert(above.begin(), std::to_string(magnitude));
  }
  Text out;
  out.text = join(above, "*");
  if (above.size() > 1 || !below.empty()) {
    out.bind = Bind::Product;
  } else if (magnitude == 1 && !term.factors.empty()) {
    out.bind = term.factors.front().exponent == 1 ? Bind::Atom : Bind::Power;
  }
  if (!below.empty()) {
    out.text += below.size() == 1 ? "/" + below.front() : "/(" + join(below, "*") + ")";
  }
  return out;
}

}  // namespace

bool tidy(std::vector<Factor>& factors) {
  std::sort(factors.begin(), factors.end(),
            [](const Factor& a, const Factor& b) { return compare(a, b) < 0; });
  std::vector<Factor> out;
  for (Factor& factor : factors) {
    if (!out.empty() && compare(out.back(), factor) == 0) {
      out.back().exponent += factor.exponent;
      if (std::abs(out.back().exponent) > kMaxExponent) {
        return false;
      }
    } else {
      out.push_back(std::move(factor));
    }
  }
  factors = std::move(out);
  return true;
}

bool tidy(Polynomial& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare(a, b) < 0; });
  Polynomial out;
  for (Term& term : terms) {
    if (!out.empty() && compare(out.back(), term) == 0) {
      const auto total = out.back().coefficient.plus(term.coefficient);
      if (!total) {
        return false;
      }
      out.back().coefficient = *total;
    } else {
      out.push_back(std::move(term));
    }
  }
  std::erase_if(out, [](const Term& term) { return term.coefficient.isZero(); });
  terms = std::move(out);
  return true;
}

Polynomial constant(const Ratio& value) {
  return value.isZero() ? Polynomial{} : Polynomial{Term{{}, value}};
}

std::optional<Ratio> constantOf(const Polynomial& terms) {
  if (terms.empty()) {
    return Ratio(0);
  }
  return terms.size() == 1 && terms.front().factors.empty()
             ? std::optional(terms.front().coefficient)
             : std::nullopt;
}

const Atom* bareAtom(const Polynomial& terms) {
  if (terms.size() != 1) {
    return nullptr;
  }
  const Term& only = terms.front();
  const bool bare = only.factors.size() == 1 && only.factors.front().exponent == 1 &&
                    only.coefficient == Ratio(1);
  return bare ? only.factors.front().atom.get() : nullptr;
}

std::string join(const std::vector<std::string>& parts, std::string_view mark) {
  return fmt::format("{}", fmt::join(parts, mark));
}

Text textOf(const Polynomial& terms) {
  if (terms.empty()) {
    return {"0", Bind::Atom};
  }
  if (const Atom* atom = bareAtom(terms)) {
    return {atom->text, atom->bind};
  }
  Text out;
  for (const Term& term : terms) {
    const bool negative = term.coefficient.numerator() < 0;
    const Text one = termText(term);
    if (out.text.empty()) {
      out.text = negative ? "-" : "";
      out.bind = negative || terms.size() > 1 ? Bind::Sum : one.bind;
    } else {
      out.text += negative ? " - " : " + ";
    }
    out.text += one.text;
  }
  return out;
}

}  // namespace neuroncheck::symbolic
