// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "numerics/verdict/judgement.h"

namespace neuroncheck::numerics::detail {

/// Elements read at a time: all arrays of this many doubles stay in the first cache.
inline constexpr std::int64_t kRun = 512;
/// Elements between two calls of JudgeRequest::progress, a multiple of kRun.
inline constexpr std::int64_t kProgress = 1 << 16;

/// The arithmetic a request is judged in.
[[nodiscard]] Arithmetic arithmeticOf(const JudgeRequest& request, Format output);

[[nodiscard]] SpecialPolicy policyOf(const JudgeRequest& request);

/// Walks a floating-point output in runs and keeps, for the current one, the result, the truth and
/// what they are compared by. Complex outputs are read as components.
class RunReader {
 public:
  RunReader(const JudgeRequest& request, Reference& reference);

  [[nodiscard]] std::int64_t count() const { return view_.count(); }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const Bounder& bounder() const { return bounder_; }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return view_.sizes; }

  /// Reads elements [first, min(first + kRun, count)). The block's spans live until the next call.
  [[nodiscard]] Result<MetricsBlock> read(std::int64_t first);
  /// The values of the run at `first` when the result must be exact and is, byte for byte; empty
  /// when it is not, or when that cannot be seen without reading numbers.
  [[nodiscard]] std::span<const double> equalRun(std::int64_t first);
  /// S of the current run; empty where S = |H|.
  [[nodiscard]] std::span<const double> magnitude() const { return magnitude_; }
  /// What intermediate results stored in the output's format add to both bounds; 0 where there are
  /// none.
  [[nodiscard]] double storedAt(std::size_t i) const { return stored_.empty() ? 0 : stored_[i]; }
  /// A further quantity of the same run, where the reference offers it; empty where not.
  [[nodiscard]] Result<std::span<const double>> also(const Request& request,
                                                     const MetricsBlock& block);

 private:
  void takeAlternatives();
  void boundExact();
  [[nodiscard]] Result<void> addStored(std::int64_t first, std::size_t n);
  [[nodiscard]] Result<void> readMagnitude(std::int64_t first, std::size_t n);

  const JudgeRequest& request_;
  Reference& reference_;
  TensorView view_;
  bool complex_;
  Format format_;
  Bounder bounder_;
  ElementReader reader_;
  bool exact_;
  bool storedAlike_;  ///< the truth is there in the output's dtype: it needs no rounding
  bool offersAlternative_, offersStored_, offersMagnitude_, offersEmulated_, offersUnstable_;
  /// One array in a cache line more than a run has, so that equal places of two arrays differ in
  /// the address bits by which a processor tells loads from stores.
  struct Array {
    alignas(64) std::array<double, kRun + 8> values;
  };
  struct Arrays {
    Array actual, truth, magnitude, rounded, expected, maximal, unstable, emulated, other, stored;
  };
  std::unique_ptr<Arrays> arrays_;
  std::span<double> actual_, truth_, magnitude_, rounded_, expected_, maximal_, unstable_,
      emulated_, other_, stored_;
};

}  // namespace neuroncheck::numerics::detail
