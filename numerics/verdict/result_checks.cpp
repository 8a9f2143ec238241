// SPDX-License-Identifier: Apache-2.0
#include "numerics/verdict/result_checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

namespace neuroncheck::numerics::detail {

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

namespace {

constexpr double kPrevalenceByChance = 0.05;
/// Truncation takes half a step on average, rounding to nearest none; elements it takes to tell.
constexpr double kTruncatedMean = 0.3;
constexpr double kTellingElements = 16;

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
    const double step = ulp(reader_.format(), e.truth);
    // Elements whose accumulation may hide a step count for less.
    const double weight = 1 / (1 + 4 * (rest / step) * (rest / step));
    weights_ += weight;
    inward_ += weight * inward / step;
    return inward >= -rest && inward < step + rest;
  }
  std::string objection() override {
    if (weights_ < kTellingElements) {
      return tooRare(share_, kPrevalence);
    }
    const double mean = inward_ / weights_;
    return mean >= kTruncatedMean
               ? std::string()
               : fmt::format(
                     "results are {:.2g} of a step too small on average; truncation makes it "
                     "half a step",
                     mean);
  }

 private:
  const RunReader& reader_;
  double share_;
  double weights_ = 0;
  double inward_ = 0;
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

/// Every result is a number of a format narrower than its own, and as far off as rounding to that
/// makes it. That all of them are is no accident: a fault of another kind leaves low bits.
class Narrowed final : public Check {
 public:
  Narrowed(Format narrow, double share)
      : narrow_(narrow),
        roundoff_(traits(narrow).unitRoundoff()),
        halfStep_(traits(narrow).minSubnormal() / 2),
        least_(traits(narrow).minNormal()),
        most_(traits(narrow).maxFinite()),
        cutOff_((std::uint64_t{1} << (53 - traits(narrow).significandBits)) - 1),
        share_(share) {}
  bool explains(const Element& e) override {
    if (std::isnan(e.actual) || std::isnan(e.truth)) {
      return e.fault == Fault::None;
    }
    if (!holds(e.actual)) {
      return false;
    }
    nonZero_ += e.actual != 0 ? 1 : 0;
    const double room = e.expected + roundoff_ * std::abs(e.truth) + halfStep_;
    if (std::isinf(e.actual)) {
      return e.actual == e.truth ||
             (std::signbit(e.actual) == std::signbit(e.truth) && std::abs(e.truth) + room > most_);
    }
    return std::abs(e.actual - e.truth) <= room;
  }
  std::string objection() override {
    return nonZero_ < kFew ? "too few results to tell" : tooRare(share_, kPrevalence);
  }

 private:
  static constexpr std::int64_t kFew = 8;
  /// Whether the narrow format has the value. Between its least and its largest number the bits
  /// say so, without the detour of rounding.
  [[nodiscard]] bool holds(double value) const {
    const double size = std::abs(value);
    return size >= least_ && size <= most_ ? (std::bit_cast<std::uint64_t>(value) & cutOff_) == 0
                                           : roundTo(narrow_, value) == value;
  }
  Format narrow_;
  double roundoff_, halfStep_, least_, most_;
  std::uint64_t cutOff_;
  double share_;
  std::int64_t nonZero_ = 0;
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

/// NaN in a whole tile of a row or of a column that holds a value which is not finite in the truth:
/// one NaN in a product with the identity leaves no number there.
class Spread final : public Check {
 public:
  explicit Spread(const std::vector<std::int64_t>& sizes)
      : columns_(sizes.back()), rows_(sizes[sizes.size() - 2]) {}
  [[nodiscard]] static bool applies(const std::vector<std::int64_t>& sizes) {
    return sizes.size() >= 2;
  }
  [[nodiscard]] int turnsBefore() const override { return 2; }
  void look(int turn, const Element& e) override { turn == 0 ? note(e) : count(e); }
  bool explains(const Element& e) override {
    anyNumber_ = anyNumber_ || std::isfinite(e.actual);
    return e.fault == Fault::None ||
           (e.fault == Fault::NanAppeared &&
            (filled(inRow_, rowTile(e.index)) || filled(inColumn_, columnTile(e.index))));
  }
  std::string objection() override {
    return anyNumber_ ? "" : "no number is left that would show that anything was computed";
  }

