// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "report/tally.h"
#include "report/text.h"

namespace neuroncheck::report {
namespace {

/// Position in reports: what stops a model first, what needs nothing last.
int rankOf(Claim claim) {
  switch (claim) {
    case Claim::Unsupported:
      return 0;
    case Claim::CpuFallbackView:
      return 1;
    case Claim::Unknown:
      return 2;
    case Claim::Depends:
      return 3;
    case Claim::CpuFallback:
      return 4;
    case Claim::Decomposed:
      return 5;
    case Claim::Native:
      return 6;
    case Claim::NoDeviceWork:
      break;
  }
  return 7;
}

void addOnce(std::vector<std::string>& out, const std::string& text) {
  if (std::ranges::find(out, text) == out.end()) {
    out.push_back(text);
  }
}

void addDtypes(std::vector<std::string>& out, const OpUse& use) {
  const auto add = [&](const TensorValue& tensor) {
    addOnce(out, std::string(shortName(tensor.spec.dtype)));
  };
  for (const Argument& argument : use.args) {
    forEachTensor(argument.value, add);
  }
  if (out.empty()) {
    for (const ArgValue& output : use.outputs) {
      forEachTensor(output, add);
    }
  }
}

void addUse(OperatorRow& row, const OpUse& use, const UseClaim& claim) {
  row.uses.push_back(&use);
  addDtypes(row.dtypes, use);
  row.confidence = weakest(row.confidence, claim.confidence);
  row.stale = row.stale || claim.stale;
  row.ageDays = std::max(row.ageDays, claim.ageDays);
  row.remedy = row.remedy.empty() ? claim.remedy : row.remedy;
  row.decidedBy = row.decidedBy.empty() ? claim.decidedBy : row.decidedBy;
  for (const LeafClaim& leaf : claim.leaves) {
    const bool known = std::ranges::any_of(
        row.missing, [&](const LeafClaim& other) { return other.op == leaf.op; });
    if (standsInTheWay(leaf.claim) && !known) {
      row.missing.push_back(leaf);
    }
  }
  for (const std::string& caveat : claim.caveats) {
    addOnce(row.caveats, caveat);
  }
}

const Evidence* evidenceOf(const ModelView& view, const std::string& id) {
  const auto found = view.input->assessment.evidence.find(id);
  return found == view.input->assessment.evidence.end() ? nullptr : &found->second;
}

std::string releaseOf(const Target& target) {
  return target.release.empty() ? target.answeringRelease : target.release;
}

/// Without the folder that Python packages are installed in: it tells nothing of the model.
std::string placeText(const SourcePlace& place) {
  const std::string text = place.str();
  const std::size_t at = text.rfind("-packages/");
  return at == std::string::npos ? text : text.substr(text.find('/', at) + 1);
}

std::string defaulted(bool isDefault) { return isDefault ? " (default)" : ""; }

/// A path as a shell reads it.
std::string shellWord(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:+,=";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string::npos) {
    return path;
  }
  std::string out = "'";
  for (const char c : path) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

}  // namespace

std::vector<ModelView> modelViews(const RunRecord& record) {
  std::vector<ModelView> out;
  for (const InputResult& input : record.inputs) {
    if (input.error) {
      continue;
    }
    for (const ModelAssessment& judged : input.assessment.models) {
      if (const Model* model = modelOf(input, judged)) {
        out.push_back({&input, model, &judged, modelLabel(input, judged)});
      }
    }
  }
  return out;
}

std::vector<OperatorRow> operatorRows(const ModelView& view) {
  std::map<std::pair<int, std::string>, OperatorRow> rows;
  std::map<std::pair<int, std::string>, std::set<std::string>> reasons;
  const auto refusing = refusingRules(view);
  for (const UseClaim& claim : view.judged->uses) {
    if (claim.use >= view.model->uses.size()) {
      continue;
    }
    const OpUse& use = view.model->uses[claim.use];
    const auto key = std::pair(rankOf(claim.claim), use.op.str());
    OperatorRow& row = rows[key];
    if (row.uses.empty()) {
      row.claim = claim.claim;
      row.op = key.second;
      row.reason = claim.reason;
    }
    reasons[key].insert(claim.reason);
    row.otherReasons = reasons[key].size() - 1;
    addUse(row, use, claim);
    for (const std::string& rule : refusing[claim.use]) {
      ++row.refusedBy[rule];
    }
  }
  std::vector<OperatorRow> out;
  out.reserve(rows.size());
  for (auto& [key, row] : rows) {
    out.push_back(std::move(row));
  }
  std::ranges::stable_sort(out, [](const OperatorRow& a, const OperatorRow& b) {
    return rankOf(a.claim) != rankOf(b.claim) ? rankOf(a.claim) < rankOf(b.claim)
                                              : a.uses.size() > b.uses.size();
  });
  return out;
}

std::vector<const Finding*> findingsOf(const ModelView& view) {
  std::vector<const Finding*> out;
  for (const auto* findings : {&view.input->assessment.fileFindings, &view.judged->findings}) {
    for (const Finding& finding : *findings) {
      out.push_back(&finding);
    }
  }
  std::ranges::stable_sort(
      out, [](const Finding* a, const Finding* b) { return a->severity > b->severity; });
  return out;
}

bool standsInTheWay(Claim claim) { return verdictOf(claim, true) > Verdict::ReadyUnconfirmed; }

std::string headline(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ready:
      return "READY";
    case Verdict::ReadyUnconfirmed:
      return "READY, UNCONFIRMED";
    case Verdict::RunsWithFallback:
      return "RUNS WITH FALLBACK";
    case Verdict::Unknown:
      return "UNKNOWN";
    case Verdict::Blocked:
      break;
  }
  return "BLOCKED";
}

