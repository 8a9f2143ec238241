// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/hypotheses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "numerics/format/round_run.h"
#include "numerics/verdict/error_shape.h"
#include "numerics/verdict/result_checks.h"

namespace neuroncheck::numerics {
namespace {

struct Words {
  std::string_view name;
  std::string_view explanation;
};

constexpr std::array<Words, kHypothesisCount> kWords = {{
    {"none", ""},
    {"round-toward-zero", "the output is truncated instead of rounded to nearest"},
    {"stochastic-rounding",
     "the output is rounded up or down by chance; NEURON_RT_STOCHASTIC_ROUNDING_EN=0 turns it off"},
    {"fp16-output", "the result was rounded to fp16 before it was stored"},
    {"tf32-output", "the result was rounded to tf32 before it was stored"},
    {"bf16-output",
     "the result was rounded to bf16 before it was stored, as --auto-cast all of the compiler "
     "does; "
     "--auto-cast none turns it off"},
    {"flush-subnormal-outputs", "results below the smallest normal number become zero"},
    {"flush-subnormal-inputs", "subnormal operands are read as zero"},
    {"saturated-infinity",
     "the largest finite number stands where infinity is due; --enable-saturate-infinity of the "
     "compiler does that"},
    {"nan-spread",
     "NaN spreads along rows or columns, as a transpose by a matrix product with the identity does "
     "before NeuronCore-v3"},
    {"tf32-inputs", "the operands were rounded to tf32"},
    {"bf16-inputs",
     "the operands were rounded to bf16, as --auto-cast matmult of the compiler does; --auto-cast "
     "none turns it off"},
    {"fp16-inputs", "the operands were rounded to fp16"},
    {"fp16-accumulation", "partial sums were rounded to fp16"},
    {"bf16-tile-accumulation",
     "the partial sum of each tile was rounded to bf16 (bf16 in PSUM); "
     "--enable-mixed-precision-accumulation keeps fp32"},
    {"bf16-accumulation", "every partial sum was rounded to bf16"},
    {"integer-through-fp32", "integers were computed in fp32, which is exact up to 2^24 only"},
    {"int64-as-int32",
     "64-bit integers were narrowed to 32 bits and wrapped; --native-int64 of the compiler keeps "
     "them (trn2 and later)"},
}};

}  // namespace

std::string_view name(HypothesisId id) { return kWords.at(static_cast<std::size_t>(id)).name; }
std::string_view explanation(HypothesisId id) {
  return kWords.at(static_cast<std::size_t>(id)).explanation;
}

namespace detail {
namespace {

/// A hypothesis whose bound is half as large as the values could explain anything.
constexpr double kTellingBound = 0.5;
/// Element `i` of a run, with what the accumulator says of it.
Element elementAt(const MetricsBlock& block, std::size_t i, const MetricsAccumulator& rules) {
  return {block.first + static_cast<std::int64_t>(i),
          block.actual[i],
          block.truth[i],
          block.rounded[i],
          block.expected[i],
          rules.judge(block.actual[i], block.truth[i], block.rounded[i], block.expected[i])};
}

Format accumulatorOf(HypothesisId id) {
  return id == HypothesisId::Float16Accumulation ? Format::Float16 : Format::BFloat16;
}

/// One pass over the output for one hypothesis.
class Trier {
 public:
  Trier(const JudgeRequest& request, Reference& reference, Judgement& judgement,
        SpecialPolicy policy)
      : reference_(reference),
        judgement_(judgement),
        reader_(request, reference),
        rules_(reader_.format(), policy, {}) {}

  [[nodiscard]] RunReader& reader() { return reader_; }

  template <typename Use>
  Result<void> forEach(const Use& use) {
    for (std::int64_t first = 0; first < reader_.count(); first += kRun) {
      NEURONCHECK_TRY(const MetricsBlock block, reader_.read(first));
      for (std::size_t i = 0; i < block.actual.size(); ++i) {
        use(elementAt(block, i, rules_));
      }
    }
    return {};
  }

