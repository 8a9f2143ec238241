// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/judge_case.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/runner/factor_rule.h"
#include "conformance/runner/random_rule.h"
#include "conformance/runner/selection_rule.h"
#include "conformance/runner/worker_reference.h"
#include "numerics/rules/op_rules.h"
#include "numerics/verdict/judgement.h"

namespace neuroncheck::conformance {
namespace {

using numerics::Judgement;
using numerics::OpClass;
using numerics::OutputRule;

OutputOutcome outcomeOf(std::string what, const Judgement& judgement, std::string rule) {
  const numerics::Metrics& metrics = judgement.metrics;
  OutputOutcome out;
  out.what = std::move(what);
  out.state = judgement.state;
  out.cause = judgement.cause;
  out.reason = judgement.reason;
  out.rule = std::move(rule);
  out.elements = metrics.count;
  out.wrong = metrics.wrong();
  out.identicalToCpu = judgement.identicalToCpu;
  if (metrics.finitePairs > 0) {
    out.maxAbs = metrics.maxAbs.value;
    out.maxRel = metrics.maxRel.value;
    out.maxUlp = metrics.maxUlp.value;
    out.maxRatio = metrics.maxRatio.value;
    out.rtolNeeded = judgement.needed.rtolAlone;
    out.atolNeeded = judgement.needed.atolAlone;
  }
  if (!metrics.worst.empty()) {
    out.worstIndex = metrics.worst.front().index;
    out.worstActual = metrics.worst.front().actual;
    out.worstTruth = metrics.worst.front().truth;
  }
  return out;
}

OutputOutcome structural(std::string what, CaseState state, std::string cause, std::string reason) {
  OutputOutcome out;
  out.what = std::move(what);
  out.state = state;
  out.cause = std::move(cause);
  out.reason = std::move(reason);
  return out;
}

OutputOutcome outcomeOf(std::string what, const RandomOutcome& random) {
  OutputOutcome out = structural(std::move(what), random.state, random.cause, random.reason);
  out.rule = random.rule;
  out.elements = random.samples;
  return out;
}

OutputOutcome outcomeOf(std::string what, const FactorOutcome& factors) {
  OutputOutcome out = structural(std::move(what), factors.state, factors.cause, factors.reason);
  out.rule = factors.rule;
  out.elements = factors.elements;
  out.maxRatio = factors.ratio;
  return out;
}

bool flag(const Json& entry, const char* key) { return entry.value(key, false); }

std::string headOf(const Json& entry) {
  return fmt::format("{}[{}]", entry.value("dtype", std::string("?")),
                     fmt::join(entry.value("sizes", std::vector<std::int64_t>()), ","));
}

/// The one number that a tensor holds throughout; nullopt where there are several, or none.
std::optional<double> constantOf(const numerics::TensorView& view) {
  const numerics::TensorView parts = view.asReal();
  numerics::ElementReader reader(parts);
  std::vector<double> run(1024);
  std::optional<double> first;
  for (std::int64_t at = 0; at < parts.count(); at += std::ssize(run)) {
    run.resize(static_cast<std::size_t>(std::min<std::int64_t>(1024, parts.count() - at)));
    reader.values(at, run);
    first = first.value_or(run.front());
    if (std::ranges::any_of(run, [&](double value) { return value != *first; })) {
      return std::nullopt;
    }
  }
  return first;
}

/// NaN or infinity among the arguments: the results may have them.
bool asksForSpecials(const CaseSpec& spec) {
  return std::ranges::any_of(spec.steps, [](const CaseStep& step) {
    return std::ranges::any_of(step.args, [](const CaseArgument& argument) {
      const auto* number = std::get_if<double>(&argument.value.value);
      return number != nullptr && !std::isfinite(*number);
    });
  });
}

class AttemptJudge {
 public:
  AttemptJudge(const AttemptPlan& plan, const AttemptEvidence& evidence)
      : plan_(plan), evidence_(evidence) {}

