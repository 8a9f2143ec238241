// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/states.h"
#include "numerics/bounds/bound.h"
#include "numerics/metrics/metrics.h"
#include "numerics/reference.h"
#include "numerics/tensor/tensor_view.h"

namespace neuroncheck::numerics {

/// What an output must look like before its numbers are read.
struct Structure {
  DType dtype = DType::Unknown;
  std::vector<std::int64_t> sizes;
  std::optional<std::vector<std::int64_t>> strides;  ///< where upstream promises them
};

/// One output to judge.
struct JudgeRequest {
  TensorView actual;
  Structure expected;
  OutputRule rule;
  double length = 1;  ///< k of the rule, worked out for this case
  /// Arithmetic and special-value policy of the device; absent: declaredArithmetic() of the dtype.
  std::optional<Arithmetic> arithmetic;
  bool exactInAccumulator = false;  ///< an integer fill: order plays no part
  bool specialInputs = false;       ///< NaN and infinity among the inputs are on purpose
  bool relaxedNan = false;
  std::optional<AllcloseTolerance> allclose;        ///< an extra, labelled gate
  std::function<void(std::int64_t done)> progress;  ///< called with elements read
  /// Threads at most for the pass over a large floating-point output, where the reference can be
  /// shared. The judgement is the same for any number.
  unsigned threads = 1;
};

/// One hypothesis that was tried.
struct HypothesisTrial {
  HypothesisId id = HypothesisId::None;
  bool explainsAll = false;
  std::int64_t explained = 0;  ///< of `tried` elements
  std::int64_t tried = 0;
  std::string note;  ///< why it was not accepted although it would explain all
};
/// "bf16-inputs", "round-toward-zero", ... as `--accept` and reports write them.
[[nodiscard]] std::string_view name(HypothesisId id);
/// What happened, in a sentence, and what would change it.
[[nodiscard]] std::string_view explanation(HypothesisId id);

/// The smallest plain tolerance under which the result would have passed. Infinite where none does.
struct ToleranceNeeded {
  double rtolAlone = 0;
  double atolAlone = 0;
  double rtolBesideDefaultAtol = 0;  ///< with assert_close's atol of the dtype
  double boundFactor = 0;            ///< largest |D - H| / B_exp
};

/// What the comparison is worth: conditions under which a wrong result could have passed.
struct Trust {
  bool trusted = true;
  std::string reason;
  double zeroShare = 0;
  double saturatedShare = 0;
  double uselessShare = 0;
};

/// The answer about one output.
struct Judgement {
  CaseState state = CaseState::NotRun;
  /// Why, in few words: the hypothesis of `degraded`, "bias", "unstable formula", "empty", ...
  std::string cause;
  std::string reason;  ///< one sentence for people
  HypothesisId hypothesis = HypothesisId::None;
  Metrics metrics;
  Pattern pattern;
  Trust trust;
  ToleranceNeeded needed;
  std::vector<HypothesisTrial> trials;
  std::vector<std::string> notes;
  /// Bit-identical with the CPU where two machines that both compute would differ: a hint that the
  /// CPU computed it.
  bool identicalToCpu = false;
  std::optional<bool> allclosePasses;  ///< the extra gate, where asked for
  /// Exact integers, where the output has them: the first wrong pair in full.
  struct IntegerPlace {
    std::int64_t index = -1;
    std::int64_t actual = 0;
    std::int64_t truth = 0;
  };
  std::vector<IntegerPlace> integerPlaces;
};

/// Judges one output. Never fails: what stops the comparison is a state of its own
/// (`reference-error`, `not-comparable`, `shape-dtype-mismatch`, `mistrusted`). The rules and their
/// order are those of docs/verdicts.md.
[[nodiscard]] Judgement judge(const JudgeRequest& request, Reference& reference);

/// The same operator by name and what it is missing, when there is no rule for it.
[[nodiscard]] Judgement notComparable(std::string reason);

}  // namespace neuroncheck::numerics
