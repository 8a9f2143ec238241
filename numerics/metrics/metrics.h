// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "numerics/format/float_format.h"
#include "numerics/metrics/double_double.h"
#include "numerics/metrics/pattern.h"
#include "numerics/metrics/value_class.h"

namespace neuroncheck::numerics {

/// The largest of something, and where. Ties go to the smaller index, so that merging in any order
/// gives one answer.
struct Extreme {
  double value = 0;
  std::int64_t index = -1;

  void offer(double candidate, std::int64_t at) {
    if (index < 0 || candidate > value || (candidate == value && at < index)) {
      value = candidate;
      index = at;
    }
  }
  void merge(const Extreme& other) {
    if (other.index >= 0) {
      offer(other.value, other.index);
    }
  }
  bool operator==(const Extreme&) const = default;
};

/// What can be wrong with one element.
enum class Fault : std::uint8_t {
  None,
  BeyondExpected,  ///< finite, farther from H than B_exp
  NanAppeared,     ///< NaN where H is a number
  NanLost,         ///< a number where H is NaN
  InfAppeared,     ///< infinity where H is well inside the range
  InfLost,         ///< a number, or the other infinity, where H is infinite or overflows
  InfSaturated,    ///< the largest finite number where H is infinite or overflows
  ZeroSign,        ///< the other zero, where the operator promises its sign
};
inline constexpr std::size_t kFaultCount = static_cast<std::size_t>(Fault::ZeroSign) + 1;
[[nodiscard]] std::string_view name(Fault fault);

/// How special values are judged (docs/verdicts.md, rules of stage 1).
struct SpecialPolicy {
  bool zeroSignMatters = false;
  /// A number where H is NaN is accepted (XLA's "relaxed NaN").
  bool relaxedNan = false;
  bool operator==(const SpecialPolicy&) const = default;
};

/// One wrong element.
struct Place {
  std::int64_t index = -1;  ///< row-major
  Fault fault = Fault::None;
  double actual = 0;
  double truth = 0;
  double expectedBound = 0;
  double maximalBound = 0;
  double ratio = 0;  ///< |actual - truth| / expectedBound; infinite for special values
};

/// Error over bound in powers of two: bin i of 1..64 holds ratios in [2^(i-49), 2^(i-48)), bin 0
/// exact results and below, bin 65 all above. Bin 49 starts at 1: from there on it is wrong.
class RatioHistogram {
 public:
  static constexpr std::size_t kBins = 66;
  static constexpr int kFirstExponent = -48;

  void add(double ratio) { ++counts_.at(binOf(ratio)); }
  /// None is negative; those far below or above `largest`, and NaN, take longer.
  void add(std::span<const double> ratios, double largest);
  void addZeros(std::int64_t times) { counts_.front() += times; }
  void merge(const RatioHistogram& other);
  [[nodiscard]] static std::size_t binOf(double ratio);
  /// Upper end of the bin that holds the given share of all counted, 0 < share <= 1.
  [[nodiscard]] double quantile(double share) const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] const std::array<std::int64_t, kBins>& counts() const { return counts_; }
  bool operator==(const RatioHistogram&) const = default;

 private:
  std::array<std::int64_t, kBins> counts_{};
};

/// What one block adds to the sums of Metrics, and its extent: the part of a pass whose order
/// matters to the last bit.
struct BlockSums {
  double squaredError = 0, squaredTruth = 0, squaredActual = 0, product = 0, signedError = 0,
         absoluteError = 0, absoluteTruth = 0, signedRatio = 0, outwardRatio = 0,
         squaredRounding = 0, squaredEmulated = 0;
  double truthMin = std::numeric_limits<double>::infinity();
  double truthMax = -std::numeric_limits<double>::infinity();
  double actualMin = std::numeric_limits<double>::infinity();
  double actualMax = -std::numeric_limits<double>::infinity();
};

/// Everything one pass over an output tells. Sums are over finite pairs.
struct Metrics {
  std::int64_t count = 0;         ///< elements seen
  std::int64_t finitePairs = 0;   ///< truth and actual both finite
  Extreme maxAbs;                 ///< |D - H|
  Extreme maxRel;                 ///< |D - H| / |H| where H != 0
  std::int64_t relUndefined = 0;  ///< finite pairs with H = 0
  Extreme maxUlp;                 ///< |D - H| in ulps of the output's format at H
  double maxUlpSigned = 0;        ///< the same with its sign
  Extreme maxUlpDistance;         ///< numbers of the format between D and H rounded
  Extreme maxRatio;               ///< |D - H| / B_exp
  RatioHistogram ratios;
  ExactSum squaredError, squaredTruth, squaredActual, product, signedError, absoluteError,
      absoluteTruth;
  ExactSum signedRatio;      ///< (D - H) / B_exp
  ExactSum outwardRatio;     ///< the same, positive where |D| > |H|
  ExactSum squaredRounding;  ///< (RNE(H) - H)^2
  ExactSum squaredEmulated;  ///< (C_emul - H)^2, where there is an emulated leg
  bool hasEmulated = false;
  ClassTable classes;  ///< of H rounded to the format, and of D
  std::array<std::int64_t, kFaultCount> faults{};
  std::int64_t zeroSignDiffers = 0;  ///< counted whether or not it matters
  std::int64_t signDiffers = 0;      ///< D and H of other sign, |H| > B_exp
  std::int64_t beyondMaximal = 0;    ///< finite, farther than B_max; special faults too
  std::int64_t beyondUnstable =
      0;  ///< farther than B_exp with the magnitude of the unstable formula
  std::int64_t uselessBounds = 0;   ///< B_exp > max(1/8, 2u) |H|
  std::int64_t saturatedTruth = 0;  ///< H rounded is infinite or the largest number
  Extreme neededRtol;               ///< largest (|D - H| - default atol) / |H|, see ToleranceNeeded
  std::int64_t allcloseFailures = 0;
  double truthMin = std::numeric_limits<double>::infinity();
  double truthMax = -std::numeric_limits<double>::infinity();
  double actualMin = std::numeric_limits<double>::infinity();
  double actualMax = -std::numeric_limits<double>::infinity();
  PatternCollector pattern;
  std::vector<Place> worst;  ///< at most kWorstKept, the largest ratios first

