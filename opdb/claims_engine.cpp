// SPDX-License-Identifier: Apache-2.0
// The order in which the rules of docs/claims.md are asked.
#include "opdb/claims_engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace neuroncheck::opdb {
namespace {

/// Deeper than any chain of composites in torch; a catalogue that needs more is wrong.
constexpr int kMaxDepth = 24;

}  // namespace

Judgement noDeviceWork(std::string reason) {
  Judgement judgement;
  judgement.claim = Claim::NoDeviceWork;
  judgement.reason = std::move(reason);
  return judgement;
}

const TensorFacts* tensorArgument(const PredicateContext& context, std::string_view argument) {
  const auto found = context.arguments.find(argument);
  return found == context.arguments.end() || found->second.tensors.size() != 1
             ? nullptr
             : &found->second.tensors.front();
}

std::optional<bool> boolArgument(const PredicateContext& context, std::string_view argument) {
  const auto found = context.arguments.find(argument);
  if (found == context.arguments.end() || !found->second.value) {
    return std::nullopt;
  }
  const auto* value = std::get_if<SymBool>(&*found->second.value);
  return value == nullptr || value->expr != nullptr ? std::nullopt : std::optional(value->value);
}

std::optional<double> numberArgument(const PredicateContext& context, std::string_view argument) {
  const auto found = context.arguments.find(argument);
  if (found == context.arguments.end() || !found->second.value) {
    return std::nullopt;
  }
  if (const auto* real = std::get_if<SymFloat>(&*found->second.value);
      real != nullptr && real->expr == nullptr) {
    return real->value;
  }
  if (const auto* whole = std::get_if<SymIntValue>(&*found->second.value);
      whole != nullptr && !whole->value.isSymbolic()) {
    return static_cast<double>(whole->value.value);
  }
  return std::nullopt;
}

RuleEngine::RuleEngine(const Database& database, Target target, std::string today)
    : database_(database), target_(std::move(target)), book_(database, target_, std::move(today)) {}

const Judgement& RuleEngine::judge(const OpName& op, const PredicateContext& context) {
  const std::string key = op.str() + '(' + contextKey(context);
  if (const auto known = answers_.find(key); known != answers_.end()) {
    return known->second;
  }
  static const Judgement kCycle = [] {
    Judgement judgement;
    judgement.reason = "The catalogue's expansions call each other in a circle here.";
    return judgement;
  }();
  if (depth_ >= kMaxDepth || !inProgress_.insert(key).second) {
    return kCycle;
  }
  ++depth_;
  Judgement judgement = judgeOnce(op, context);
  --depth_;
  inProgress_.erase(key);
  return answers_.emplace(key, std::move(judgement)).first->second;
}

Judgement RuleEngine::judgeOnce(const OpName& op, const PredicateContext& context) {
  const OpInfo* info = database_.find(op);
  if (isHostNamespace(op.ns)) {
    return noDeviceWork(
        fmt::format("{} only talks to the host: nothing reaches the device.", op.str()));
  }
  if (isMetadataOnly(op, info)) {
    return noDeviceWork(
        fmt::format("{} reads or checks metadata: nothing reaches the device.", op.str()));
  }
  if (auto argument = noWorkByArgument(op, context)) {
    return noDeviceWork(*std::move(argument));
  }
  if (auto mapped = judgeMapped(op, context)) {
    return *std::move(mapped);
  }
  if (info != nullptr) {
    const bool inPlaceView =
        info->hasTag("inplace_view") && info->dispatchClass != DispatchClass::Kernel;
    if (info->view == ViewClass::View || inPlaceView) {
      if (auto made = judgeViewOfKernelView(op, *info, context)) {
        return *std::move(made);
      }
      return noDeviceWork(
          fmt::format("{} only changes metadata of its tensor: nothing is computed.", op.str()));
    }
    if (info->view == ViewClass::ViewOrCopy) {
      if (auto judgement = judgeViewOrCopy(op, context)) {
        return *std::move(judgement);
      }
    }
  }
  if (auto rows = judgeRows(op, info, context)) {
    addDispatchView(*rows, op, info, context);
    if (info != nullptr && info->view == ViewClass::KernelView &&
        rows->claim == Claim::CpuFallback) {
      rows->claim = Claim::CpuFallbackView;
    }
    return *std::move(rows);
  }
  auto other = judgeWithoutRows(op, info, context);
  Judgement judgement = other ? *std::move(other) : derive(op, info, context);
  std::vector<std::string> evidenceOnly;
  for (const RowGroup& group : groupRows(op, evidenceOnly)) {
    for (const SupportRow* row : group.rows) {
      addUnique(judgement.shown, book_.addRow(*row));
    }
  }
  for (const std::string& id : evidenceOnly) {
    addUnique(judgement.shown, id);
  }
  return judgement;
}

std::optional<Judgement> RuleEngine::judgeWithoutRows(const OpName& op, const OpInfo* info,
                                                      const PredicateContext& context) {
  if (isCollective(op)) {
    Judgement judgement;
    judgement.reason = fmt::format(
        "The kernel of {} comes with PyTorch and asks the process group of the backend, which no "
        "list of "
        "operators describes.",
        op.str());
    judgement.remedy = "Run the collective once on the device with the world size you will use.";
    return judgement;
  }
  if (info != nullptr && info->view == ViewClass::KernelView) {
    return judgeKernelView(op);
  }
  return judgeAttention(op, context);
}

}  // namespace neuroncheck::opdb
