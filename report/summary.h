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
  /// Rules of severity error that name some of the uses, with how many.
  std::map<std::string, std::size_t> refusedBy;
};
/// Worst claim first, then most uses, then by name.
[[nodiscard]] std::vector<OperatorRow> operatorRows(const ModelView& view);

/// All findings of the model and of its file, worst first.
[[nodiscard]] std::vector<const Finding*> findingsOf(const ModelView& view);

/// A claim that stands in the way of `ready`.
[[nodiscard]] bool standsInTheWay(Claim claim);

/// "BLOCKED", "RUNS WITH FALLBACK": the verdict as a headline.
[[nodiscard]] std::string headline(Verdict verdict);
/// The same of one model: "NO OPERATOR" for a method whose verdict does not count.
[[nodiscard]] std::string headline(const ModelView& view);
/// The verdict's word in a table: "blocked"; "no operator" for such a method.
[[nodiscard]] std::string verdictWord(const ModelView& view);
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

/// The run-time answers that are open for some use, as (question, why): all three for a static
/// scan.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> openQuestions(
    const RunRecord& record);
/// Two to four commands worth running next, as (command, what for).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> nextSteps(
    const RunRecord& record, const std::vector<ModelView>& views);

/// The reason without the operator's own name in front, which stands beside it.
[[nodiscard]] std::string reasonOf(const OperatorRow& row);
/// What would decide an open claim, as a sentence; empty when nothing is named.
[[nodiscard]] std::string decidesText(const OperatorRow& row);
/// "refused by NC254", "2 of 3 uses refused by NC254"; empty when no finding of severity error
/// names a use, or when the claim is a refusal itself.
[[nodiscard]] std::string refusedText(const OperatorRow& row);
/// Caveats of the operators that are native or decomposed, each line once.
[[nodiscard]] std::vector<std::string> nativeCaveats(const std::vector<OperatorRow>& rows);
/// "models/net.py:12", without the folder that packages are installed in. Where the file has no
/// line outside torch: torch's own, marked as such, else "node conv2d".
[[nodiscard]] std::string placeText(const OpUse& use);
/// The places of a row, each once.
[[nodiscard]] std::vector<std::string> placesOf(const OperatorRow& row);
/// The places of a finding; uses that read the same are one, with their number.
[[nodiscard]] std::vector<std::string> placesOf(const Finding& finding);
/// "models/net.py:12: aten::add, input 1 is int64[4, 8]".
[[nodiscard]] std::string placeText(const FindingPlace& place);

}  // namespace neuroncheck::report