  static constexpr std::size_t kWorstKept = 16;

  explicit Metrics(std::vector<std::int64_t> sizes = {}) : pattern(std::move(sizes)) {}
  /// Adds what another pass found in other elements of the same tensor.
  void merge(const Metrics& other);
  void add(const BlockSums& sums);
  void keep(const Place& place);

  [[nodiscard]] std::int64_t wrong() const;
  /// ||D - H|| / ||H||; nullopt where H is zero throughout or the sums overflow.
  [[nodiscard]] std::optional<double> relativeL2() const;
  /// ||D - H|| / max(||C_emul - H||, ||RNE(H) - H||): 1 is "as good as can be". nullopt where the
  /// reference is exact (the quotient would be 0/0) unless D is exact too, which is 0.
  [[nodiscard]] std::optional<double> errorRatio() const;
  /// Signal to quantisation noise in dB; infinite for an exact result, nullopt for a zero truth.
  [[nodiscard]] std::optional<double> sqnr() const;
  /// For display only: it forgives what the bounds do not. nullopt where a norm is zero.
  [[nodiscard]] std::optional<double> cosine() const;
  /// Mean of (D - H) / B_exp times sqrt(N): beyond a few, the error is no accident.
  [[nodiscard]] double bias() const;
  /// The same of the magnitudes: truncation makes it negative whatever the signs.
  [[nodiscard]] double outwardBias() const;
};

/// A run of elements and all that is known of them. Spans are of one size; `emulated`, `unstable`
/// may be empty.
struct MetricsBlock {
  std::int64_t first = 0;  ///< linear index of the first element
  std::span<const double> actual;
  std::span<const double> truth;
  std::span<const double> rounded;   ///< truth, to nearest even, in the output's format
  std::span<const double> expected;  ///< B_exp
  std::span<const double> maximal;   ///< B_max, nowhere below B_exp
  std::span<const double> emulated;
  std::span<const double> unstable;  ///< B_exp of the unstable formula
};

/// An additional tolerance people ask for; never part of the verdict.
struct AllcloseTolerance {
  double rtol = 0;
  double atol = 0;
  bool operator==(const AllcloseTolerance&) const = default;
};
/// torch.testing.assert_close's defaults for a format (torch/testing/_comparison.py of 2.13).
[[nodiscard]] AllcloseTolerance assertCloseDefaults(Format format);

namespace detail {
struct ErrorSums;
struct ScaledExtremes;
}  // namespace detail

/// The one pass. Blocks may come in any order and from any number of accumulators that are merged.
class MetricsAccumulator {
 public:
  MetricsAccumulator(Format format, SpecialPolicy policy, std::vector<std::int64_t> sizes,
                     std::optional<AllcloseTolerance> allclose = std::nullopt);

  /// From now on what a block adds to the sums goes to the end of `sums` instead, for somebody to
  /// add in the order of the elements; the rest of the metrics is the same in any order.
  void deferSums(std::vector<BlockSums>& sums) { deferred_ = &sums; }

  void add(const MetricsBlock& block);
  /// Elements whose bits are those of the truth: what add() would say of them, for less.
  void addEqual(std::int64_t first, std::span<const double> values);
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

  /// What is wrong with one element.
  [[nodiscard]] Fault judge(double actual, double truth, double rounded, double expected) const;

 private:
  void addFinite(const MetricsBlock& block, const detail::ErrorSums& errors);
  void addOne(const MetricsBlock& one);
  void addExtremes(const MetricsBlock& block, const detail::ScaledExtremes& scaled, double maxAbs,
                   bool anySmall);
  void addRelative(const MetricsBlock& block);
  void addClasses(const MetricsBlock& block, bool anySmall);
  void addOptional(const MetricsBlock& block, BlockSums& sums);
  void commit(const BlockSums& sums);
  void addFault(const MetricsBlock& block, std::size_t i, double ratio);

  const FormatTraits& format_;
  SpecialPolicy policy_;
  std::optional<AllcloseTolerance> allclose_;
  bool narrow_;  ///< than fp64
  double leastNormal_;
  double maxFinite_;
  double defaultAtol_;
  double uselessShare_;
  double overflowAt_;  ///< the smallest value that rounds to infinity
  Metrics metrics_;
  std::vector<BlockSums>* deferred_ = nullptr;
};

}  // namespace neuroncheck::numerics
