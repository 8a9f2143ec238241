// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numerics/verdict/hypotheses.h"
#include "numerics/verdict/integers.h"
#include "numerics/verdict/judgement.h"
#include "numerics/verdict/measure.h"
#include "numerics/verdict/run_reader.h"
#include "numerics/verdict/trust.h"

namespace neuroncheck::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t faults(const Metrics& m, Fault fault) {
  return m.faults.at(static_cast<std::size_t>(fault));
}

Judgement stopped(CaseState state, std::string cause, std::string reason) {
  Judgement judgement;
  judgement.state = state;
  judgement.cause = std::move(cause);
  judgement.reason = std::move(reason);
  return judgement;
}

std::optional<Judgement> wrongStructure(const JudgeRequest& request) {
  const TensorView& actual = request.actual;
  const Structure& expected = request.expected;
  if (actual.dtype != expected.dtype || actual.sizes != expected.sizes) {
    return stopped(CaseState::ShapeDtypeMismatch, "structure",
                   fmt::format("expected {}[{}], got {}", shortName(expected.dtype),
                               fmt::join(expected.sizes, ","), actual.str()));
  }
  if (expected.strides && *expected.strides != actual.strides && actual.count() > 1) {
    return stopped(CaseState::ShapeDtypeMismatch, "strides",
                   fmt::format("expected strides ({}), got ({})", fmt::join(*expected.strides, ","),
                               fmt::join(actual.strides, ",")));
  }
  return std::nullopt;
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
         b.data() < a.data() + a.size();
}

/// What ends the matter before a number is read.
std::optional<Judgement> beforeNumbers(const JudgeRequest& request, const Reference& reference) {
  if (auto judgement = wrongStructure(request)) {
    return judgement;
  }
  if (request.rule.notComparable != NotComparable::No) {
    return notComparable(fmt::format("not comparable by the operator's nature: {}",
                                     name(request.rule.notComparable)));
  }
  if (request.rule.opClass == OpClass::Random) {
    return notComparable("a random result is judged by its distribution, not by element");
  }
  if (request.rule.opClass == OpClass::Factorisation) {
    return notComparable("a factorisation is judged by its residual, not by element");
  }
  if (overlap(request.actual.bytes, reference.storage())) {
    return stopped(CaseState::Mistrusted, "aliased",
                   "result and reference share memory: the result was compared with itself");
  }
  if (request.actual.count() == 0) {
    return stopped(CaseState::Mistrusted, "empty",
                   "the output has no elements: an empty comparison is not a comparison");
  }
  return std::nullopt;
}

ToleranceNeeded toleranceOf(const Metrics& m) {
  const bool special = m.wrong() != faults(m, Fault::BeyondExpected) + faults(m, Fault::ZeroSign);
  if (special) {
    return {kInfinity, kInfinity, kInfinity, kInfinity};
  }
  // At a truth of zero no relative tolerance helps.
  const bool atZero = m.maxAbs.value > 0 && m.relUndefined > 0;
  return {atZero ? kInfinity : m.maxRel.value, m.maxAbs.value, m.neededRtol.value,
          m.maxRatio.value};
}

bool anySpecial(const Metrics& m) {
  return m.wrong() != faults(m, Fault::BeyondExpected) + faults(m, Fault::ZeroSign);
}

/// The same NaN or infinity, or the same number.
bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Every element that the device has wrong the CPU's own kernel has as wrong or worse, and the CPU
/// is beyond what any order of summation explains, or has the same NaN or infinity.
Result<bool> asUpstream(const JudgeRequest& request, Reference& reference, const Judgement& j) {
  if (!reference.offers({Quantity::CpuSameDType, {}})) {
    return false;
  }
  const bool special = anySpecial(j.metrics);
  detail::RunReader reader(request, reference);
  bool cpuBeyond = false;
  for (std::int64_t first = 0; first < reader.count(); first += detail::kRun) {
    NEURONCHECK_TRY(const MetricsBlock block, reader.read(first));
    NEURONCHECK_TRY(const auto cpu, reader.also({Quantity::CpuSameDType, {}}, block));
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      if (!std::isfinite(block.actual[i]) || !std::isfinite(block.truth[i])) {
        if (!alike(block.actual[i], block.truth[i])) {
          if (!alike(block.actual[i], cpu[i])) {
            return false;
          }
          cpuBeyond = cpuBeyond || special;
        }
        continue;
      }
      const double device = std::abs(block.actual[i] - block.truth[i]);
      const double host = std::abs(cpu[i] - block.truth[i]);
      if (device > block.expected[i] && !(host >= device)) {
        return false;
      }
      cpuBeyond = cpuBeyond || !(host <= block.maximal[i]);
    }
  }
  return cpuBeyond;
}

/// A table-driven engine may be two steps of a narrow format off, but not to one side throughout:
/// truncation makes 0.7 of B_exp on average.
bool leans(const JudgeRequest& request, const Metrics& m) {
  constexpr std::int64_t few = 16;
  constexpr double most = 1.5;
  return request.rule.opClass == OpClass::Elementary && m.finitePairs >= few &&
         std::abs(m.outwardRatio.value()) > most * static_cast<double>(m.finitePairs);
}

