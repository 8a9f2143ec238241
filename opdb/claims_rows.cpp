// SPDX-License-Identifier: Apache-2.0
// What the rows of the support matrix say of one use (docs/claims.md, rules 10 to 12).
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opdb/claims_engine.h"

namespace neuroncheck::opdb {
namespace {

bool onlyFloat8(const std::vector<std::string_view>& words) {
  return std::ranges::all_of(words, [](std::string_view word) {
    const auto dtype = parseDType(word);
    return dtype && isFloat8(*dtype);
  });
}

enum class DTypeFit : std::uint8_t { Inside, Outside, NotKnown };

/// How the floating-point tensor operands fit the dtypes a row speaks of; `argument` names the one
/// that decides.
DTypeFit fitDTypes(const SupportRow& row, const PredicateContext& context, std::string& argument) {
  const auto words = splitWords(row.dtypes);
  if (words.empty()) {
    return DTypeFit::Inside;
  }
  // Scales and biases of a float8 product are wider than its operands; only the float8 operands are
  // meant.
  const bool float8 = onlyFloat8(words);
  bool matched = false;
  bool unknown = false;
  for (const auto& [given, facts] : context.arguments) {
    for (const TensorFacts& tensor : facts.tensors) {
      if (!tensor.dtype) {
        unknown = true;
        argument = given;
      } else if (isFloating(*tensor.dtype) && (!float8 || isFloat8(*tensor.dtype))) {
        const auto fits = [&](std::string_view word) { return parseDType(word) == tensor.dtype; };
        matched = matched || std::ranges::any_of(words, fits);
        if (std::ranges::none_of(words, fits)) {
          argument = given;
          return DTypeFit::Outside;
        }
      }
    }
  }
  if (matched || !unknown) {
    return float8 && !matched ? DTypeFit::Outside : DTypeFit::Inside;
  }
  return DTypeFit::NotKnown;
}

/// A required tensor of which nothing at all is known, so that a statement about dtypes cannot be
/// applied.
std::string firstUnknownTensor(const OpInfo* info, const PredicateContext& context) {
  if (info == nullptr) {
    return {};
  }
  for (const SchemaArgument& argument : info->schema.arguments) {
    if (argument.type == SchemaType::Tensor && !argument.optional && !argument.written &&
        !context.arguments.contains(argument.name)) {
      return argument.name;
    }
  }
  return {};
}

std::string origin(const SupportRow& row) {
  return fmt::format("{} {} ({}{}{})", row.product, row.release, row.evidence,
                     row.observed.empty() ? "" : ", ", row.observed);
}

std::string_view verb(Claim claim) {
  switch (claim) {
    case Claim::Native:
      return "is native in";
    case Claim::Decomposed:
      return "is rewritten into operators of the device by";
    case Claim::CpuFallback:
      return "is computed on the CPU by";
    case Claim::Unsupported:
      return "is not supported by";
    default:
      return "is not settled by";
  }
}

bool asksContiguous(const std::string& predicate) {
  return predicate.find("contiguous(") != std::string::npos;
}

std::string contiguousRemedy(const OpName& op, const std::string& predicate) {
  return fmt::format(
      "Call .contiguous() on the tensors that `{}` names before they reach {}; it costs nothing "
      "where they are contiguous already.",
      predicate, op.str());
}

std::string remedyFor(const OpName& op, Claim claim, const std::string& predicate) {
  switch (claim) {
    case Claim::CpuFallback:
      return fmt::format(
          "Every call of {} copies its operands to the host and back: replace it by operators that "
          "are native, or "
          "move it out of the loop.",
          op.str());
    case Claim::Unsupported:
      if (predicate.empty()) {
        return fmt::format("Replace {} by supported operators, or run that part on the CPU.",
                           op.str());
      }
      return asksContiguous(predicate)
                 ? contiguousRemedy(op, predicate)
                 : fmt::format(
                       "Change the arguments of {} so that `{}` holds, or run that part on the "
                       "CPU.",
                       op.str(), predicate);
    case Claim::Depends:
      return asksContiguous(predicate) ? contiguousRemedy(op, predicate) : std::string();
    case Claim::Unknown:
      return fmt::format(
          "Measure {} on a device and import the result (db import), or import the vendor's "
          "operator table.",
          op.str());
    default:
      return {};
  }
}

void addCaveats(Judgement& judgement, const SupportRow& row, const OpName& op) {
  if (!row.vendorTest.empty() && row.vendorTest != "pass" && row.vendorTest != "none") {
    judgement.caveats.push_back(
        fmt::format("{}: the vendor's own test is marked {}", op.str(), row.vendorTest));
  }
  if (!row.pathNote.empty()) {
    judgement.caveats.push_back(fmt::format("{}: {}", op.str(), row.pathNote));
  }
}

}  // namespace

const Result<Predicate>& RuleEngine::predicateOf(const SupportRow& row, const OpInfo* info) {
  const auto found = predicates_.find(row.id);
  if (found != predicates_.end()) {
    return found->second;
  }
  // A row of packet scope may name arguments that this overload does not have: then the condition
  // is not decidable here.
  auto parsed = Predicate::parse(
      row.predicate, row.scope == RowScope::Overload && info != nullptr ? &info->schema : nullptr);
  return predicates_.emplace(row.id, std::move(parsed)).first->second;
}

RuleEngine::RowAnswer RuleEngine::answerOf(const SupportRow& row, const OpInfo* info,
                                           const PredicateContext& context) {
  RowAnswer answer{
      .row = &row, .speaks = true, .claim = claimOf(row.status), .decidedBy = {}, .detail = {}};
  std::string argument;
  DTypeFit fit = fitDTypes(row, context, argument);
  if (fit == DTypeFit::Inside && !row.dtypes.empty()) {
    argument = firstUnknownTensor(info, context);
    fit = argument.empty() ? DTypeFit::Inside : DTypeFit::NotKnown;
  }
  if (fit == DTypeFit::Outside) {
    answer.speaks = false;
    answer.claim = Claim::Unknown;
    answer.detail =
        fmt::format("speaks of {} only, and {} has another dtype", row.dtypes, argument);
    return answer;
  }
  if (fit == DTypeFit::NotKnown) {
    answer.claim = Claim::Depends;
    answer.decidedBy = argument;
    answer.detail =
        fmt::format("speaks of {} only, and the dtype of {} is not known", row.dtypes, argument);
    return answer;
  }
  if (row.status == SupportStatus::Partial && row.predicate.empty()) {
    answer.detail = "says partial without saying when";
    return answer;
  }
  const Claim held = row.status == SupportStatus::Partial ? Claim::Native : claimOf(row.status);
  answer.claim = held;
  if (row.predicate.empty()) {
    return answer;
  }
  const Result<Predicate>& predicate = predicateOf(row, info);
  if (!predicate) {
    answer.claim = Claim::Unknown;
    answer.detail =
        fmt::format("has a condition that cannot be read ({})", predicate.error().message);
    return answer;
  }
  const PredicateResult result = predicate->evaluate(context);
  const Claim violated = row.otherwise ? claimOf(*row.otherwise) : Claim::Unknown;
  if (result.truth == Truth::True) {
    answer.detail = fmt::format("its condition `{}` holds", row.predicate);
  } else if (result.truth == Truth::False) {
    answer.claim = violated;
    answer.detail = fmt::format("its condition `{}` does not hold", row.predicate);
  } else if (violated != held) {
    answer.claim = Claim::Depends;
    answer.decidedBy = result.undecidedBy;
    answer.detail =
        fmt::format("its condition `{}` depends on {}, which is not known", row.predicate,
                    result.undecidedBy.empty() ? "an argument" : result.undecidedBy);
  }
  return answer;
}

std::vector<RuleEngine::RowGroup> RuleEngine::groupRows(const OpName& op,
                                                        std::vector<std::string>& evidenceOnly) {
  std::vector<RowGroup> groups;
  for (const SupportRow& row : database_.support(op, target_.product)) {
    const Standing standing = book_.releases().standing(row.release);
    if (!rowApplies(row, target_.mode, target_.chip) || standing.nearness == Nearness::NeverAsks) {
      continue;
    }
    if (row.status == SupportStatus::Unknown) {
      evidenceOnly.push_back(book_.addRow(row));
      continue;
    }
    const auto same = std::ranges::find_if(groups, [&](const RowGroup& group) {
      return group.standing.nearness == standing.nearness && group.standing.order == standing.order;
    });
    if (same != groups.end()) {
      same->rows.push_back(&row);
    } else {
      groups.push_back({.standing = standing, .rows = {&row}});
    }
  }
  std::ranges::sort(groups, [](const RowGroup& a, const RowGroup& b) {
    return std::pair(a.standing.nearness, -a.standing.order) <
           std::pair(b.standing.nearness, -b.standing.order);
  });
  return groups;
}

Judgement RuleEngine::judgeGroup(const OpName& op, const OpInfo* info, const RowGroup& group,
                                 const PredicateContext& context) {
  int best = -1;
  for (const SupportRow* row : group.rows) {
    best = std::max(best, evidenceRank(row->evidence));
  }
  Judgement judgement;
  std::optional<RowAnswer> chosen;
  std::vector<std::string> words;
  for (const SupportRow* row : group.rows) {
    RowAnswer answer = answerOf(*row, info, context);
    addUnique(words, std::string(name(answer.claim)));
    judgement.shown.push_back(book_.addRow(*row));
    const bool weaker = evidenceRank(row->evidence) < best;
    if (weaker) {
      continue;
    }
    // A row that does not speak of these dtypes gives way to one that does; among those that speak
    // the worst counts.
    const bool replaces =
        !chosen || (answer.speaks && !chosen->speaks) ||
        (answer.speaks == chosen->speaks && severity(answer.claim) > severity(chosen->claim));
    if (replaces) {
      chosen = std::move(answer);
    }
  }
  const SupportRow& row = *chosen->row;
  const std::string id = book_.addRow(row);
  std::erase(judgement.shown, id);
  judgement.used.push_back(id);
  judgement.claim = chosen->claim;
  judgement.decidedBy = chosen->decidedBy;
  judgement.reason = fmt::format("{} {} {}{}{}.", op.str(), verb(chosen->claim), origin(row),
                                 chosen->detail.empty() ? "" : ": ", chosen->detail);
  judgement.remedy = remedyFor(op, chosen->claim, row.predicate);
  addCaveats(judgement, row, op);
  if (words.size() > 1) {
    judgement.caveats.push_back(
        fmt::format("sources of {} disagree: {}", row.release, fmt::join(words, ", ")));
  }
  return judgement;
}

void RuleEngine::applyOlderConditions(Judgement& judgement, const OpName& op, const OpInfo* info,
                                      const std::vector<RowGroup>& older,
                                      const PredicateContext& context) {
  for (const RowGroup& group : older) {
    for (const SupportRow* row : group.rows) {
      const bool conditional = row->status == SupportStatus::Native && !row->predicate.empty();
      if (!conditional || bucket(judgement.claim) > bucket(Claim::Native)) {
        continue;
      }
      RowAnswer answer = answerOf(*row, info, context);
      if (!answer.speaks || severity(answer.claim) <= severity(judgement.claim)) {
        continue;
      }
      judgement.claim = answer.claim;
      judgement.decidedBy = answer.decidedBy;
      judgement.used.push_back(book_.addRow(*row));
      judgement.reason = fmt::format("{} {} {}, and nothing newer lifts it: {}.", op.str(),
                                     verb(answer.claim), origin(*row), answer.detail);
      judgement.remedy = remedyFor(op, answer.claim, row->predicate);
      addCaveats(judgement, *row, op);
    }
  }
}

void RuleEngine::addDispatchView(Judgement& judgement, const OpName& op, const OpInfo* info,
                                 const PredicateContext& context) {
  if (judgement.claim != Claim::Unsupported || info == nullptr ||
      target_.mode != ExecutionMode::Eager) {
    return;
  }
  const Judgement dispatch = derive(op, info, context);
  if (bucket(dispatch.claim) == bucket(Claim::Unsupported) || dispatch.claim == Claim::Unknown) {
    return;
  }
  for (const std::string& id : dispatch.used) {
    addUnique(judgement.shown, id);
  }
  judgement.caveats.push_back(
      fmt::format("the dispatcher alone would say {} of {}; the declaration counts",
                  name(dispatch.claim), op.str()));
}

std::optional<Judgement> RuleEngine::judgeRows(const OpName& op, const OpInfo* info,
                                               const PredicateContext& context) {
  std::vector<std::string> evidenceOnly;
  std::vector<RowGroup> groups = groupRows(op, evidenceOnly);
  // The list of a complete release is the last word on itself: what an older release had proves
  // nothing.
  const bool complete = target_.mode == ExecutionMode::Eager && book_.releases().absenceDecides();
  const bool answered =
      !groups.empty() && !(complete && groups.front().standing.nearness == Nearness::Older);
  if (!answered) {
    return std::nullopt;
  }
  Judgement judgement = judgeGroup(op, info, groups.front(), context);
  groups.erase(groups.begin());
  applyOlderConditions(judgement, op, info, groups, context);
  for (const std::string& id : evidenceOnly) {
    addUnique(judgement.shown, id);
  }
  addLeaf(judgement.leaves, {.op = op.str(),
                             .times = "1",
                             .always = true,
                             .claim = judgement.claim,
                             .reason = judgement.reason});
  return judgement;
}

}  // namespace neuroncheck::opdb
