// SPDX-License-Identifier: Apache-2.0
#include "opdb/claims.h"

#include <utility>

#include <fmt/format.h>

#include "core/case_spec.h"
#include "opdb/claims_engine.h"
#include "opdb/claims_traced.h"

namespace neuroncheck::opdb {
namespace {

/// Dropout on a CPU draws its mask with bernoulli_; the same module asks another device for
/// native_dropout (rule 6).
bool isDropoutMask(const OpUse& use) {
  const bool draws = use.op.str() == "aten::bernoulli_.float";
  return draws && (use.moduleType.find("Dropout") != std::string::npos ||
                   use.lastFrame.file.ends_with("modules/dropout.py"));
}

/// A device argument that is the device the tensor is on already asks for nothing, also once the
/// model has moved as a whole: then only dtype, layout and copy decide.
void dropOwnDevice(const OpUse& use, PredicateContext& context) {
  const Argument* device = use.arg("device");
  const Argument* self = use.arg("self");
  if (use.op.base != "to" || device == nullptr || self == nullptr) {
    return;
  }
  const auto* wanted = std::get_if<Device>(&device->value);
  const auto* tensor = std::get_if<TensorPtr>(&self->value);
  if (wanted != nullptr && tensor != nullptr && *tensor != nullptr &&
      (*tensor)->spec.device == *wanted) {
    context.arguments["device"] =
        ArgumentFacts{.isNone = true, .tensors = {}, .value = NoneValue{}};
  }
}

}  // namespace

struct ClaimEngine::Impl {
  RuleEngine rules;

  Judgement judge(const OpUse& use) {
    PredicateContext context = factsOf(use, rules.target().chip);
    dropOwnDevice(use, context);
    if (!isDropoutMask(use)) {
      return rules.judge(use.op, context);
    }
    Judgement judgement =
        rules.judge(OpName{.ns = "aten", .base = "native_dropout", .overload = {}}, context);
    judgement.reason = fmt::format(
        "{} draws the mask of a dropout that ran on the CPU; the device is asked for "
        "aten::native_dropout: {}",
        use.op.str(), judgement.reason);
    judgement.caveats.push_back(
        fmt::format("made on a CPU: {} is judged as aten::native_dropout", use.op.str()));
    return judgement;
  }

  /// A judgement with confidence, age and cases.
  [[nodiscard]] UseClaim rated(const OpUse& use, Judgement judgement) const;
};

ClaimEngine::ClaimEngine(const Database& database, Target target, std::string today)
    : impl_(new Impl{.rules = RuleEngine(database, std::move(target), std::move(today))}) {}

ClaimEngine::~ClaimEngine() = default;

UseClaim ClaimEngine::claim(const OpUse& use) { return impl_->rated(use, impl_->judge(use)); }

UseClaim ClaimEngine::claim(const OpUse& use, const TracedCase& traced) {
  return impl_->rated(use, judgeTraced(impl_->rules, use, traced));
}

UseClaim ClaimEngine::Impl::rated(const OpUse& use, Judgement judgement) const {
  UseClaim claim;
  claim.use = use.id;
  claim.claim = judgement.claim;
  rules.evidence().rate(claim, judgement.used);
  claim.reason = std::move(judgement.reason);
  claim.decidedBy = std::move(judgement.decidedBy);
  claim.remedy = std::move(judgement.remedy);
  claim.leaves = std::move(judgement.leaves);
  claim.evidence = std::move(judgement.used);
  for (const std::string& id : judgement.shown) {
    addUnique(claim.evidence, id);
  }
  claim.caveats = std::move(judgement.caveats);
  if (const auto spec = caseOf(use)) {
    claim.caseIds.push_back(spec->id());
  }
  return claim;
}

const std::map<std::string, Evidence>& ClaimEngine::evidence() const {
  return impl_->rules.evidence().all();
}

}  // namespace neuroncheck::opdb
