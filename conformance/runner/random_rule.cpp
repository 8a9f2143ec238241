// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/random_rule.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conformance/runner/random_sample.h"
#include "conformance/runner/worker_reference.h"
#include "numerics/random/seed_contract.h"

namespace neuroncheck::conformance {
namespace {

using numerics::RandomFinding;
using numerics::RandomVerdict;

/// Findings of one output over both stages, and what becomes of them.
using FindingList = std::vector<RandomFinding>;

const RandomFinding* firstOf(const FindingList& findings, RandomVerdict verdict) {
  const auto found = std::ranges::find(findings, verdict, &RandomFinding::verdict);
  return found == findings.end() ? nullptr : &*found;
}

class RandomJudge {
 public:
  RandomJudge(const AttemptPlan& plan, const AttemptEvidence& evidence)
      : plan_(plan), evidence_(evidence), op_(findRandomOp(plan.spec->steps.back().op)) {
    out_.outputs.resize(evidence.device->at("outputs").size());
    if (plan.spec->backward) {
      out_.gradient.emplace();
      out_.gradient->cause = "random";
      out_.gradient->reason = "which elements a gradient flows through is random";
    }
  }

  RandomJudgement run() {
    if (plan_.spec->steps.size() > 1) {
      return refused("random numbers within a sequence of operators are not judged");
    }
    if (op_ == nullptr) {
      return refused("how its random numbers are distributed is not known");
    }
    if (ownResultsAreWrong()) {
      return std::move(out_);
    }
    auto larger = sampleCaseOf(*op_, *plan_.spec, plan_.schema, numerics::kFirstStageCount);
    if (!larger) {
      return refused(larger.error().text());
    }
    if (auto drawn = drawAndJudge(*larger); !drawn) {
      return refused(drawn.error().text());
    }
    return std::move(out_);
  }

 private:
  RandomJudgement refused(const std::string& why) {
    for (RandomOutcome& output : out_.outputs) {
      output.cause = "random";
      output.reason = why;
    }
    return std::move(out_);
  }

  [[nodiscard]] RandomSample sampleOf(const CaseSpec& spec, const Json& answer,
                                      std::span<const std::uint64_t> operands) const {
    return {.op = op_,
            .step = &spec.steps.front(),
            .schema = plan_.schema,
            .answer = &answer,
            .operands = operands,
            .memory = evidence_.memory,
            .cotangents = evidence_.cotangents};
  }

  /// Failures that need no distribution to show, in the results of the case itself. Where the CPU
  /// fails in the same way, that is said.
  bool ownResultsAreWrong() {
    const auto own = findingsOf(sampleOf(*plan_.spec, *evidence_.device, evidence_.operands));
    if (!own) {
      return false;
    }
    bool wrong = false;
    const auto cpu = findingsOf(sampleOf(*plan_.spec, *evidence_.reference, evidence_.operands));
    for (std::size_t i = 0; i < own->outputs.size() && i < out_.outputs.size(); ++i) {
      const RandomFinding* failure = firstOf(own->outputs[i], RandomVerdict::Fail);
      if (failure == nullptr) {
        continue;
      }
      wrong = true;
      fail(out_.outputs[i], *failure, own->what, failure->n);
      const bool alike = cpu && i < cpu->outputs.size() &&
                         firstOf(cpu->outputs[i], RandomVerdict::Fail) != nullptr;
      if (alike) {
        out_.outputs[i].state = CaseState::AsUpstream;
        out_.outputs[i].reason += "; so does the CPU";
      }
    }
    for (RandomOutcome& output : out_.outputs) {
      if (wrong && output.cause.empty()) {
        output.cause = "random";
        output.reason = "another result of the same call is wrong";
      }
    }
    return wrong;
  }

  static void fail(RandomOutcome& output, const RandomFinding& finding, const std::string& what,
                   std::int64_t samples) {
    output.state = CaseState::Mismatch;
    output.cause = std::string(name(finding.test));
    output.reason = finding.words;
    output.rule = fmt::format("J random: {}, n = {}", what, samples);
    output.samples = samples;
  }

  Result<void> drawAndJudge(const SampleCase& larger) {
    const std::uint64_t other = numerics::freshSeed(plan_.seed + 1);
    const std::array seeds{plan_.seed, plan_.seed, other};
    NEURONCHECK_TRY(const Drawn drawn, evidence_.draw(larger, seeds));
    NEURONCHECK_TRY(RandomFindings first,
                    findingsOf(sampleOf(larger.spec, drawn.answers[0], drawn.operands)));
    const std::int64_t samples = elementsOf(drawn.answers[0]);
    std::string note;
    NEURONCHECK_TRY_VOID(checkSeeds(drawn, other, first, note));
    const bool again = std::ranges::any_of(first.outputs, [](const FindingList& findings) {
      return firstOf(findings, RandomVerdict::RetryNeeded) != nullptr;
    });
    if (again) {
      NEURONCHECK_TRY_VOID(secondStage(first));
    }
    for (std::size_t i = 0; i < out_.outputs.size() && i < first.outputs.size(); ++i) {
      conclude(out_.outputs[i], first.outputs[i], first.what, samples, note);
      if (out_.outputs[i].state == CaseState::Mismatch) {
        compareWithCpu(i);
      }
    }
    if (first.gradient && out_.gradient) {
      conclude(*out_.gradient, {*first.gradient}, first.what, samples, {});
    }
    return {};
  }

  [[nodiscard]] static std::int64_t elementsOf(const Json& answer) {
    return numerics::elementCount(
               answer.at("outputs")[0].at("sizes").get<std::vector<std::int64_t>>())
        .value_or(0);
  }