  AttemptOutcome run() {
    outcome_.fill = plan_.choice.str();
    outcome_.seed = plan_.seed;
    const Json& actual = evidence_.device->at("outputs");
    const Json& expected = evidence_.reference->at("outputs");
    if (actual.size() != expected.size()) {
      add(structural("results", CaseState::ShapeDtypeMismatch, "count",
                     fmt::format("{} tensors came back where there should be {}", actual.size(),
                                 expected.size())));
    } else {
      for (std::size_t i = 0; i < actual.size(); ++i) {
        judgeOutput(i, actual[i], expected[i]);
      }
    }
    checkWrites();
    judgeGradients();
    outcome_.state = overall();
    return std::move(outcome_);
  }

 private:
  void add(OutputOutcome output) { outcome_.outputs.push_back(std::move(output)); }

  /// The worst of all; what nobody can compare does not hide what was compared and right.
  [[nodiscard]] CaseState overall() const {
    if (outcome_.outputs.empty()) {
      return CaseState::NotComparable;
    }
    std::optional<CaseState> state;
    const bool compared = std::ranges::any_of(outcome_.outputs, [](const OutputOutcome& output) {
      return output.state != CaseState::NotComparable && output.elements > 0;
    });
    for (const OutputOutcome& output : outcome_.outputs) {
      // An output without elements has been compared in all it has, next to others.
      const bool empty = output.state == CaseState::Mistrusted && output.cause == "empty";
      if (output.state != CaseState::NotComparable && !(compared && empty)) {
        state = state ? worse(*state, output.state) : output.state;
      }
    }
    return state.value_or(CaseState::NotComparable);
  }

  void judgeOutput(std::size_t index, const Json& actual, const Json& expected) {
    std::string what = fmt::format("output {}", index);
    if (flag(actual, "absent") || flag(expected, "absent")) {
      if (flag(actual, "absent") != flag(expected, "absent")) {
        add(structural(what, CaseState::ShapeDtypeMismatch, "absent",
                       flag(actual, "absent") ? "the device gives no tensor here"
                                              : "the CPU gives no tensor here"));
      }
      return;
    }
    if (flag(actual, "not_dense") || flag(expected, "not_dense")) {
      add(structural(what, CaseState::NotComparable, "not-dense",
                     "the result is sparse, quantised or nested: it is not compared"));
      return;
    }
    if (!aliasAgrees(what, actual, expected)) {
      return;
    }
    add(judgeNumbers(index, std::move(what), actual, expected));
  }

  bool aliasAgrees(const std::string& what, const Json& actual, const Json& expected) {
    const auto is = actual.value("alias", std::int64_t{-1});
    const auto should = expected.value("alias", std::int64_t{-1});
    if (is == should) {
      return true;
    }
    add(structural(what, CaseState::AliasLost, should < 0 ? "shared" : "copied",
                   should < 0 ? fmt::format("the result shares the storage of operand {}, which it "
                                            "must not: a write to one changes the other",
                                            is)
                              : fmt::format("the result is a copy where it must share the storage "
                                            "of operand {}: writes through it are lost",
                                            should)));
    return false;
  }

  const OutputRule* ruleOf(std::size_t index) const {
    return plan_.rule == nullptr ? nullptr : &numerics::outputRule(*plan_.rule, index);
  }

