// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/states.h"

namespace neuroncheck {

/// What the comparison of one tensor came to. Numbers are those of docs/numerics.md; absent where
/// nothing was compared.
struct OutputOutcome {
  std::string what;  ///< "output 0", "gradient of operand 1", "operand 2 after the call"
  CaseState state = CaseState::NotRun;
  std::string cause;   ///< the hypothesis of `degraded`, "bias", ...; in few words
  std::string reason;  ///< one sentence
  std::string rule;    ///< what it was judged by: "F contraction, k = 512"
  std::int64_t elements = 0;
  std::int64_t wrong = 0;
  std::optional<double> maxAbs, maxRel, maxUlp, maxRatio;
  std::int64_t worstIndex = -1;
  double worstActual = 0, worstTruth = 0;
  double rtolNeeded = 0, atolNeeded = 0;
  std::optional<double> constant;  ///< the truth, where all its elements are this one number
  bool identicalToCpu = false;
  bool operator==(const OutputOutcome&) const = default;
};

/// One run of a case with one fill.
struct AttemptOutcome {
  std::string fill;  ///< "G3.0"
  std::uint64_t seed = 0;
  CaseState state = CaseState::NotRun;
  std::vector<OutputOutcome> outputs;
  bool operator==(const AttemptOutcome&) const = default;
};

/// What became of one conformance case.
struct Outcome {
  std::string id;    ///< CaseSpec::id()
  std::string text;  ///< CaseSpec::str()
  std::string op;    ///< the operator, of a sequence the last
  CaseState state = CaseState::NotRun;
  /// Where it ended: "plan", "reference", "arguments", "forward", "backward", "synchronize",
  /// "copy", "judge".
  std::string stage;
  std::string cause;
  std::string message;  ///< the device's words, or a sentence
  std::vector<AttemptOutcome> attempts;
  /// Operators the CPU computed in the device's place, with the layer that saw it:
  /// "aten::foo (dispatch table)", "aten::foo (the backend's list)".
  std::vector<std::string> fallbacks;
  std::string dispatch;  ///< "direct", "composite", "fallback" or "missing", empty for the CPU
  std::string ending;    ///< of a process that died: "signal 11 (Segmentation fault)"
  std::string stderrTail;
  std::vector<std::string> notes;
  int runs = 0;           ///< processes it was run in
  double seconds = 0;     ///< on the device, of all attempts
  std::int64_t uses = 0;  ///< uses in the models that led to it; 0 for a case from a file
  std::vector<std::string> models;
  bool operator==(const Outcome&) const = default;
};

/// The stage of a case that was begun and of which nothing more is known: a run file holds it as a
/// `crash` until it ends, so that a run that dies leaves the culprit behind.
inline constexpr std::string_view kBegunStage = "begun";
/// `planned` as it stands while it runs.
[[nodiscard]] Outcome begun(Outcome planned);
/// Whether a case was never begun, or begun and not ended.
[[nodiscard]] bool isUnfinished(const Outcome& outcome);

/// The worse of two states of one case, for the case as a whole: what stopped it, then what was
/// wrong, then what was not compared, then passes.
[[nodiscard]] CaseState worse(CaseState a, CaseState b);

}  // namespace neuroncheck