  /// One seed gives the same numbers, another seed others.
  Result<void> checkSeeds(const Drawn& drawn, std::uint64_t other, RandomFindings& findings,
                          std::string& note) const {
    std::array<std::span<const std::byte>, 3> bytes;
    std::size_t item = 1;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      NEURONCHECK_TRY(const numerics::TensorView view,
                      viewOf(drawn.answers[i].at("outputs").at(0), evidence_.memory));
      bytes.at(i) = view.bytes;
      item = static_cast<std::size_t>(itemSize(view.dtype));
    }
    RandomFinding same = numerics::sameSeedTest(bytes[0], bytes[1], plan_.seed);
    if (!drawn.answers[0].value("seeded", false) && same.verdict == RandomVerdict::Fail) {
      note = "; its generator takes no seed, so that seeds were not checked";
      return {};
    }
    findings.outputs.front().push_back(std::move(same));
    if (findings.deterministic) {
      return {};
    }
    if (!op_->isPure()) {
      // Much of such a result is the same whatever was drawn.
      const auto n = static_cast<std::int64_t>(bytes[0].size() / item);
      const bool equal = std::ranges::equal(bytes[0], bytes[2]);
      findings.outputs.front().push_back(
          equal ? numerics::failed(numerics::RandomTest::DifferentSeeds, n,
                                   "two seeds give the same results")
                : numerics::passed(numerics::RandomTest::DifferentSeeds, n,
                                   "two seeds give different results"));
    } else {
      findings.outputs.front().push_back(
          numerics::differentSeedsTest(bytes[0], bytes[2], item, plan_.seed, other));
    }
    return {};
  }

  /// Every test that asked for it is made once more, on another seed and four times as much.
  Result<void> secondStage(RandomFindings& first) const {
    NEURONCHECK_TRY(const SampleCase larger,
                    sampleCaseOf(*op_, *plan_.spec, plan_.schema,
                                 numerics::kRetryFactor * numerics::kFirstStageCount));
    const std::array seeds{numerics::freshSeed(plan_.seed)};
    NEURONCHECK_TRY(const Drawn drawn, evidence_.draw(larger, seeds));
    NEURONCHECK_TRY(const RandomFindings second,
                    findingsOf(sampleOf(larger.spec, drawn.answers[0], drawn.operands)));
    for (std::size_t i = 0; i < first.outputs.size() && i < second.outputs.size(); ++i) {
      FindingList& findings = first.outputs[i];
      for (std::size_t k = 0; k < findings.size() && k < second.outputs[i].size(); ++k) {
        findings[k] = numerics::confirm(findings[k], second.outputs[i][k]);
      }
    }
    return {};
  }

  /// torch's own samplers have faults too: bf16 uniform numbers of torch 2.13 are zero half as
  /// often again as they should be.
  void compareWithCpu(std::size_t index) {
    const auto larger = sampleCaseOf(*op_, *plan_.spec, plan_.schema,
                                     numerics::kRetryFactor * numerics::kFirstStageCount);
    const std::array seeds{numerics::freshSeed(plan_.seed + 2)};
    const auto drawn = larger ? evidence_.drawOnCpu(*larger, seeds) : Result<Drawn>(Drawn{});
    if (!drawn || drawn->answers.empty()) {
      return;
    }
    const auto cpu = findingsOf(sampleOf(larger->spec, drawn->answers[0], drawn->operands));
    if (!cpu || index >= cpu->outputs.size()) {
      return;
    }
    RandomOutcome& output = out_.outputs[index];
    const bool alike = std::ranges::any_of(cpu->outputs[index], [&](const RandomFinding& finding) {
      return name(finding.test) == output.cause &&
             (finding.verdict == RandomVerdict::Fail ||
              (finding.p && *finding.p < numerics::kFailBelow));
    });
    if (alike) {
      output.state = CaseState::AsUpstream;
      output.reason += "; so does the CPU";
    }
  }

  static void conclude(RandomOutcome& output, const FindingList& findings, const std::string& what,
                       std::int64_t samples, const std::string& note) {
    output.samples = samples;
    output.rule = fmt::format("J random: {}, n = {}", what, samples);
    if (const RandomFinding* failure = firstOf(findings, RandomVerdict::Fail)) {
      return fail(output, *failure, what, samples);
    }
    if (const RandomFinding* good = firstOf(findings, RandomVerdict::Pass)) {
      const auto passed =
          std::ranges::count(findings, RandomVerdict::Pass, &RandomFinding::verdict);
      output.state = CaseState::Pass;
      output.reason = fmt::format("{} {} passed on {}: {}{}", passed,
                                  passed == 1 ? "test" : "tests", what, good->words, note);
      // Seeds alone say nothing of what is drawn.
      const bool onlySeeds = std::ranges::all_of(findings, [](const RandomFinding& finding) {
        return finding.verdict != RandomVerdict::Pass ||
               finding.test == numerics::RandomTest::SameSeed ||
               finding.test == numerics::RandomTest::DifferentSeeds;
      });
      if (!onlySeeds) {
        return;
      }
    }
    output.state = CaseState::Mistrusted;
    output.cause = "few";
    output.reason = findings.empty() ? "nothing was judged" : findings.front().words;
  }

  const AttemptPlan& plan_;
  const AttemptEvidence& evidence_;
  const RandomOp* op_;
  RandomJudgement out_;
};

}  // namespace

RandomJudgement judgeRandom(const AttemptPlan& plan, const AttemptEvidence& evidence) {
  return RandomJudge(plan, evidence).run();
}

}  // namespace neuroncheck::conformance
