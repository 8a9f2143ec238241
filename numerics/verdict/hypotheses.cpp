// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/hypotheses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_set>

#include <fmt/format.h>

#include "numerics/format/round_run.h"

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

/// Errors that every element of a tensor suffers alike must be seen in many of them: one wrong
/// element is a fault, however wide the bound of a coarse arithmetic.
constexpr double kPrevalence = 0.1;
constexpr double kPrevalenceByChance = 0.05;
/// A hypothesis whose bound is half as large as the values could explain anything.
constexpr double kTellingBound = 0.5;

/// All that decides about one element.
struct Element {
  std::int64_t index = 0;
  double actual = 0, truth = 0, rounded = 0, expected = 0;
  Fault fault = Fault::None;
};

/// A hypothesis that is checked element by element.
class Check {
 public:
  virtual ~Check() = default;
  virtual bool explains(const Element& element) = 0;
  /// Why it does not count although it explains every element; empty when it does.
  virtual std::string objection() { return {}; }
};

double wrongShare(const Judgement& judgement) {
  const Metrics& m = judgement.metrics;
  return m.count == 0 ? 0 : static_cast<double>(m.wrong()) / static_cast<double>(m.count);
}

std::string tooRare(double share, double needed) {
  return share >= needed ? std::string()
                         : fmt::format(
                               "only {:.2g} % of the elements are beyond their bound; it "
                               "would touch {:.0f} % or more",
                               100 * share, 100 * needed);
}

class RoundedDown final : public Check {
 public:
  RoundedDown(const RunReader& reader, double share) : reader_(reader), share_(share) {}
  bool explains(const Element& e) override {
    if (e.fault != Fault::None && e.fault != Fault::BeyondExpected) {
      return false;
    }
    if (!std::isfinite(e.truth) || !std::isfinite(e.actual)) {
      return true;
    }
    // What the accumulation may add to the one ulp that truncation takes.
    const double rest = e.expected - reader_.bounder().roundingAt(e.truth);
    const double inward = std::signbit(e.truth) ? e.actual - e.truth : e.truth - e.actual;
    return inward >= -rest && inward < ulp(reader_.format(), e.truth) + rest;
  }
  std::string objection() override { return tooRare(share_, kPrevalence); }

 private:
  const RunReader& reader_;
  double share_;
};

class ByChance final : public Check {
 public:
  ByChance(const RunReader& reader, double share) : reader_(reader), share_(share) {}
  bool explains(const Element& e) override {
    if (e.fault == Fault::None) {
      return true;
    }
    if (e.fault != Fault::BeyondExpected) {
      return false;
    }
    (std::abs(e.actual) > std::abs(e.truth) ? outward_ : inward_) += 1;
    const double rest = e.expected - reader_.bounder().roundingAt(e.truth);
    return std::abs(e.actual - e.truth) < ulp(reader_.format(), e.truth) + rest;
  }
  std::string objection() override {
    if (std::min(outward_, inward_) * 10 < outward_ + inward_) {
      return "the elements beyond their bound lie on one side: that is not by chance";
    }
    return tooRare(share_, kPrevalenceByChance);
  }

 private:
  const RunReader& reader_;
  double share_;
  std::int64_t outward_ = 0;
  std::int64_t inward_ = 0;
};

class FlushedOutput final : public Check {
 public:
  explicit FlushedOutput(Format format) : least_(traits(format).minNormal()) {}
  bool explains(const Element& e) override {
    return e.fault == Fault::None || (e.actual == 0 && std::abs(e.truth) - e.expected < least_);
  }

 private:
  double least_;
};

class Saturated final : public Check {
 public:
  bool explains(const Element& e) override {
    return e.fault == Fault::None || e.fault == Fault::InfSaturated;
  }
};

/// NaN in the row or the column of a value that is not finite in the truth.
class Spread final : public Check {
 public:
  explicit Spread(const std::vector<std::int64_t>& sizes) {
    if (sizes.size() >= 2) {
      columns_ = sizes.back();
      matrix_ = columns_ * sizes[sizes.size() - 2];
    }
  }
  [[nodiscard]] bool applies() const { return matrix_ > 0; }
  void note(const Element& e) {
    if (!std::isfinite(e.truth) && rowSeen_.size() + columnSeen_.size() < kMost) {
      rowSeen_.insert(rowOf(e.index));
      columnSeen_.insert(columnOf(e.index));
    }
  }
  bool explains(const Element& e) override {
    return e.fault == Fault::None ||
           (e.fault == Fault::NanAppeared &&
            (rowSeen_.contains(rowOf(e.index)) || columnSeen_.contains(columnOf(e.index))));
  }