std::string worstText(const Judgement& j) {
  if (j.metrics.worst.empty()) {
    return "";
  }
  const Place& p = j.metrics.worst.front();
  return fmt::format("worst at index {}: got {:.9g}, truth {:.17g} ({})", p.index, p.actual,
                     p.truth,
                     std::isinf(p.ratio) ? std::string(name(p.fault))
                                         : fmt::format("{:.3g} times the bound", p.ratio));
}

void conclude(Judgement& j, CaseState state, std::string cause, std::string reason) {
  j.state = state;
  j.cause = std::move(cause);
  j.reason = std::move(reason);
}

/// Stages 3 to 7 for an output with elements beyond their expected bound.
Result<void> explainWrong(const JudgeRequest& request, Reference& reference, Judgement& j) {
  const Metrics& m = j.metrics;
  const std::string wrong =
      fmt::format("{} of {} elements, {}; {}", m.wrong(), m.count, j.pattern.text(), worstText(j));
  const bool within = m.beyondMaximal == 0 && faults(m, Fault::ZeroSign) == 0 && !leans(request, m);
  if (within) {
    NEURONCHECK_TRY_VOID(detail::tryHypotheses(request, reference, j, detail::Beyond::Expected));
  }
  if (within && j.hypothesis == HypothesisId::None) {
    const bool biased = std::abs(m.bias()) > 5 || std::abs(m.outwardBias()) > 5;
    conclude(j, CaseState::PassWeak, biased ? "bias" : "order",
             fmt::format("within what some order of summation may do, but beyond what rounding to "
                         "nearest does: {}",
                         wrong));
    return {};
  }
  // Its bound may be larger than the values, and what nobody wrote would lie within.
  const bool written = !j.pattern.oneValue.has_value();
  if (!within && written && reference.offers({Quantity::UnstableMagnitude, {}}) &&
      m.beyondUnstable == 0) {
    conclude(j, CaseState::PassWeak, "unstable formula",
             fmt::format("right for a formula that cancels more than need be: {}", wrong));
    return {};
  }
  if (!within) {
    NEURONCHECK_TRY_VOID(detail::tryHypotheses(request, reference, j, detail::Beyond::Maximal));
  }
  if (j.hypothesis != HypothesisId::None) {
    conclude(j, CaseState::Degraded, std::string(name(j.hypothesis)),
             std::string(explanation(j.hypothesis)));
    return {};
  }
  NEURONCHECK_TRY(const bool upstream, asUpstream(request, reference, j));
  if (upstream) {
    conclude(j, CaseState::AsUpstream, "cpu kernel",
             fmt::format("the CPU's own kernel errs as much or more: {}", wrong));
    return {};
  }
  conclude(j, anySpecial(m) ? CaseState::NanInf : CaseState::Mismatch,
           std::string(name(j.pattern.kind)), wrong);
  return {};
}

void addNotes(const JudgeRequest& request, Judgement& j) {
  const Metrics& m = j.metrics;
  const bool sums = request.rule.opClass == OpClass::Reduction ||
                    request.rule.opClass == OpClass::Contraction ||
                    request.rule.opClass == OpClass::Normalisation;
  if (sums && m.wrong() == 0 && m.outwardBias() < -5) {
    j.notes.emplace_back("results are smaller in magnitude than the truth throughout: truncation?");
  }
  if (m.zeroSignDiffers != 0) {
    j.notes.push_back(fmt::format("{} zeros have the other sign", m.zeroSignDiffers));
  }
  if (j.identicalToCpu) {
    j.notes.emplace_back("bit-identical with the CPU over a long sum: did the CPU compute it?");
  }
  if (detail::arithmeticOf(request, *formatOf(request.actual.dtype)).accumulator ==
      Format::Float64) {
    j.notes.emplace_back("the truth is of the same precision: its own error is in the bound");
  }
  if (request.allclose) {
    j.allclosePasses = m.allcloseFailures == 0;
  }
}

Result<void> judgeFloats(const JudgeRequest& request, Reference& reference, Judgement& j) {
  NEURONCHECK_TRY_VOID(detail::measure(request, reference, j));
  j.needed = toleranceOf(j.metrics);
  j.trust = detail::trustOf(request, j.metrics);
  addNotes(request, j);
  if (j.metrics.wrong() != 0) {
    return explainWrong(request, reference, j);
  }
  if (!j.trust.trusted) {
    conclude(j, CaseState::Mistrusted, "untrusted", j.trust.reason);
    return {};
  }
  conclude(j, CaseState::Pass, "",
           fmt::format("all {} elements within their bound; the worst uses {:.3g} of it",
                       j.metrics.count, j.metrics.maxRatio.value));
  return {};
}

}  // namespace

Judgement notComparable(std::string reason) {
  return stopped(CaseState::NotComparable, "no rule", std::move(reason));
}

Judgement judge(const JudgeRequest& request, Reference& reference) {
  if (auto early = beforeNumbers(request, reference)) {
    return *std::move(early);
  }
  Judgement judgement;
  const bool integers = isIntegral(request.actual.dtype);
  if (auto done = integers ? detail::judgeIntegers(request, reference, judgement)
                           : judgeFloats(request, reference, judgement);
      !done) {
    return stopped(CaseState::ReferenceError, "reference", done.error().text());
  }
  return judgement;
}

}  // namespace neuroncheck::numerics