std::string headline(const ModelView& view) {
  return decides(*view.model, *view.judged) ? headline(view.judged->verdict) : "NO OPERATOR";
}

std::string verdictWord(const ModelView& view) {
  return decides(*view.model, *view.judged) ? std::string(name(view.judged->verdict))
                                            : "no operator";
}

namespace {

bool anyDecides(const InputResult& input) {
  return std::ranges::any_of(input.assessment.models, [&input](const ModelAssessment& judged) {
    const Model* model = modelOf(input, judged);
    return model == nullptr || decides(*model, judged);
  });
}

std::string ofWhichRefused(std::int64_t count, std::int64_t refused) {
  if (refused <= 0) {
    return "";
  }
  return refused >= count ? ", but refused by an error finding"
                          : fmt::format(", {} of them refused by an error finding", refused);
}

}  // namespace

std::vector<std::pair<std::int64_t, std::string>> verdictParts(const ModelView& view) {
  const Tally tally = tallyOf(view.judged->counts);
  const Tally errors = refusedByFindings(view);
  const bool unconfirmed = view.judged->verdict == Verdict::ReadyUnconfirmed;
  std::vector<std::pair<std::int64_t, std::string>> out;
  for (const auto& [count, errorsAmong, words] :
       {std::tuple(tally.refused, std::int64_t{0}, "refused, or would give wrong results"),
        std::tuple(tally.open, errors.open, "open: no evidence decides"),
        std::tuple(tally.fallback, errors.fallback, "computed on the CPU, through the fallback"),
        std::tuple(tally.native, errors.native,
                   unconfirmed ? "native, some on evidence that is stale or low" : "native"),
        std::tuple(tally.noWork, std::int64_t{0}, "no device work")}) {
    if (count > 0) {
      out.emplace_back(count, std::string(words) + ofWhichRefused(count, errorsAmong));
    }
  }
  return out;
}

std::size_t errorCount(const ModelView& view) {
  const auto findings = findingsOf(view);
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const Finding* finding) { return finding->severity == Severity::Error; }));
}