  OutputOutcome judgeNumbers(std::size_t index, std::string what, const Json& actual,
                             const Json& expected) {
    const OutputRule* rule = ruleOf(index);
    if (isRandom(rule) && headOf(actual) == headOf(expected)) {
      return outcomeOf(std::move(what), randomly().outputs.at(index));
    }
    if (const FactorOutcome* factors = factorsOf(index);
        factors != nullptr && headOf(actual) == headOf(expected)) {
      return outcomeOf(std::move(what), *factors);
    }
    if (const auto reason = notComparedBecause(rule)) {
      // Its form is still promised.
      const bool same = headOf(actual) == headOf(expected);
      return same ? structural(std::move(what), CaseState::NotComparable, reason->first,
                               reason->second)
                  : structural(
                        std::move(what), CaseState::ShapeDtypeMismatch, "structure",
                        fmt::format("{} where it should be {}", headOf(actual), headOf(expected)));
    }
    const auto given = viewOf(actual, evidence_.memory);
    if (!given) {
      return structural(std::move(what), CaseState::ReferenceError, "worker", given.error().text());
    }
    if (const auto selection = selectionOf(plan_, evidence_, index, *given)) {
      return outcomeOf(std::move(what), numerics::judgeSelection(*selection), "K index");
    }
    WorkerReference reference(evidence_, index);
    if (const auto problem = reference.problem()) {
      return structural(std::move(what), CaseState::ReferenceError, "reference", *problem);
    }
    numerics::JudgeRequest request;
    request.actual = *given;
    request.expected = structureOf(expected);
    request.rule = *rule;
    if (const std::string missing = expected.value("no_magnitude", std::string());
        !missing.empty() && given->count() > 0) {
      return structural(std::move(what), CaseState::NotComparable, "no-magnitude", missing);
    }
    request.length = static_cast<double>(expected.value("length", std::int64_t{1}));
    request.exactInAccumulator = plan_.choice.exact && rule->opClass == OpClass::Contraction;
    request.specialInputs = plan_.choice.special || asksForSpecials(*plan_.spec);
    OutputOutcome out = outcomeOf(std::move(what), numerics::judge(request, reference),
                                  fmt::format("{} {}, k = {}", numerics::letter(rule->opClass),
                                              name(rule->opClass), request.length));
    if (out.state == CaseState::Mistrusted) {
      out.constant = constantOf(*given);
    }
    return out;
  }

  [[nodiscard]] std::optional<std::pair<std::string, std::string>> notComparedBecause(
      const OutputRule* rule) const {
    if (rule == nullptr) {
      return std::pair("no-rule",
                       fmt::format("there is no rule for {}", plan_.spec->steps.back().op.str()));
    }
    if (rule->notComparable != numerics::NotComparable::No) {
      return std::pair(std::string(name(rule->notComparable)),
                       std::string("the operator promises no values here"));
    }
    if (isRandom(rule) || drawsEarlier()) {
      return std::pair("random", "random numbers are judged by their distribution, not one by one");
    }
    if (rule->opClass == OpClass::Factorisation) {
      return std::pair("factorisation", fmt::format("no residual is known of {}",
                                                    plan_.spec->steps.back().op.str()));
    }
    if (!movesOnly(*plan_.spec)) {
      return std::pair("sequence",
                       "an earlier step rounds, so that what this one had is not known");
    }
    return std::nullopt;
  }

  static bool isRandom(const OutputRule* rule) {
    return rule != nullptr && rule->opClass == OpClass::Random;
  }

  /// A step before the last one draws random numbers, which the reference cannot draw alike.
  [[nodiscard]] bool drawsEarlier() const {
    const auto& steps = plan_.spec->steps;
    return std::any_of(steps.begin(), steps.end() - 1,
                       [](const CaseStep& step) { return findRandomOp(step.op) != nullptr; });
  }

  /// What the outputs of a factorisation come to, for those that are judged together.
  const FactorOutcome* factorsOf(std::size_t index) {
    const OutputRule* first = ruleOf(0);
    if (first == nullptr || first->opClass != OpClass::Factorisation) {
      return nullptr;
    }
    if (!factors_) {
      factors_ = judgeFactors(plan_, evidence_).value_or(FactorOutcome());
    }
    return std::ranges::find(factors_->outputs, index) == factors_->outputs.end() ? nullptr
                                                                                  : &*factors_;
  }

  const RandomJudgement& randomly() {
    if (!random_) {
      random_ = judgeRandom(plan_, evidence_);
    }
    return *random_;
  }

