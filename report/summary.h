// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/run_record.h"

/// What the reports for people say, gathered once and laid out by each format.
namespace neuroncheck::report {

/// One judged model of one readable input. Points into the record.
struct ModelView {
  const InputResult* input = nullptr;
  const Model* model = nullptr;
  const ModelAssessment* judged = nullptr;
  std::string label;
};
[[nodiscard]] std::vector<ModelView> modelViews(const RunRecord& record);

/// The uses of one operator with one claim.
struct OperatorRow {
  Claim claim = Claim::Unknown;
  std::string op;
  std::vector<const OpUse*> uses;
  std::vector<std::string>
      dtypes;  ///< short names of the tensors that go in, in order of appearance
  Confidence confidence = Confidence::High;
  bool stale = false;
  std::int64_t ageDays = -1;
  std::string reason;  ///< of the first use; `otherReasons` more are different
  std::size_t otherReasons = 0;
  std::string decidedBy;
  std::string remedy;
  std::vector<LeafClaim> missing;  ///< leaves that are not native, each once
  std::vector<std::string> caveats;
};
/// Worst claim first, then most uses, then by name.
[[nodiscard]] std::vector<OperatorRow> operatorRows(const ModelView& view);

/// Uses by what they mean for the device: work that is native or decomposed, on the CPU, refused,
/// open, and no work.
struct Tally {
  std::int64_t native = 0;
  std::int64_t fallback = 0;
  std::int64_t refused = 0;  ///< unsupported, or a view whose writes would be lost
  std::int64_t open = 0;     ///< unknown or depends
  std::int64_t noWork = 0;

  [[nodiscard]] std::int64_t all() const { return native + fallback + refused + open + noWork; }
};
[[nodiscard]] Tally tallyOf(const std::map<Claim, std::int64_t>& counts);

/// All findings of the model and of its file, worst first.
[[nodiscard]] std::vector<const Finding*> findingsOf(const ModelView& view);

/// A claim that stands in the way of `ready`.
[[nodiscard]] bool standsInTheWay(Claim claim);

/// "BLOCKED", "RUNS WITH FALLBACK": the verdict as a headline.
[[nodiscard]] std::string headline(Verdict verdict);
/// How many uses mean what for the device, worst first: (1, "refused, or would give wrong
/// results").
[[nodiscard]] std::vector<std::pair<std::int64_t, std::string>> verdictParts(const ModelView& view);
/// What the numbers come to, in one sentence: "All device work is native by the evidence
/// of 2.14.3.0."
[[nodiscard]] std::string verdictSentence(const ModelView& view, const Target& target);
/// Findings of the model and its file that block by themselves.
[[nodiscard]] std::size_t errorCount(const ModelView& view);

/// "torch-neuronx 2.14.3.0, chip trn2 (default), mode eager (default)".
[[nodiscard]] std::string targetText(const Target& target);
/// What a reader must know of the target before anything else; empty when every answer is of the
/// asked release.
[[nodiscard]] std::string targetCaution(const Target& target);
/// "low, stale, 203 days old".
[[nodiscard]] std::string confidenceText(Confidence confidence, bool stale, std::int64_t ageDays);
/// The weakest evidence of a model in words, or that no evidence was needed.
[[nodiscard]] std::string weakestEvidence(const ModelView& view);
/// The evidence that the verdict rests on, as `weakestEvidence` writes it; empty when that is the
/// weakest one, or when the verdict is Ready.
[[nodiscard]] std::string decidingEvidence(const ModelView& view);
/// What would confirm it; empty when nothing is needed.
[[nodiscard]] std::string confirmation(const ModelView& view, const Target& target);

/// The three answers a static scan does not give, as (question, why).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> openQuestions(
    const RunRecord& record);
/// Two to four commands worth running next, as (command, what for).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> nextSteps(
    const RunRecord& record, const std::vector<ModelView>& views);

/// The reason without the operator's own name in front, which stands beside it.
[[nodiscard]] std::string reasonOf(const OperatorRow& row);
/// The places of a row, each source line once: "models/net.py:12". Uses without a place give "node
/// conv2d".
[[nodiscard]] std::vector<std::string> placesOf(const OperatorRow& row);
/// "models/net.py:12: aten::add, input 1 is int64[4, 8]".
[[nodiscard]] std::string placeText(const FindingPlace& place);

}  // namespace neuroncheck::report
