// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "opdb/predicate.h"
#include "opdb/predicate_atom.h"
#include "opdb/predicate_node.h"

namespace neuroncheck::opdb {
namespace {

using Node = Predicate::Node;
using Kind = Node::Kind;

PredicateResult decided(bool value) {
  return {.truth = value ? Truth::True : Truth::False, .undecidedBy = {}};
}
PredicateResult undecided(std::string by) {
  return {.truth = Truth::Undecided, .undecidedBy = std::move(by)};
}

class Evaluator {
 public:
  explicit Evaluator(const PredicateContext& context) : context_(context) {}

  PredicateResult truth(const Node& node) const {
    switch (node.kind) {
      case Kind::Or:
      case Kind::And:
        return combine(node, node.kind == Kind::Or ? Truth::True : Truth::False);
      case Kind::Not: {
        PredicateResult inner = truth(*node.children.front());
        if (inner.truth != Truth::Undecided) {
          inner.truth = inner.truth == Truth::True ? Truth::False : Truth::True;
        }
        return inner;
      }
      case Kind::Compare:
        return compareEach(quantity(*node.children[0]), quantity(*node.children[1]),
                           node.comparison);
      case Kind::In:
        return membership(node);
      case Kind::AnyGreater:
        return anyGreater(node);
      case Kind::AnySymbolic:
        return anySymbolic(node);
      default:
        return compareEach(quantity(node), Quantity::of(true), Comparison::Equal);
    }
  }

 private:
  /// `absorbing` is the value that decides a chain alone: true of ||, false of &&.
  PredicateResult combine(const Node& node, Truth absorbing) const {
    std::optional<PredicateResult> open;
    for (const auto& child : node.children) {
      PredicateResult result = truth(*child);
      if (result.truth == absorbing) {
        return result;
      }
      if (result.truth == Truth::Undecided && !open) {
        open = std::move(result);
      }
    }
    return open ? *std::move(open) : decided(absorbing == Truth::False);
  }

  template <typename Test>
  static PredicateResult quantify(const Quantity& quantity, const Test& test) {
    bool unknown = quantity.open;
    for (const std::optional<Atom>& item : quantity.items) {
      if (!item) {
        unknown = true;
      } else if (test(*item) == quantity.any) {
        return decided(quantity.any);
      }
    }
    return unknown ? undecided(quantity.by) : decided(!quantity.any);
  }

  /// Over all pairs; an empty side leaves nothing to compare.
  static PredicateResult compareEach(const Quantity& left, const Quantity& right,
                                     Comparison comparison) {
    bool leftOpen = left.open;
    bool rightOpen = right.open;
    for (const std::optional<Atom>& a : left.items) {
      for (const std::optional<Atom>& b : right.items) {
        leftOpen = leftOpen || !a;
        rightOpen = rightOpen || !b;
        if (a && b && compare(*a, *b, comparison) == left.any) {
          return decided(left.any);
        }
      }
    }
    if (leftOpen || rightOpen) {
      return undecided(leftOpen ? left.by : right.by);
    }
    return decided(!left.any);
  }

  PredicateResult membership(const Node& node) const {
    const auto contains = [&](const Atom& atom) {
      return std::any_of(node.children.begin() + 1, node.children.end(), [&](const auto& element) {
        return compare(atom, element->literal, Comparison::Equal);
      });
    };
    return quantify(quantity(*node.children.front()), contains);
  }

  PredicateResult anyGreater(const Node& node) const {
    Quantity values = argumentValue(node.argument);
    values.any = true;
    const Atom bound(node.number);
    return quantify(values,
                    [&](const Atom& atom) { return compare(atom, bound, Comparison::Greater); });
  }

  PredicateResult anySymbolic(const Node& node) const {
    std::string by;
    const auto see = [&](const TensorFacts& tensor, const std::string& owner) {
      if (!tensor.sizes) {
        by = by.empty() ? owner : by;
        return false;
      }
      return std::ranges::any_of(*tensor.sizes,
                                 [](const SymInt& size) { return size.isSymbolic(); });
    };
    for (const std::string& argument : scope(node)) {
      const ArgumentFacts* facts = find(argument);
      if (facts == nullptr || isOpen(*facts)) {
        by = by.empty() ? argument : by;
        continue;
      }
      const bool symbolic = (facts->value && isSymbolic(*facts->value)) ||
                            std::ranges::any_of(facts->tensors, [&](const TensorFacts& tensor) {
                              return see(tensor, argument);
                            });
      if (symbolic) {
        return decided(true);
      }
    }
    if (!context_.results) {
      by = by.empty() ? "result" : by;
    } else if (std::ranges::any_of(*context_.results, [&](const TensorFacts& tensor) {
                 return see(tensor, "result");
               })) {
      return decided(true);
    }
    return by.empty() ? decided(false) : undecided(by);
  }

  Quantity quantity(const Node& node) const {
    switch (node.kind) {
      case Kind::Literal:
        return Quantity::of(node.literal);
      case Kind::Chip: {
        const auto chip = parseChip(context_.chip);
        return chip ? Quantity::of(*chip) : Quantity::unknown("chip");
      }
      case Kind::Value:
        return argumentValue(node.argument);
      case Kind::LengthOf:
        return length(node.argument);
      case Kind::IsNone: {
        const ArgumentFacts* facts = find(node.argument);
        return facts != nullptr && facts->isNone ? Quantity::of(*facts->isNone)
                                                 : Quantity::unknown(node.argument);
      }
      case Kind::DTypeOf:
      case Kind::ItemSizeOf:
      case Kind::RankOf:
      case Kind::SizeOf:
      case Kind::ContiguousOf:
        return ofTensors(node);
      case Kind::Modulo:
        return modulo(quantity(*node.children[0]), quantity(*node.children[1]));
      case Kind::AnyDType:
        return anyDType(node);
      default: {
        const PredicateResult result = truth(node);
        return result.truth == Truth::Undecided ? Quantity::unknown(result.undecidedBy)
                                                : Quantity::of(result.truth == Truth::True);
      }
    }
  }