  /// A hypothesis that follows from the result alone.
  Result<bool> fromResult(HypothesisId id, Check& check) {
    HypothesisTrial trial{id, false, 0, reader_.count(), {}};
    for (int turn = 0; turn < check.turnsBefore(); ++turn) {
      NEURONCHECK_TRY_VOID(forEach([&](const Element& e) { check.look(turn, e); }));
    }
    NEURONCHECK_TRY_VOID(
        forEach([&](const Element& e) { trial.explained += check.explains(e) ? 1 : 0; }));
    return finish(std::move(trial), check.objection());
  }

  /// A hypothesis whose values the reference evaluates.
  Result<bool> fromValues(HypothesisId id, Beyond beyond) {
    HypothesisTrial trial{id, false, 0, reader_.count(), {}};
    FollowsPrediction follows;
    NEURONCHECK_TRY_VOID(forEachPredicted(id, [&](const Predicted& p) {
      trial.explained += explains(p, p.bound) ? 1 : 0;
      follows.add(p.actual - p.truth, p.value - p.truth, p.expected);
    }));
    return finish(std::move(trial), beyond == Beyond::Expected ? follows.objection() : "");
  }

  /// A hypothesis that the reference gives a room for; the best of those that stand is taken when
  /// all were tried.
  Result<void> fromRoom(HypothesisId id) {
    HypothesisTrial trial{id, false, 0, reader_.count(), {}};
    std::int64_t useless = 0;
    RoundingShape shape(reader_.format(), accumulatorOf(id));
    NEURONCHECK_TRY_VOID(forEachPredicted(id, [&](const Predicted& p) {
      const double bound = p.bound + p.room;
      trial.explained += explains(p, bound) ? 1 : 0;
      useless += std::isfinite(p.value) && bound > kTellingBound * std::abs(p.value) ? 1 : 0;
      shape.add(p.actual, p.actual - p.value, p.value,
                std::hypot(p.room, 4 * reader_.bounder().roundingAt(p.value)));
    }));
    std::string objection;
    if (!shape.leavesTrace()) {
      objection = 2 * useless > reader_.count()
                      ? "its bound is as large as the values: it would explain anything"
                      : tooRare(wrongShare(judgement_), kPrevalence);
    }
    objection = objection.empty() ? shape.objection() : objection;
    const bool stands = trial.explained == trial.tried && objection.empty();
    trial.note = trial.explained == trial.tried ? std::move(objection) : std::string();
    judgement_.trials.push_back(std::move(trial));
    const std::pair rank(!shape.leavesTrace(), shape.misfit());
    if (stands && (!best_ || rank < bestRank_)) {
      best_ = judgement_.trials.size() - 1;
      bestRank_ = rank;
    }
    return {};
  }
  void takeBestRoom() {
    if (best_) {
      judgement_.trials.at(*best_).explainsAll = true;
      judgement_.hypothesis = judgement_.trials.at(*best_).id;
    }
  }

 private:
  /// An element beside what a hypothesis says of it.
  struct Predicted {
    double actual = 0, truth = 0, expected = 0, value = 0, bound = 0, room = 0;
  };
  [[nodiscard]] bool explains(const Predicted& p, double bound) const {
    const double rounded = roundTo(reader_.format(), p.value);
    return rules_.judge(p.actual, p.value, rounded, bound) == Fault::None;
  }
  template <typename Use>
  Result<void> forEachPredicted(HypothesisId id, const Use& use) {
    const bool hasValue = reference_.offers({Quantity::HypothesisValue, id});
    std::vector<double> values;
    for (std::int64_t first = 0; first < reader_.count(); first += kRun) {
      NEURONCHECK_TRY(const MetricsBlock block, reader_.read(first));
      values.assign(block.truth.begin(), block.truth.end());
      if (hasValue) {
        NEURONCHECK_TRY_VOID(reference_.evaluate({Quantity::HypothesisValue, id}, first, values));
      }
      NEURONCHECK_TRY(const auto room, reader_.also({Quantity::HypothesisBound, id}, block));
      const auto magnitude = reader_.magnitude();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double h = values[i];
        const double s = magnitude.empty() ? std::abs(h) : magnitude[i];
        use(Predicted{block.actual[i], block.truth[i], block.expected[i], h,
                      reader_.bounder().at(h, s).expected + reader_.storedAt(i),
                      room.empty() ? 0 : room[i]});
      }
    }
    return {};
  }