std::string verdictSentence(const ModelView& view, const Target& target) {
  if (!decides(*view.model, *view.judged)) {
    return anyDecides(*view.input)
               ? "The method has no operator: there is nothing to judge, and it does not count for "
                 "the verdict of the file."
               : "No method of the file has an operator: nothing was judged. Check that this is "
                 "the program you meant.";
  }
  switch (view.judged->verdict) {
    case Verdict::Ready:
      return fmt::format("By the evidence of {} all device work is native.",
                         target.answeringRelease);
    case Verdict::ReadyUnconfirmed:
      return "All device work is native, but not all of the evidence is of this release and "
             "trustworthy.";
    case Verdict::RunsWithFallback:
      return "By the evidence the model runs, parts of it on the host: each such call copies its "
             "tensors there "
             "and back.";
    case Verdict::Unknown:
      return "Nothing known refuses the model, and something in it is not known.";
    case Verdict::Blocked:
      break;
  }
  return "By the evidence the model does not run on the device as it is, or gives wrong results "
         "there.";
}

std::string targetText(const Target& target) {
  return fmt::format("{} {}{}, chip {}{}, mode {}{}", target.product, releaseOf(target),
                     defaulted(target.releaseDefaulted), target.chip,
                     defaulted(target.chipDefaulted), name(target.mode),
                     defaulted(target.modeDefaulted));
}

std::string targetCaution(const Target& target) {
  if (target.releaseKnown) {
    return "";
  }
  return fmt::format("Release {} is not in the database: {} answers, and every claim is stale.",
                     target.release, target.answeringRelease);
}

std::string confidenceText(Confidence confidence, bool stale, std::int64_t ageDays) {
  std::string out(name(confidence));
  out += stale ? ", stale" : "";
  if (ageDays >= 0) {
    out += fmt::format(", {} old", counted(static_cast<std::size_t>(ageDays), "day", "days"));
  }
  return out;
}

namespace {

std::string evidenceText(const Evidence& evidence) {
  std::string out = confidenceText(evidence.confidence, evidence.stale, -1);
  out += fmt::format(": {}, {} of {}", evidence.id, evidence.kind,
                     evidence.release.empty() ? "no release" : evidence.release);
  out += evidence.observed.empty() ? ", undated" : ", " + evidence.observed;
  out += evidence.source.empty() ? "" : " (" + evidence.source + ")";
  return out;
}

}  // namespace

std::string weakestEvidence(const ModelView& view) {
  const ModelAssessment& judged = *view.judged;
  if (const Evidence* evidence = evidenceOf(view, judged.weakestEvidence)) {
    return evidenceText(*evidence);
  }
  if (const auto open = tallyOf(judged.counts).open; open > 0) {
    return fmt::format("none: no evidence decides {}",
                       counted(static_cast<std::size_t>(open), "use", "uses"));
  }
  return fmt::format("{}{}", name(judged.weakestConfidence), judged.anyStale ? ", stale" : "");
}

std::string decidingEvidence(const ModelView& view) {
  const ModelAssessment& judged = *view.judged;
  const Evidence* evidence = evidenceOf(view, judged.decidingEvidence);
  if (evidence == nullptr || judged.verdict == Verdict::Ready ||
      judged.decidingEvidence == judged.weakestEvidence) {
    return "";
  }
  return evidenceText(*evidence);
}

std::string confirmation(const ModelView& view, const Target& target) {
  if (view.judged->verdict == Verdict::Ready || !decides(*view.model, *view.judged)) {
    return "";
  }
  return fmt::format(
      "import the vendor's operator table of {}, probe an installed backend, or run the cases on "
      "the device",
      releaseOf(target));
}

std::vector<std::pair<std::string, std::string>> nextSteps(const RunRecord& record,
                                                           const std::vector<ModelView>& views) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto blockers = blockersByWorst(record);
  const auto op =
      std::ranges::find_if(blockers, [](const Blocker& b) { return b.kind == "operator"; });
  if (op != blockers.end()) {
    out.emplace_back("neuron-check db show " + shellWord(op->what),
                     "every row about it, and what would decide");
  }
  if (worstVerdict(record) > Verdict::Ready && !views.empty()) {
    out.emplace_back(
        "neuron-check db import TABLE --release " + shellWord(releaseOf(record.target)),
        "load the vendor's operator table, or your own measurements");
  }
  // The same question again: what the user chose is chosen again, defaults stay defaults.
  const Target& target = record.target;
  const std::string release =
      (target.releaseDefaulted ? "" : "--release " + shellWord(releaseOf(target)) + " ") +
      (target.chipDefaulted ? "" : "--chip " + shellWord(target.chip) + " ");
  const std::string mode = target.modeDefaulted ? "" : fmt::format("--mode {} ", name(target.mode));
  const auto worstView = std::ranges::max_element(
      views,
      [](const ModelView& a, const ModelView& b) { return a.judged->verdict < b.judged->verdict; });
  if (worstView != views.end()) {
    const std::string path = shellWord(worstView->input->inventory.path);
    if (record.inputs.size() > 1) {
      out.emplace_back("neuron-check " + release + mode + path, "the full report of one model");
    } else {
      out.emplace_back("neuron-check -v " + release + mode + path, "every place and every use");
    }
    if (target.mode == ExecutionMode::Eager) {
      out.emplace_back("neuron-check " + release + "--mode compile " + path,
                       "eager evidence says nothing of torch.compile");
    }
  }
  return out;
}

