// SPDX-License-Identifier: Apache-2.0
// What follows for an operator that no row answers for: twins, families, composites, missing
// kernels, torch.compile (docs/claims.md, rules 11, 12 and 15 to 19).
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "opdb/claims_engine.h"

namespace neuroncheck::opdb {
namespace {

constexpr auto kRecurrent =
    std::to_array<std::string_view>({"gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu",
                                     "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell"});
constexpr std::string_view kDecomposeRemedy =
    "Run ep = ep.run_decompositions() on the exported program, save it and check it again: its "
    "parts are then judged one by one.";

/// Whether the catalogue knows the first calls of the operator only. An out= overload that torch
/// derives calls its functional form and copies: nothing else can follow.
bool isCutOff(const OpInfo& info, const Database& database) {
  const std::vector<ExpansionRow>& rows = database.expansions(info.schema.name);
  const bool derivedOut =
      info.schema.isOut() && std::ranges::any_of(rows, [&info](const ExpansionRow& row) {
        const auto child = OpName::parse(row.child);
        return child && child->base == info.schema.name.base;
      });
  return !derivedOut &&
         std::ranges::any_of(rows, [](const ExpansionRow& row) { return row.truncated; });
}

std::string importRemedy(const OpName& op) {
  return fmt::format(
      "Import the vendor's operator table or a probe of a device (db import), which can say what "
      "{} does.",
      op.str());
}

}  // namespace

Judgement RuleEngine::derive(const OpName& op, const OpInfo* info,
                             const PredicateContext& context) {
  if (info == nullptr) {
    Judgement judgement;
    judgement.reason = fmt::format(
        "{} is not in the catalogue ({}) and no row speaks of it: a custom operator, or one of "
        "another "
        "torch version.",
        op.str(), database_.catalogueVersion());
    judgement.remedy = fmt::format(
        "If its library registers a kernel for PrivateUse1 it runs on the device; if it is written "
        "in Python over other "
        "operators, export with those inlined (torch.library.triton_op or run_decompositions) so "
        "that they are judged; "
        "or import a row for {} (db import).",
        op.str());
    return judgement;
  }
  if (target_.mode == ExecutionMode::Compile) {
    return judgeCompile(op, *info, context);
  }
  if (info->throwsOnly) {
    return judgeMissingKernel(op, *info);
  }
  if (auto twin = judgeTwin(op, *info, context)) {
    return *std::move(twin);
  }
  if (auto family = judgeFamily(op, *info, context)) {
    return *std::move(family);
  }
  const OpInfo* twin = info->structuredTwin ? database_.find(*info->structuredTwin) : nullptr;
  switch (info->dispatchClass) {
    case DispatchClass::CompositeNonFunctional:
      if (twin != nullptr && twin->dispatchClass == DispatchClass::Kernel) {
        return judgeMissingKernel(op, *twin);
      }
      [[fallthrough]];
    case DispatchClass::CompositeImplicit:
    case DispatchClass::CompositeExplicit:
      return judgeComposite(op, *info, context);
    case DispatchClass::Kernel:
      return judgeMissingKernel(op, *info);
    case DispatchClass::Unknown:
      break;
  }
  Judgement judgement;
  judgement.reason = fmt::format(
      "The catalogue does not say how torch dispatches {}, and no row speaks of it.", op.str());
  judgement.remedy = importRemedy(op);
  return judgement;
}

std::optional<Judgement> RuleEngine::judgeTwin(const OpName& op, const OpInfo& info,
                                               const PredicateContext& context) {
  if (!info.structuredTwin || *info.structuredTwin == op) {
    return std::nullopt;
  }
  auto judgement = judgeRows(*info.structuredTwin, database_.find(*info.structuredTwin), context);
  if (judgement) {
    judgement->reason = fmt::format("{} is computed by {}: {}", op.str(),
                                    info.structuredTwin->str(), judgement->reason);
  }
  return judgement;
}

std::optional<Judgement> RuleEngine::judgeFamily(const OpName& op, const OpInfo& info,
                                                 const PredicateContext& context) {
  const OpName twin = info.structuredTwin.value_or(op);
  const OpName functional = functionalForm(op).value_or(op);
  for (const std::string& packet : {functional.packet(), functional.packet() + "_"}) {
    for (const OpName& member : database_.overloads(packet)) {
      const OpInfo* other = database_.find(member);
      if (member == op || other == nullptr || (other->structuredTwin != twin && member != twin)) {
        continue;
      }
      auto judgement = judgeRows(member, other, context);
      if (judgement && judgement->claim == Claim::CpuFallback) {
        judgement->reason = fmt::format("{} shares the kernel {} with {}: {}", op.str(), twin.str(),
                                        member.str(), judgement->reason);
        return judgement;
      }
    }
  }
  return std::nullopt;
}

const std::vector<Expansion>& RuleEngine::expansionsOf(const OpInfo& info) {
  const auto found = expansions_.find(info.schema.name);
  if (found != expansions_.end()) {
    return found->second;
  }
  return expansions_.emplace(info.schema.name, readExpansions(database_, info)).first->second;
}

Part RuleEngine::judgePart(const OpName& op, const Expansion& expansion,
                           const PredicateContext& context) {
  Part part;
  part.expansion = &expansion;
  part.open = !expansion.always;
  if (part.open && expansion.condition) {
    const PredicateResult result = expansion.condition->evaluate(context);
    part.excluded = result.truth == Truth::False;
    part.open = result.truth != Truth::True;
    part.decidedBy = result.undecidedBy;
  } else if (part.open && expansion.onlyIf) {
    // Where it holds the call is possible, not certain: the part stays open.
    const PredicateResult result = expansion.onlyIf->evaluate(context);
    part.excluded = result.truth == Truth::False;
    part.decidedBy = result.undecidedBy;
  }
  part.judgement = judge(expansion.child, childContext(op, expansion, context));
  return part;
}

std::vector<Part> RuleEngine::judgeParts(const OpName& op, const std::vector<Expansion>& expansions,
                                         const PredicateContext& context) {
  std::vector<Part> parts;
  for (const Expansion& expansion : expansions) {
    Part part = judgePart(op, expansion, context);
    // Allocation and metadata are never the point, unless the backend cannot even do those.
    const Claim claim = part.judgement.claim;
    const bool lacksKernel = claim == Claim::CpuFallback || claim == Claim::Unsupported;
    if (!expansion.plumbing || (lacksKernel && !part.excluded)) {
      parts.push_back(std::move(part));
    }
  }
  // Conditions are learnt from samples. Where they exclude every part the arguments lie outside of
  // what was sampled, and a composite that always computed something would read as free: then each
  // part may be called.
  const auto excluded = [](const Part& part) { return part.excluded; };
  if (std::ranges::all_of(parts, excluded)) {
    return parts;
  }
  const bool fewer = std::erase_if(parts, excluded) > 0;
  // One of several conditional calls is made: the last that its necessary condition leaves is that.
  if (fewer && parts.size() == 1 && parts.front().decidedBy.empty() &&
      parts.front().expansion->onlyIf) {
    parts.front().open = false;
  }
  return parts;
}

Judgement RuleEngine::judgeComposite(const OpName& op, const OpInfo& info,
                                     const PredicateContext& context) {
  const std::vector<Expansion>& expansions = expansionsOf(info);
  if (database_.expansions(op).empty()) {
    Judgement judgement;
    judgement.reason = fmt::format(
        "{} is composed of other operators, but the catalogue has no expansion of it (not "
        "expanded).",
        op.str());
    judgement.remedy = kDecomposeRemedy;
    return judgement;
  }
  Judgement judgement = combine(op, judgeParts(op, expansions, context));
  const std::string id = book_.addExpansion(op, database_.expansions(op).front().source);
  if (bucket(judgement.claim) < bucket(Claim::Unknown) && isCutOff(info, database_)) {
    judgement.claim = Claim::Unknown;
    judgement.reason = fmt::format(
        "The recorded calls of {} end in an error: what it calls after them is not known.",
        op.str());
    judgement.remedy = "Look at what it really calls with --trace.";
  }
  addUnique(judgement.used, id);
  if (severity(judgement.claim) >= severity(Claim::Depends) &&
      std::ranges::find(kRecurrent, op.base) != kRecurrent.end()) {
    judgement.remedy = kDecomposeRemedy;
  }
  return judgement;
}

Judgement RuleEngine::judgeMissingKernel(const OpName& op, const OpInfo& info) {
  const ReleaseOrder& releases = book_.releases();
  const std::string missing = info.schema.name.str();
  const std::string kernel = info.schema.name == op
                                 ? missing
                                 : fmt::format("{} (the kernel behind {})", missing, op.str());
  const bool decides = target_.mode == ExecutionMode::Eager && releases.absenceDecides();
  Judgement judgement = decides ? judgeAbsence(op, info, kernel) : quoteAbsence(op, kernel);
  judgement.leaves.push_back({.op = missing,
                              .times = "1",
                              .always = true,
                              .claim = judgement.claim,
                              .reason = judgement.reason});
  return judgement;
}

Judgement RuleEngine::quoteAbsence(const OpName& op, const std::string& kernel) {
  const Release* older =
      target_.mode == ExecutionMode::Eager ? book_.releases().olderComplete() : nullptr;
  Judgement judgement;
  judgement.remedy = importRemedy(op);
  if (older == nullptr) {
    judgement.reason = fmt::format(
        "No row speaks of {}, and no list of registrations is complete enough to infer from.",
        kernel);
    return judgement;
  }
  judgement.reason = fmt::format(
      "No row speaks of {}: it was not registered in {}, {}, which says nothing certain of {}.",
      kernel, older->name, older->date, target_.release);
  judgement.shown.push_back(book_.addAbsence(*older));
  return judgement;
}

Judgement RuleEngine::judgeAbsence(const OpName& op, const OpInfo& info,
                                   const std::string& kernel) {
  const Release& release = *book_.releases().answering();
  const std::string absent =
      fmt::format("{} is not registered in {}, {}", kernel, release.name, release.date);
  Judgement judgement;
  judgement.used.push_back(book_.addAbsence(release));
  judgement.claim = Claim::Unsupported;
  judgement.remedy =
      fmt::format("Replace {} by supported operators, or run that part on the CPU.", op.str());
  if (info.throwsOnly) {
    judgement.reason =
        fmt::format("{}, and the default kernel of torch does nothing but raise.", absent);
  } else if (!info.cpuKernel) {
    judgement.reason = fmt::format(
        "{}, and the fallback has no CPU kernel to call: it would raise \"Could not run '{}' with "
        "arguments from the 'CPU' backend\".",
        absent, info.schema.name.str());
  } else {
    judgement.claim = Claim::CpuFallback;
    judgement.reason = fmt::format(
        "{}: the fallback computes it on the CPU (inferred from a complete list).", absent);
    judgement.remedy = fmt::format(
        "Expect a round trip to the host for each call of {}; replace it by native operators, or "
        "confirm it against a newer release (db import).",
        op.str());
    if (const FeatureRow* fallback = feature("boxed-fallback")) {
      addUnique(judgement.used, book_.addFeature(*fallback));
    }
  }
  return judgement;
}

Judgement RuleEngine::judgeCompile(const OpName& op, const OpInfo& info,
                                   const PredicateContext& context) {
  // Functionalisation turns an in-place operator into its functional form before anything is
  // lowered.
  if (const auto functional = functionalForm(op)) {
    if (const OpInfo* form = database_.find(*functional)) {
      if (auto judgement = judgeRows(*functional, form, context)) {
        judgement->reason = fmt::format("{} becomes {} under torch.compile: {}", op.str(),
                                        functional->str(), judgement->reason);
        return *std::move(judgement);
      }
    }
  }
  if (info.dispatchClass == DispatchClass::CompositeImplicit) {
    return judgeComposite(op, info, context);
  }
  Judgement judgement;
  judgement.reason = fmt::format(
      "Nothing is known of {} under torch.compile: what is registered for eager mode says nothing "
      "about it.",
      op.str());
  judgement.remedy = fmt::format(
      "Compile a small module with {} on a device, or import the vendor's operator table (db "
      "import).",
      op.str());
  judgement.leaves.push_back({.op = op.str(),
                              .times = "1",
                              .always = true,
                              .claim = judgement.claim,
                              .reason = judgement.reason});
  return judgement;
}

}  // namespace neuroncheck::opdb
