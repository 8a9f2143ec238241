// SPDX-License-Identifier: Apache-2.0
// Laws of three-valued evaluation, on generated predicates and facts.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "opdb/predicate.h"

namespace neuroncheck::opdb {
namespace {

const FunctionSchema& schema() {
  static const FunctionSchema kSchema = *FunctionSchema::parse(
      "aten::law(Tensor a, Tensor[] b, Tensor? c, int[] d, int? e, bool f, str g) -> Tensor");
  return kSchema;
}

rc::Gen<std::string> atoms() {
  return rc::gen::element<std::string>(
      "dtype(a) == int64", "dtype(a) in floats", "dtype(b) == dtype(a)", "dtype(b) != float32",
      "rank(b) == 2", "size(a,0) % 2 == 0", "size(a,-1) > 3", "contiguous(b)", "is_none(c)",
      "dtype(c) == float16", "any_gt(d,1)", "d == 1", "len(d) == 1", "len(b) < 2", "e == None",
      "e >= 2", "f", "g in {'x','y'}", "any_dtype in {float64}", "any_dtype != float32",
      "any_symbolic", "chip < trn3", "true", "false");
}

rc::Gen<std::string> predicates(int depth) {
  if (depth == 0) {
    return atoms();
  }
  const auto smaller = predicates(depth - 1);
  return rc::gen::oneOf(
      atoms(), rc::gen::map(smaller, [](const std::string& p) { return fmt::format("!({})", p); }),
      rc::gen::apply([](const std::string& p,
                        const std::string& q) { return fmt::format("({}) && ({})", p, q); },
                     smaller, smaller),
      rc::gen::apply([](const std::string& p,
                        const std::string& q) { return fmt::format("({}) || ({})", p, q); },
                     smaller, smaller));
}

TensorFacts randomTensor() {
  TensorFacts facts;
  facts.dtype = *rc::gen::element(DType::Float32, DType::Float64, DType::Float16, DType::Int64);
  std::vector<SymInt> sizes;
  const int rank = *rc::gen::inRange(1, 4);
  for (int i = 0; i < rank; ++i) {
    if (*rc::gen::inRange(0, 5) == 0) {
      sizes.emplace_back(SymExpr::makeSymbol("s0"));
    } else {
      sizes.emplace_back(*rc::gen::inRange<std::int64_t>(1, 6));
    }
  }
  facts.rank = rank;
  facts.sizes = sizes;
  facts.contiguous = *rc::gen::arbitrary<bool>();
  return facts;
}

PredicateContext knownFacts() {
  PredicateContext context;
  ArgumentFacts a;
  a.isNone = false;
  a.tensors = {randomTensor()};
  context.arguments["a"] = a;
  ArgumentFacts b;
  b.isNone = false;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    b.tensors.push_back(randomTensor());
  }
  if (b.tensors.empty()) {
    b.value = TensorList{};
  }
  b.length = static_cast<std::int64_t>(b.tensors.size());
  context.arguments["b"] = b;
  ArgumentFacts c;
  c.isNone = *rc::gen::arbitrary<bool>();
  if (!*c.isNone) {
    c.tensors = {randomTensor()};
  }
  context.arguments["c"] = c;
  ArgumentFacts d;
  d.isNone = false;
  std::vector<SymIntValue> values;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    values.push_back({SymInt(*rc::gen::inRange<std::int64_t>(0, 4)), ""});
  }
  d.value = values;
  context.arguments["d"] = d;
  ArgumentFacts e;
  e.isNone = *rc::gen::arbitrary<bool>();
  if (!*e.isNone) {
    e.value = SymIntValue{SymInt(*rc::gen::inRange<std::int64_t>(0, 4)), ""};
  }
  context.arguments["e"] = e;
  ArgumentFacts f;
  f.isNone = false;
  f.value = SymBool{*rc::gen::arbitrary<bool>(), nullptr, ""};
  context.arguments["f"] = f;
  ArgumentFacts g;
  g.isNone = false;
  g.value = *rc::gen::element<std::string>("x", "y", "z");
  context.arguments["g"] = g;
  context.results = std::vector<TensorFacts>{randomTensor()};
  context.chip = *rc::gen::element<std::string>("trn1", "trn2", "trn3");
  return context;
}

bool drop() { return *rc::gen::inRange(0, 3) == 0; }

/// The same facts with some parts not known.
PredicateContext withGaps(PredicateContext context) {
  std::erase_if(context.arguments, [](const auto&) { return drop(); });
  for (auto& [name, facts] : context.arguments) {
    if (drop()) {
      facts = ArgumentFacts{};
      continue;
    }
    for (TensorFacts& tensor : facts.tensors) {
      if (drop()) {
        tensor.dtype.reset();
      }
      if (drop()) {
        tensor.sizes.reset();
      }
      if (drop()) {
        tensor.contiguous.reset();
      }
    }
    if (drop() && !facts.isNone.value_or(false) && facts.tensors.empty()) {
      facts.value.reset();
    }
    if (drop()) {
      facts.length.reset();
    }
  }
  if (drop()) {
    context.results.reset();
  }
  if (drop()) {
    context.chip.clear();
  }
  return context;
}

Truth truth(const std::string& text, const PredicateContext& context) {
  const auto predicate = Predicate::parse(text, &schema());
  RC_ASSERT(predicate.has_value());
  const PredicateResult result = predicate->evaluate(context);
  RC_ASSERT((result.truth == Truth::Undecided) == !result.undecidedBy.empty());
  return result.truth;
}

RC_GTEST_PROP(PredicateLaws, DeMorgan, ()) {
  const std::string p = *predicates(2);
  const std::string q = *predicates(2);
  const PredicateContext context = withGaps(knownFacts());
  RC_ASSERT(truth(fmt::format("!(({}) && ({}))", p, q), context) ==
            truth(fmt::format("!({}) || !({})", p, q), context));
  RC_ASSERT(truth(fmt::format("!(({}) || ({}))", p, q), context) ==
            truth(fmt::format("!({}) && !({})", p, q), context));
}

RC_GTEST_PROP(PredicateLaws, DoubleNegation, ()) {
  const std::string p = *predicates(3);
  const PredicateContext context = withGaps(knownFacts());
  RC_ASSERT(truth(p, context) == truth(fmt::format("!(!({}))", p), context));
}

RC_GTEST_PROP(PredicateLaws, KnowingMoreNeverChangesADecision, ()) {
  const std::string p = *predicates(3);
  const PredicateContext known = knownFacts();
  const Truth before = truth(p, withGaps(known));
  if (before != Truth::Undecided) {
    RC_ASSERT(before == truth(p, known));
  }
  RC_CLASSIFY(before == Truth::Undecided, "undecided");
}

RC_GTEST_PROP(PredicateLaws, AnyTextIsAnsweredWithoutHarm, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("abdefchip_ ()!&|=<>%,{}'-0123459.in \"\\\x01\xff")));
  const auto predicate = Predicate::parse(text, &schema());
  if (predicate) {
    const PredicateResult result = predicate->evaluate(PredicateContext{});
    RC_ASSERT((result.truth == Truth::Undecided) == !result.undecidedBy.empty());
  } else {
    RC_ASSERT(predicate.error().message.starts_with("predicate column "));
  }
}

}  // namespace
}  // namespace neuroncheck::opdb