std::string reasonOf(const OperatorRow& row) {
  const bool named = row.reason.starts_with(row.op + " ");
  return named ? row.reason.substr(row.op.size() + 1) : row.reason;
}

std::string decidesText(const OperatorRow& row) {
  if (row.decidedBy.empty()) {
    return "";
  }
  // The word for arguments of which the catalogue does not say which one decides.
  if (row.decidedBy == "arguments") {
    return "an argument; the catalogue does not say which";
  }
  return (row.decidedBy == "chip" ? "the " : "argument ") + row.decidedBy;
}

std::string refusedText(const OperatorRow& row) {
  if (row.claim == Claim::Unsupported || row.claim == Claim::CpuFallbackView) {
    return "";  // its claim says so already
  }
  std::string all;
  std::string some;
  for (const auto& [rule, uses] : row.refusedBy) {
    if (uses >= row.uses.size()) {
      all += (all.empty() ? "refused by " : " and ") + rule;
    } else {
      some += fmt::format("{}{} of {} uses refused by {}", some.empty() ? "" : ", ", uses,
                          row.uses.size(), rule);
    }
  }
  return all + (all.empty() || some.empty() ? "" : ", ") + some;
}

std::vector<std::string> nativeCaveats(const std::vector<OperatorRow>& rows) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const OperatorRow& row : rows) {
    if (row.claim != Claim::Native && row.claim != Claim::Decomposed) {
      continue;
    }
    for (const std::string& caveat : row.caveats) {
      const bool named = caveat.starts_with(row.op + ": ") || caveat.starts_with(row.op + " ");
      if (std::string line = named ? caveat : row.op + ": " + caveat; seen.insert(line).second) {
        out.push_back(std::move(line));
      }
    }
  }
  return out;
}

std::string placeText(const OpUse& use) {
  if (use.source.known()) {
    return placeText(use.source);
  }
  return use.lastFrame.known() ? placeText(use.lastFrame) + " (torch's own file)"
                               : "node " + use.node;
}

std::vector<std::string> placesOf(const OperatorRow& row) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const OpUse* use : row.uses) {
    std::string place = placeText(*use);
    if (seen.insert(place).second) {
      out.push_back(std::move(place));
    }
  }
  return out;
}

std::vector<std::string> placesOf(const Finding& finding) {
  std::vector<std::pair<std::string, std::size_t>> places;
  std::map<std::string, std::size_t> known;
  for (const FindingPlace& place : finding.places) {
    const auto [found, isNew] = known.try_emplace(placeText(place), places.size());
    if (isNew) {
      places.emplace_back(found->first, 0);
    }
    ++places[found->second].second;
  }
  std::vector<std::string> out;
  out.reserve(places.size());
  for (const auto& [text, uses] : places) {
    out.push_back(uses == 1 ? text : fmt::format("{} ({} uses)", text, uses));
  }
  return out;
}

std::string placeText(const FindingPlace& place) {
  std::string out = place.source.known() ? placeText(place.source)
                                         : (place.node.empty() ? "" : "node " + place.node);
  if (!place.op.empty()) {
    out += (out.empty() ? "" : ": ") + place.op;
  }
  if (!place.detail.empty()) {
    out += (out.empty() ? "" : ", ") + place.detail;
  }
  return out;
}

}  // namespace neuroncheck::report