 private:
  static constexpr std::size_t kMost = 1'000'000;
  [[nodiscard]] std::int64_t rowOf(std::int64_t index) const { return index / columns_; }
  [[nodiscard]] std::int64_t columnOf(std::int64_t index) const {
    return index / matrix_ * columns_ + index % columns_;
  }
  std::int64_t columns_ = 1;
  std::int64_t matrix_ = 0;
  std::unordered_set<std::int64_t> rowSeen_, columnSeen_;
};

/// Element `i` of a run, with what the accumulator says of it.
Element elementAt(const MetricsBlock& block, std::size_t i, const MetricsAccumulator& rules) {
  return {block.first + static_cast<std::int64_t>(i),
          block.actual[i],
          block.truth[i],
          block.rounded[i],
          block.expected[i],
          rules.judge(block.actual[i], block.truth[i], block.rounded[i], block.expected[i])};
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
    NEURONCHECK_TRY_VOID(
        forEach([&](const Element& e) { trial.explained += check.explains(e) ? 1 : 0; }));
    return finish(std::move(trial), check.objection());
  }

  /// A hypothesis whose arithmetic the reference evaluates.
  Result<bool> fromReference(HypothesisId id) {
    HypothesisTrial trial{id, false, 0, reader_.count(), {}};
    std::int64_t useless = 0;
    const bool hasValue = reference_.offers({Quantity::HypothesisValue, id});
    const bool hasBound = reference_.offers({Quantity::HypothesisBound, id});
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
        const double bound = reader_.bounder().at(h, s).expected + (room.empty() ? 0 : room[i]);
        const double rounded = roundTo(reader_.format(), h);
        trial.explained += rules_.judge(block.actual[i], h, rounded, bound) == Fault::None ? 1 : 0;
        useless += std::isfinite(h) && bound > kTellingBound * std::abs(h) ? 1 : 0;
      }
    }
    std::string objection;
    if (hasBound) {
      objection = 2 * useless > reader_.count()
                      ? "its bound is as large as the values: it would explain anything"
                      : tooRare(wrongShare(judgement_), kPrevalence);
    }
    return finish(std::move(trial), std::move(objection));
  }

 private:
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
};

bool has(const Judgement& judgement, Fault fault) {
  return judgement.metrics.faults.at(static_cast<std::size_t>(fault)) != 0;
}

/// Hypotheses the result alone can show; nullopt-like null where it cannot be this one.
std::unique_ptr<Check> checkFor(HypothesisId id, const Judgement& judgement,
                                const RunReader& reader, bool exact) {
  const double share = wrongShare(judgement);
  const bool beyond = has(judgement, Fault::BeyondExpected);
  switch (id) {
    case HypothesisId::RoundTowardZero:
      return beyond && !exact ? std::make_unique<RoundedDown>(reader, share) : nullptr;
    case HypothesisId::StochasticRounding:
      return beyond && !exact ? std::make_unique<ByChance>(reader, share) : nullptr;
    case HypothesisId::FlushSubnormalOutputs:
      return beyond && judgement.metrics.actualMin <= 0 && judgement.metrics.actualMax >= 0
                 ? std::make_unique<FlushedOutput>(reader.format())
                 : nullptr;
    case HypothesisId::SaturatedInfinity:
      return has(judgement, Fault::InfSaturated) ? std::make_unique<Saturated>() : nullptr;
    default:
      return nullptr;
  }
}

Result<bool> trySpread(Trier& trier, const Judgement& judgement) {
  Spread spread(trier.reader().sizes());
  if (!spread.applies() || !has(judgement, Fault::NanAppeared)) {
    return false;
  }
  NEURONCHECK_TRY_VOID(trier.forEach([&](const Element& e) { spread.note(e); }));
  return trier.fromResult(HypothesisId::NanSpread, spread);
}

}  // namespace

Result<void> tryHypotheses(const JudgeRequest& request, Reference& reference,
                           Judgement& judgement) {
  const bool exact = request.rule.opClass == OpClass::Exact;
  Trier trier(request, reference, judgement, policyOf(request));
  for (std::size_t i = 1; i < kHypothesisCount; ++i) {
    const auto id = static_cast<HypothesisId>(i);
    Result<bool> done = false;
    if (reference.offers({Quantity::HypothesisValue, id}) ||
        reference.offers({Quantity::HypothesisBound, id})) {
      done = trier.fromReference(id);
    } else if (id == HypothesisId::NanSpread) {
      done = trySpread(trier, judgement);
    } else if (auto check = checkFor(id, judgement, trier.reader(), exact)) {
      done = trier.fromResult(id, *check);
    }
    NEURONCHECK_TRY(const bool explained, done);
    if (explained) {
      return {};
    }
  }
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