  static numerics::Structure structureOf(const Json& expected) {
    numerics::Structure out;
    out.dtype = parseDType(expected.value("dtype", std::string())).value_or(DType::Unknown);
    out.sizes = expected.value("sizes", std::vector<std::int64_t>());
    return out;
  }

  /// Operands that were written although the operator does not write them, or the other way round.
  void checkWrites() {
    const auto listOf = [](const Json& answer) {
      return answer.value("changed", std::vector<std::size_t>());
    };
    const auto should = listOf(*evidence_.reference);
    for (const std::size_t operand : listOf(*evidence_.device)) {
      if (std::ranges::find(should, operand) == should.end()) {
        add(structural(fmt::format("operand {} after the call", operand), CaseState::Mismatch,
                       "written", "the call changed an operand that it must not write"));
      }
    }
  }

  void judgeGradients() {
    if (!plan_.spec->backward) {
      return;
    }
    if (isRandom(ruleOf(0)) || drawsEarlier()) {
      const RandomJudgement& random = randomly();
      add(outcomeOf("gradients", random.gradient.value_or(RandomOutcome())));
      return;
    }
    const Json none = Json::array();
    const Json& actual =
        evidence_.device->contains("gradients") ? evidence_.device->at("gradients") : none;
    const Json& expected =
        evidence_.reference->contains("gradients") ? evidence_.reference->at("gradients") : none;
    if (expected.empty() || actual.size() != expected.size()) {
      add(structural("gradients", CaseState::ShapeDtypeMismatch, "count",
                     fmt::format("{} gradients came back where there should be {}", actual.size(),
                                 expected.size())));
      return;
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
      add(judgeGradient(actual[i], expected[i]));
    }
  }

  OutputOutcome judgeGradient(const Json& actual, const Json& expected) {
    std::string what =
        fmt::format("gradient of operand {}", expected.value("operand", std::size_t{0}));
    const Json& same = expected.at("same");
    if (flag(actual, "absent") != flag(same, "absent")) {
      return structural(std::move(what), CaseState::ShapeDtypeMismatch, "absent",
                        flag(actual, "absent") ? "no gradient came back"
                                               : "a gradient came back where there is none");
    }
    if (flag(actual, "absent")) {
      return structural(std::move(what), CaseState::NotComparable, "absent",
                        "no gradient flows to it");
    }
    const auto given = viewOf(actual, evidence_.memory);
    WorkerReference reference(evidence_, expected);
    if (!given || reference.problem()) {
      return structural(std::move(what), CaseState::ReferenceError, "reference",
                        given ? *reference.problem() : given.error().text());
    }
    if (const std::string missing = expected.value("no_magnitude", std::string());
        !missing.empty()) {
      return structural(std::move(what), CaseState::NotComparable, "no-magnitude", missing);
    }
    numerics::JudgeRequest request;
    request.actual = *given;
    request.expected = structureOf(same);
    request.rule.opClass = OpClass::Fused;
    request.rule.coefficient = kGradientCoefficient;
    request.rule.companion = "gradient";
    request.length = static_cast<double>(expected.value("length", std::int64_t{1}));
    request.exactInAccumulator = false;
    return outcomeOf(std::move(what), numerics::judge(request, reference),
                     fmt::format("gradient, k = {}", request.length));
  }

  /// The steps of a backward formula: a handful of roundings of its own.
  static constexpr double kGradientCoefficient = 8;

  const AttemptPlan& plan_;
  const AttemptEvidence& evidence_;
  AttemptOutcome outcome_;
  std::optional<RandomJudgement> random_;
  std::optional<FactorOutcome> factors_;
};

}  // namespace

AttemptOutcome judgeAttempt(const AttemptPlan& plan, const AttemptEvidence& evidence) {
  return AttemptJudge(plan, evidence).run();
}

}  // namespace neuroncheck::conformance
