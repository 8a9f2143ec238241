// SPDX-License-Identifier: Apache-2.0
// Rules of the vendor's compiler at the uses of a model, their leaves and its inputs.
#include <algorithm>

#include <fmt/format.h>

#include "opdb/rules_compiler.h"

namespace neuroncheck::opdb {
namespace {

/// Children looked at below one use.
constexpr int kMaxChildren = 64;

}  // namespace

bool CompilerRules::isSymbolic(const TensorValue& tensor) {
  const auto [found, isNew] = symbolic_.try_emplace(&tensor, false);
  if (isNew) {
    found->second = tensor.spec.isSymbolic();
  }
  return found->second;
}

void CompilerRules::applyToAll(const OpUse& use) {
  if (everywhere_.empty()) {
    return;
  }
  std::bitset<kDTypeCount + 1> types;
  bool symbolic = false;
  const auto visit = [&](const ArgValue& value) {
    forEachTensor(value, [&](const TensorValue& tensor) {
      types.set(static_cast<std::size_t>(tensor.spec.dtype));
      symbolic = symbolic || isSymbolic(tensor);
    });
  };
  for (const Argument& argument : use.args) {
    visit(argument.value);
  }
  for (const ArgValue& output : use.outputs) {
    visit(output);
  }
  for (std::size_t i = 0; i < everywhere_.size(); ++i) {
    const Truth truth = truthFor(i, types, symbolic);
    const ActiveRule& rule = everywhere_[i];
    if (truth == Truth::Undecided) {
      open(rule.row->code, "operators", "the element type of an operand is not known", use);
    } else if (truth == Truth::True) {
      const auto concerns = [&](const TensorSpec& spec) {
        std::bitset<kDTypeCount + 1> one;
        one.set(static_cast<std::size_t>(spec.dtype));
        return truthFor(i, one, symbolic) == Truth::True;
      };
      hit(rule, run_.place(use, run_.tensorDetail(use, concerns)),
          severityOfHit(rule, run_.claim(use)), use.op.str());
    }
  }
}

void CompilerRules::applyToInputs() {
  for (const GraphInput& input : run_.model().inputs) {
    forEachTensor(input.value, [&](const TensorValue& tensor) {
      std::bitset<kDTypeCount + 1> type;
      type.set(static_cast<std::size_t>(tensor.spec.dtype));
      for (std::size_t i = 0; i < everywhere_.size(); ++i) {
        if (truthFor(i, type, isSymbolic(tensor)) == Truth::True) {
          // What is done with it decides more; that is judged at its uses.
          hit(everywhere_[i],
              run_.place(input.name, fmt::format("the input is {}", run_.tensorText(tensor))),
              Severity::Warning, {});
        }
      }
    });
  }
}

std::string CompilerRules::argumentDetail(const ActiveRule& rule, const OpUse& use) {
  std::string out;
  for (const std::string& name : rule.predicate.arguments()) {
    const Argument* argument = use.arg(name);
    if (argument == nullptr) {
      continue;
    }
    out +=
        fmt::format("{}{} is {}", out.empty() ? "" : ", ", name, run_.valueText(argument->value));
  }
  return out;
}

void CompilerRules::open(std::string_view code, std::string_view op, std::string why,
                         const OpUse& use) {
  Open& entry = open_[{fmt::format("{} on {}", code, op), std::move(why)}];
  if (++entry.count == 1) {
    entry.first = whereText(use);
  }
}

void CompilerRules::reportOpen() {
  for (const auto& [key, entry] : open_) {
    run_.notChecked(
        key.first,
        fmt::format("{} ({}, first {})", key.second, counted(entry.count, "use", "uses"),
                    entry.first),
        "export with fixed sizes and types, or compile the model with the vendor's compiler");
  }
}

void CompilerRules::applyTargeted(const OpUse& use) {
  const std::vector<const ActiveRule*> own = rulesFor(use.op);
  const UseClaim* claim = run_.claim(use);
  const bool leaves = claim != nullptr && !claim->leaves.empty();
  if (own.empty() && !leaves) {
    return;
  }
  if (anyTensor(use, [](const TensorSpec& spec) { return spec.sizes.size() > kMaxRank; })) {
    open("compiler rules", use.op.str(), "an operand has more dimensions than torch allows", use);
    return;
  }
  if (!own.empty()) {
    const PredicateContext context = factsOf(use, run_.target().chip);
    for (const ActiveRule* rule : own) {
      const PredicateResult result = rule->predicate.evaluate(context);
      if (result.truth == Truth::Undecided) {
        open(rule->row->code, use.op.str(), fmt::format("'{}' is not known", result.undecidedBy),
             use);
      } else if (result.truth == Truth::True) {
        hit(*rule, run_.place(use, argumentDetail(*rule, use)), severityOfHit(*rule, claim),
            use.op.str());
      }
    }
  }
  if (leaves) {
    applyToLeaves(use, *claim, own);
  }
}

void CompilerRules::applyToLeaves(const OpUse& use, const UseClaim& claim,
                                  const std::vector<const ActiveRule*>& own) {
  Leaves leaves;
  bool any = false;
  for (const LeafClaim& leaf : claim.leaves) {
    const std::optional<OpName> op = OpName::parse(leaf.op);
    if (!op || leaf.op == use.op.str()) {
      continue;
    }
    LeafState& state = leaves[leaf.op];
    state.always = state.always || leaf.always;
    for (const ActiveRule* rule : rulesFor(*op)) {
      // A rule that names the composite itself has been judged there, with all arguments.
      const bool judged = std::ranges::any_of(
          own, [rule](const ActiveRule* mine) { return mine->row->code == rule->row->code; });
      state.wanted = state.wanted || !judged;
    }
    any = any || state.wanted;
  }
  if (!any) {
    return;
  }
  if (const OpInfo* info = run_.info(use)) {
    int budget = kMaxChildren;
    walk(use, *info, factsOf(use, run_.target().chip), leaves, budget);
  }
  for (const auto& [name, state] : leaves) {
    if (state.wanted && !state.seen) {
      PredicateContext nothing;
      nothing.chip = run_.target().chip;
      judgeLeaf(use, *OpName::parse(name), nothing, state.always);
    }
  }
}

const std::vector<Expansion>& CompilerRules::expansionsOf(const OpInfo& info) {
  const auto [found, isNew] = expansions_.try_emplace(info.schema.name.str());
  if (isNew && run_.data().expansions) {
    found->second = run_.data().expansions(info);
  }
  return found->second;
}

void CompilerRules::walk(const OpUse& use, const OpInfo& parent, const PredicateContext& context,
                         Leaves& leaves, int& budget) {
  for (const Expansion& child : expansionsOf(parent)) {
    if (child.plumbing || --budget < 0) {
      continue;
    }
    if (child.condition && child.condition->evaluate(context).truth == Truth::False) {
      continue;
    }
    const PredicateContext inner = childContext(parent.schema.name, child, context);
    if (const auto leaf = leaves.find(child.child.str()); leaf != leaves.end()) {
      leaf->second.seen = true;
      if (leaf->second.wanted) {
        judgeLeaf(use, child.child, inner, leaf->second.always);
      }
      continue;
    }
    const OpInfo* info = run_.data().schemas->find(child.child);
    if (info != nullptr && budget > 0) {
      walk(use, *info, inner, leaves, budget);
    }
  }
}

void CompilerRules::judgeLeaf(const OpUse& use, const OpName& leaf, const PredicateContext& context,
                              bool certain) {
  for (const ActiveRule* rule : rulesFor(leaf)) {
    const PredicateResult result = rule->predicate.evaluate(context);
    const std::string op = fmt::format("{} below {}", leaf.str(), use.op.str());
    if (result.truth == Truth::Undecided) {
      open(rule->row->code, op, fmt::format("'{}' of it is not known", result.undecidedBy), use);
    } else if (result.truth == Truth::True) {
      const Severity severity = severityOfHit(*rule, run_.claim(use));
      hit(*rule, run_.place(use, fmt::format("{} {}", certain ? "calls" : "may call", leaf.str())),
          certain ? severity : std::min(severity, Severity::Warning), leaf.str());
    }
  }
}

}  // namespace neuroncheck::opdb