  static Quantity modulo(const Quantity& left, const Quantity& right) {
    Quantity result{
        .items = {}, .open = left.open || right.open, .by = left.by.empty() ? right.by : left.by};
    for (const auto& a : left.items) {
      for (const auto& b : right.items) {
        result.items.push_back(a && b ? remainder(*a, *b) : std::nullopt);
      }
    }
    return result;
  }

  Quantity argumentValue(const std::string& argument) const {
    const ArgumentFacts* facts = find(argument);
    if (facts == nullptr) {
      return Quantity::unknown(argument);
    }
    if (facts->isNone.value_or(false)) {
      return Quantity::of(NoneValue{});
    }
    return facts->value ? quantityOf(*facts->value, argument) : Quantity::unknown(argument);
  }

  Quantity length(const std::string& argument) const {
    const ArgumentFacts* facts = find(argument);
    if (facts == nullptr) {
      return Quantity::unknown(argument);
    }
    if (facts->isNone.value_or(false)) {
      return {.items = {}, .by = argument};
    }
    const auto elements = facts->length || !facts->value ? facts->length : lengthOf(*facts->value);
    return elements ? Quantity::of(*elements) : Quantity::unknown(argument);
  }

  static std::optional<Atom> property(const Node& node, const TensorFacts& tensor) {
    switch (node.kind) {
      case Kind::DTypeOf:
        return tensor.dtype ? std::optional<Atom>(*tensor.dtype) : std::nullopt;
      case Kind::ItemSizeOf:
        return tensor.dtype ? std::optional<Atom>(itemSize(*tensor.dtype)) : std::nullopt;
      case Kind::RankOf:
        if (tensor.sizes) {
          return Atom(static_cast<std::int64_t>(tensor.sizes->size()));
        }
        return tensor.rank ? std::optional<Atom>(*tensor.rank) : std::nullopt;
      case Kind::ContiguousOf:
        return tensor.contiguous ? std::optional<Atom>(*tensor.contiguous) : std::nullopt;
      default:
        break;
    }
    if (!tensor.sizes) {
      return std::nullopt;
    }
    const auto rank = static_cast<std::int64_t>(tensor.sizes->size());
    const std::int64_t index = node.number < 0 ? node.number + rank : node.number;
    if (index < 0 || index >= rank) {
      return std::nullopt;
    }
    const SymInt& size = (*tensor.sizes)[static_cast<std::size_t>(index)];
    return size.isSymbolic() ? std::nullopt : std::optional<Atom>(size.value);
  }

  Quantity ofTensors(const Node& node) const {
    const ArgumentFacts* facts = find(node.argument);
    if (facts == nullptr || isOpen(*facts)) {
      return Quantity::unknown(node.argument);
    }
    Quantity result{.items = {}, .by = node.argument};
    for (const TensorFacts& tensor : facts->tensors) {
      result.items.push_back(property(node, tensor));
    }
    return result;
  }

  Quantity anyDType(const Node& node) const {
    Quantity result{.items = {}, .any = true, .by = {}};
    const auto see = [&](const TensorFacts& tensor, const std::string& owner) {
      result.items.push_back(tensor.dtype ? std::optional<Atom>(*tensor.dtype) : std::nullopt);
      if (!tensor.dtype && result.by.empty()) {
        result.by = owner;
      }
    };
    const auto leaveOpen = [&](const std::string& owner) {
      result.open = true;
      result.by = result.by.empty() ? owner : result.by;
    };
    for (const std::string& argument : scope(node)) {
      const ArgumentFacts* facts = find(argument);
      if (facts == nullptr || isOpen(*facts)) {
        leaveOpen(argument);
        continue;
      }
      for (const TensorFacts& tensor : facts->tensors) {
        see(tensor, argument);
      }
    }
    if (!context_.results) {
      leaveOpen("result");
    } else {
      for (const TensorFacts& tensor : *context_.results) {
        see(tensor, "result");
      }
    }
    return result;
  }

  /// Nothing is known of what the argument holds.
  static bool isOpen(const ArgumentFacts& facts) {
    return !facts.isNone.value_or(false) && facts.tensors.empty() && !facts.value;
  }

  std::vector<std::string> scope(const Node& node) const {
    if (node.scope) {
      return *node.scope;
    }
    std::vector<std::string> names;
    names.reserve(context_.arguments.size());
    for (const auto& [argument, facts] : context_.arguments) {
      names.push_back(argument);
    }
    return names;
  }

  const ArgumentFacts* find(const std::string& argument) const {
    const auto found = context_.arguments.find(argument);
    return found == context_.arguments.end() ? nullptr : &found->second;
  }

  const PredicateContext& context_;
};

}  // namespace

PredicateResult Predicate::evaluate(const PredicateContext& context) const {
  if (root_ == nullptr) {
    return decided(true);
  }
  return Evaluator(context).truth(*root_);
}

}  // namespace neuroncheck::opdb
