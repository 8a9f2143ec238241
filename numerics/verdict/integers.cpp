// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/integers.h"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "numerics/verdict/hypotheses.h"
#include "numerics/verdict/run_reader.h"

namespace neuroncheck::numerics::detail {
namespace {

constexpr double kZerosOfIntegers = 0.95;
constexpr std::size_t kPlacesKept = Metrics::kWorstKept;

/// What the pass over an integer output gathers beside the metrics.
struct Tally {
  std::int64_t truthMin = std::numeric_limits<std::int64_t>::max();
  std::int64_t truthMax = std::numeric_limits<std::int64_t>::min();
  std::int64_t zeros = 0;
};

void compare(std::int64_t index, std::int64_t actual, std::int64_t truth, Judgement& j,
             Tally& tally) {
  Metrics& m = j.metrics;
  ++m.count;
  ++m.finitePairs;
  tally.truthMin = std::min(tally.truthMin, truth);
  tally.truthMax = std::max(tally.truthMax, truth);
  tally.zeros += truth == 0 ? 1 : 0;
  if (actual == truth) {
    m.ratios.add(0);
    return;
  }
  // As unsigned, so that the distance of the extremes does not overflow.
  const auto [low, high] = std::minmax(actual, truth);
  const auto distance =
      static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  m.maxAbs.offer(distance, index);
  m.ratios.add(std::numeric_limits<double>::infinity());
  ++m.faults.at(static_cast<std::size_t>(Fault::BeyondExpected));
  ++m.beyondMaximal;
  m.pattern.add(index, static_cast<double>(actual));
  m.keep({index, Fault::BeyondExpected, static_cast<double>(actual), static_cast<double>(truth), 0,
          0, std::numeric_limits<double>::infinity()});
  if (j.integerPlaces.size() < kPlacesKept) {
    j.integerPlaces.push_back({index, actual, truth});
  }
}

/// A run without a difference; by far the most are.
void compareEqual(std::span<const std::int64_t> values, Metrics& m, Tally& tally) {
  m.count += std::ssize(values);
  m.finitePairs += std::ssize(values);
  m.ratios.addZeros(std::ssize(values));
  for (const std::int64_t value : values) {
    tally.truthMin = std::min(tally.truthMin, value);
    tally.truthMax = std::max(tally.truthMax, value);
    tally.zeros += value == 0 ? 1 : 0;
  }
}

Result<Tally> measure(const JudgeRequest& request, Reference& reference, Judgement& j) {
  j.metrics = Metrics(request.actual.sizes);
  ElementReader reader(request.actual);
  const std::int64_t count = request.actual.count();
  const bool either = reference.offers({Quantity::Alternative, {}});
  std::vector<std::int64_t> actual, truth, other;
  Tally tally;
  for (std::int64_t first = 0; first < count; first += kRun) {
    const auto n = static_cast<std::size_t>(std::min(kRun, count - first));
    actual.resize(n);
    truth.resize(n);
    reader.integers(first, actual);
    NEURONCHECK_TRY_VOID(reference.evaluateIntegers({Quantity::Truth, {}}, first, truth));
    if (either) {
      other.resize(n);
      NEURONCHECK_TRY_VOID(reference.evaluateIntegers({Quantity::Alternative, {}}, first, other));
    }
    const bool equal = std::ranges::equal(actual, truth);
    if (equal) {
      compareEqual(truth, j.metrics, tally);
    }
    for (std::size_t i = 0; !equal && i < n; ++i) {
      const bool taken = either && actual[i] == other[i];
      compare(first + static_cast<std::int64_t>(i), actual[i], taken ? other[i] : truth[i], j,
              tally);
    }
    const std::int64_t done = first + static_cast<std::int64_t>(n);
    if (request.progress && (done % kProgress == 0 || done == count)) {
      request.progress(done);
    }
  }
  j.pattern = j.metrics.pattern.classify();
  return tally;
}

std::string distrust(const JudgeRequest& request, const Tally& tally, std::int64_t count) {
  if (request.rule.constantAllowed || count == 1) {
    return {};
  }
  if (tally.truthMin == tally.truthMax) {
    return fmt::format(
        "every element of the truth is {}: a result nobody computed could look the "
        "same",
        tally.truthMin);
  }
  if (static_cast<double>(tally.zeros) > kZerosOfIntegers * static_cast<double>(count)) {
    return fmt::format(
        "{} of {} elements of the truth are zero: a skipped result could look the "
        "same",
        tally.zeros, count);
  }
  return {};
}

}  // namespace

Result<void> judgeIntegers(const JudgeRequest& request, Reference& reference, Judgement& j) {
  NEURONCHECK_TRY(const Tally tally, measure(request, reference, j));
  const std::int64_t wrong = j.metrics.wrong();
  if (request.allclose) {
    j.allclosePasses = wrong == 0;
  }
  j.needed.atolAlone = j.metrics.maxAbs.value;
  j.needed.boundFactor = wrong == 0 ? 0 : std::numeric_limits<double>::infinity();
  if (wrong == 0) {
    j.trust.reason = distrust(request, tally, j.metrics.count);
    j.trust.trusted = j.trust.reason.empty();
    j.state = j.trust.trusted ? CaseState::Pass : CaseState::Mistrusted;
    j.cause = j.trust.trusted ? "" : "untrusted";
    j.reason =
        j.trust.trusted ? fmt::format("all {} elements equal", j.metrics.count) : j.trust.reason;
    return {};
  }
  NEURONCHECK_TRY_VOID(tryIntegerHypotheses(request, reference, j));
  if (j.hypothesis != HypothesisId::None) {
    j.state = CaseState::Degraded;
    j.cause = std::string(name(j.hypothesis));
    j.reason = std::string(explanation(j.hypothesis));
    return {};
  }
  const auto& first = j.integerPlaces.front();
  j.state = CaseState::Mismatch;
  j.cause = std::string(name(j.pattern.kind));
  j.reason = fmt::format("{} of {} elements, {}; first at index {}: got {}, truth {}", wrong,
                         j.metrics.count, j.pattern.text(), first.index, first.actual, first.truth);
  return {};
}

}  // namespace neuroncheck::numerics::detail