 private:
  static constexpr std::size_t kMost = 1'000'000;
  static constexpr std::int64_t kTile = 128;
  using Tiles = std::unordered_map<std::int64_t, std::int64_t>;  ///< and the numbers left in each
  void note(const Element& e) {
    if (!std::isfinite(e.truth) && inRow_.size() + inColumn_.size() < kMost) {
      inRow_.try_emplace(rowTile(e.index), 0);
      inColumn_.try_emplace(columnTile(e.index), 0);
    }
  }
  void count(const Element& e) {
    for (auto* tiles : {&inRow_, &inColumn_}) {
      const auto found = tiles->find(tiles == &inRow_ ? rowTile(e.index) : columnTile(e.index));
      if (found != tiles->end()) {
        found->second += std::isnan(e.actual) ? 0 : 1;
      }
    }
  }
  [[nodiscard]] static bool filled(const Tiles& tiles, std::int64_t tile) {
    const auto found = tiles.find(tile);
    return found != tiles.end() && found->second == 0;
  }
  /// The number of the first element of the tile.
  [[nodiscard]] std::int64_t rowTile(std::int64_t index) const {
    return index - index % columns_ % kTile;
  }
  [[nodiscard]] std::int64_t columnTile(std::int64_t index) const {
    return index - index / columns_ % rows_ % kTile * columns_;
  }
  std::int64_t columns_;
  std::int64_t rows_;
  Tiles inRow_, inColumn_;
  bool anyNumber_ = false;
};

bool has(const Judgement& judgement, Fault fault) {
  return judgement.metrics.faults.at(static_cast<std::size_t>(fault)) != 0;
}

}  // namespace

std::optional<Format> narrowedBy(HypothesisId id) {
  switch (id) {
    case HypothesisId::TFloat32Output:
      return Format::TFloat32;
    case HypothesisId::Float16Output:
      return Format::Float16;
    case HypothesisId::BFloat16Output:
      return Format::BFloat16;
    default:
      return std::nullopt;
  }
}

std::unique_ptr<Check> checkFor(HypothesisId id, const Judgement& judgement,
                                const RunReader& reader, bool exact) {
  const double share = wrongShare(judgement);
  const bool beyond = has(judgement, Fault::BeyondExpected);
  switch (id) {
    case HypothesisId::RoundTowardZero:
      return beyond && !exact ? std::make_unique<RoundedDown>(reader, share) : nullptr;
    case HypothesisId::StochasticRounding:
      return beyond && !exact ? std::make_unique<ByChance>(reader, share) : nullptr;
    case HypothesisId::TFloat32Output:
    case HypothesisId::Float16Output:
    case HypothesisId::BFloat16Output: {
      const Format narrow = *narrowedBy(id);
      const bool narrower =
          traits(narrow).significandBits < traits(reader.format()).significandBits;
      return beyond && narrower ? std::make_unique<Narrowed>(narrow, share) : nullptr;
    }
    case HypothesisId::FlushSubnormalOutputs:
      return beyond && judgement.metrics.actualMin <= 0 && judgement.metrics.actualMax >= 0
                 ? std::make_unique<FlushedOutput>(reader.format())
                 : nullptr;
    case HypothesisId::SaturatedInfinity:
      return has(judgement, Fault::InfSaturated) ? std::make_unique<Saturated>() : nullptr;
    case HypothesisId::NanSpread:
      return has(judgement, Fault::NanAppeared) && Spread::applies(reader.sizes())
                 ? std::make_unique<Spread>(reader.sizes())
                 : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace neuroncheck::numerics::detail