  bool finish(HypothesisTrial trial, std::string objection) {
    const bool all = trial.explained == trial.tried;
    trial.explainsAll = all && objection.empty();
    trial.note = all ? std::move(objection) : std::string();
    if (trial.explainsAll) {
      judgement_.hypothesis = trial.id;
    }
    judgement_.trials.push_back(std::move(trial));
    return judgement_.trials.back().explainsAll;
  }

  Reference& reference_;
  Judgement& judgement_;
  RunReader reader_;
  MetricsAccumulator rules_;
  std::optional<std::size_t> best_;
  std::pair<bool, double> bestRank_;
};

}  // namespace

Result<void> tryHypotheses(const JudgeRequest& request, Reference& reference, Judgement& judgement,
                           Beyond beyond) {
  const bool exact = request.rule.opClass == OpClass::Exact;
  const bool within = beyond == Beyond::Expected;
  Trier trier(request, reference, judgement, policyOf(request));
  for (std::size_t i = 1; i < kHypothesisCount; ++i) {
    const auto id = static_cast<HypothesisId>(i);
    Result<bool> done = false;
    if (reference.offers({Quantity::HypothesisBound, id})) {
      if (!within) {
        NEURONCHECK_TRY_VOID(trier.fromRoom(id));
      }
    } else if (reference.offers({Quantity::HypothesisValue, id})) {
      done = trier.fromValues(id, beyond);
    } else if (within && id != HypothesisId::RoundTowardZero && !narrowedBy(id)) {
      continue;
    } else if (auto check = checkFor(id, judgement, trier.reader(), exact)) {
      done = trier.fromResult(id, *check);
    }
    NEURONCHECK_TRY(const bool explained, done);
    if (explained) {
      return {};
    }
  }
  trier.takeBestRoom();
  return {};
}

namespace {

/// An integer as fp32 holds it; beyond int64 it saturates, as a conversion in hardware does.
std::int64_t throughFloat(std::int64_t value) {
  const auto rounded = static_cast<float>(value);
  return rounded >= 0x1p63F ? std::numeric_limits<std::int64_t>::max()
                            : static_cast<std::int64_t>(rounded);
}

}  // namespace

Result<void> tryIntegerHypotheses(const JudgeRequest& request, Reference& reference,
                                  Judgement& judgement) {
  ElementReader reader(request.actual);
  std::vector<std::int64_t> actual, truth;
  for (const HypothesisId id : {HypothesisId::IntegerThroughFloat32, HypothesisId::Int64AsInt32}) {
    const bool offered = reference.offers({Quantity::HypothesisValue, id});
    HypothesisTrial trial{id, false, 0, request.actual.count(), {}};
    for (std::int64_t first = 0; first < trial.tried; first += kRun) {
      const auto n = static_cast<std::size_t>(std::min(kRun, trial.tried - first));
      actual.resize(n);
      truth.resize(n);
      reader.integers(first, actual);
      const Quantity what = offered ? Quantity::HypothesisValue : Quantity::Truth;
      NEURONCHECK_TRY_VOID(
          reference.evaluateIntegers({what, offered ? id : HypothesisId::None}, first, truth));
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t h = offered ? truth[i]
                               : id == HypothesisId::Int64AsInt32
                                   ? static_cast<std::int64_t>(static_cast<std::int32_t>(truth[i]))
                                   : throughFloat(truth[i]);
        trial.explained += actual[i] == h ? 1 : 0;
      }
    }
    trial.explainsAll = trial.explained == trial.tried;
    judgement.trials.push_back(trial);
    if (trial.explainsAll) {
      judgement.hypothesis = id;
      return {};
    }
  }
  return {};
}

}  // namespace detail
}  // namespace neuroncheck::numerics
