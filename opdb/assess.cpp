// SPDX-License-Identifier: Apache-2.0
#include "opdb/assess.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/case_spec.h"
#include "opdb/autocast.h"
#include "opdb/claims.h"
#include "opdb/layouts.h"
#include "opdb/lookup.h"
#include "opdb/rules.h"
#include "opdb/script.h"
#include "opdb/trace_plan.h"

namespace neuroncheck::opdb {
namespace {

constexpr auto kChips = std::to_array<std::string_view>({"trn1", "trn2", "trn3"});

std::string listReleases(const std::vector<Release>& releases) {
  std::vector<std::string> names;
  names.reserve(releases.size());
  for (const Release& release : releases) {
    names.push_back(release.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The release whose name, or else the newest whose SDK, has the wanted numbers.
const Release* knownRelease(const std::vector<Release>& releases, const std::string& wanted,
                            const VersionNumbers& version) {
  for (const Release& release : releases) {
    if (release.name == wanted || VersionNumbers::parse(release.name) == version) {
      return &release;
    }
  }
  const Release* found = nullptr;
  for (const Release& release : releases) {
    if (!release.sdk.empty() &&
        (release.sdk == wanted || VersionNumbers::parse(release.sdk) == version)) {
      found = &release;
    }
  }
  return found;
}

/// The newest release that is not newer than `version`. Numbers above every name and not below the
/// oldest SDK are an SDK's.
const Release& nearestOlder(const std::vector<Release>& releases, const VersionNumbers& version) {
  const auto newest = [&](std::string Release::* member) -> const Release* {
    const Release* best = nullptr;
    for (const Release& release : releases) {
      const auto numbers = VersionNumbers::parse(release.*member);
      if (numbers && *numbers <= version) {
        best = &release;
      }
    }
    return best;
  };
  const auto olderThanWanted = [&](const Release& release) {
    const auto numbers = VersionNumbers::parse(release.name);
    return numbers && *numbers < version;
  };
  const Release* bySdk =
      std::ranges::all_of(releases, olderThanWanted) ? newest(&Release::sdk) : nullptr;
  const Release* byName = newest(&Release::name);
  if (bySdk != nullptr) {
    return *bySdk;
  }
  return byName != nullptr ? *byName : releases.front();
}

/// What the target itself leaves unsettled.
std::vector<NotChecked> targetNotes(const Target& target, const Database& database) {
  std::vector<NotChecked> notes;
  if (!database.damage().empty()) {
    notes.push_back({.what = "rows of the operator database",
                     .why = database.damage(),
                     .how = "install the database again"});
  }
  if (target.releaseKnown) {
    return notes;
  }
  const auto wanted = VersionNumbers::parse(target.release);
  const auto answering = VersionNumbers::parse(target.answeringRelease);
  const std::vector<Release> releases = database.releases(target.product);
  const bool tooOld = wanted && answering && *wanted < *answering &&
                      target.answeringRelease == releases.front().name;
  notes.push_back(
      {.what = fmt::format("{} {} itself", target.product, target.release),
       .why =
           tooOld
               ? fmt::format("it is older than every release of the database: the oldest, {}, "
                             "answers, which may support more",
                             target.answeringRelease)
               : fmt::format("the database has no rows of it: {} answers, and every claim is stale",
                             target.answeringRelease),
       .how = "import that release's operator table or a probe of a device (db import)"});
  return notes;
}

/// An operator given to a higher-order operator as an argument.
OpUse referredUse(const HigherOrderUse& outer, const OperatorRef& reference) {
  std::optional<OpName> op = OpName::fromExportTarget(reference.target);
  op = op ? op : OpName::parse(reference.target);
  if (!op) {
    op = OpName{.ns = "python",
                .base = reference.target.empty() ? "(no name)" : reference.target,
                .overload = {}};
  }
  if (op->overload == "default") {
    op->overload.clear();
  }
  OpUse use;
  use.op = *std::move(op);
  use.node = outer.node;
  use.graph = outer.graph;
  use.source = outer.source;
  return use;
}

/// Operators that run although no node calls them: those that a higher-order operator is given as
/// an argument, and the copy with which torch writes a mutated buffer or input back after a
/// functional graph.
std::vector<OpUse> hiddenUses(const Model& model) {
  std::vector<OpUse> hidden;
  for (const HigherOrderUse& outer : model.higherOrder) {
    for (const Argument& argument : outer.args) {
      const auto* reference = std::get_if<OperatorRef>(&argument.value);
      if (reference != nullptr) {
        hidden.push_back(referredUse(outer, *reference));
      }
    }
  }
  for (const GraphOutput& output : model.outputs) {
    if (output.kind.ends_with("_MUTATION")) {
      OpUse use;
      use.op = OpName{.ns = "aten", .base = "copy_", .overload = {}};
      use.node = "the write to " + output.target;
      use.args = {{.name = "self", .value = output.value, .isDefault = false},
                  {.name = "src", .value = output.value, .isDefault = false}};
      hidden.push_back(std::move(use));
    }
  }
  return hidden;
}

/// Stale evidence and that of low confidence confirm nothing.
Verdict verdictOfClaim(const UseClaim& claim) {
  const bool confirmed = !claim.stale && (claim.confidence == Confidence::High ||
                                          claim.confidence == Confidence::Medium);
  return verdictOf(claim.claim, confirmed);
}

/// Orders claims by how little they can be trusted, the least last.
auto weakness(const UseClaim& claim) {
  return std::tuple(static_cast<int>(claim.confidence), claim.stale, claim.ageDays);
}

/// Orders claims by what they do to the verdict, the one that makes it last.
auto weight(const UseClaim& claim) {
  return std::tuple(static_cast<int>(verdictOfClaim(claim)), weakness(claim));
}

/// The evidence of a claim that made it as weak as it is; the id of the first one as weak as the
/// claim.
std::string weakestOf(const UseClaim& claim, const std::map<std::string, Evidence>& evidence) {
  for (const std::string& id : claim.evidence) {
    const auto found = evidence.find(id);
    if (found != evidence.end() && found->second.confidence == claim.confidence) {
      return id;
    }
  }
  return claim.evidence.empty() ? std::string() : claim.evidence.front();
}

/// What the verdict and the trust in it rest on.
void nameEvidence(ModelAssessment& assessment, const std::map<std::string, Evidence>& evidence) {
  const UseClaim* weakest = nullptr;
  const UseClaim* deciding = nullptr;
  for (const UseClaim& claim : assessment.uses) {
    if (claim.claim == Claim::NoDeviceWork) {
      continue;
    }
    weakest = weakest == nullptr || weakness(*weakest) < weakness(claim) ? &claim : weakest;
    deciding = deciding == nullptr || weight(*deciding) < weight(claim) ? &claim : deciding;
  }
  if (weakest != nullptr && weakest->confidence != Confidence::None) {
    assessment.weakestEvidence = weakestOf(*weakest, evidence);
  }
  if (deciding != nullptr && verdictOfClaim(*deciding) == assessment.verdict) {
    if (deciding->confidence != Confidence::None) {
      assessment.decidingEvidence = weakestOf(*deciding, evidence);
    }
    return;
  }
  for (const Finding& finding : assessment.findings) {
    if (verdictOf(finding.severity) == assessment.verdict && !finding.evidence.empty()) {
      assessment.decidingEvidence = finding.evidence.front();
      return;
    }
  }
}

void takeClaim(ModelAssessment& assessment, const UseClaim& claim) {
  assessment.verdict = worst(assessment.verdict, verdictOfClaim(claim));
  assessment.weakestConfidence = weakest(assessment.weakestConfidence, claim.confidence);
  assessment.anyStale = assessment.anyStale || claim.stale;
}

/// An operator inside a higher-order one has no use of its own: it lowers the verdict and is
/// listed.
void takeHidden(ModelAssessment& assessment, const OpUse& use, const UseClaim& claim) {
  takeClaim(assessment, claim);
  if (verdictOfClaim(claim) == Verdict::Ready) {
    return;
  }
  assessment.notChecked.push_back(
      {.what = fmt::format("{} inside {}{}", use.op.str(), use.graph.empty() ? "" : use.graph + "/",
                           use.node),
       .why = claim.reason,
       .how = claim.remedy});
}

/// The first operand or result that is no strided tensor: rows speak of strided ones.
std::optional<std::string> otherLayout(const OpUse& use) {
  std::optional<std::string> found;
  const auto look = [&found](std::string_view what, const ArgValue& value) {
    forEachTensor(value, [&](const TensorValue& tensor) {
      if (!found && tensor.spec.layout != Layout::Strided) {
        found = fmt::format("{} has layout {}", what, name(tensor.spec.layout));
      }
    });
  };
  for (const Argument& argument : use.args) {
    look(argument.name.empty() ? "an operand" : argument.name, argument.value);
  }
  for (const ArgValue& output : use.outputs) {
    look("the result", output);
  }
  return found;
}

/// No row says what a use does with tensors that are not strided: what it says of strided ones
/// never makes it ready.
void doubtLayout(UseClaim& claim, const OpUse& use) {
  const bool ready = verdictOf(claim.claim, true) == Verdict::Ready;
  const auto other = ready ? otherLayout(use) : std::nullopt;
  if (!other) {
    return;
  }
  claim.claim = Claim::Unknown;
  claim.confidence = Confidence::None;
  claim.reason = fmt::format("{}: {}, and no row speaks of it.", use.op.str(), *other);
  claim.remedy = "Convert the tensor to a strided one before this operator.";
}

/// The claim of a use as the device gets it: operands cast by autocast, without the strides that
/// the kernels of the exporting device chose. The cases stay those of the graph.
UseClaim claimOnDevice(const OpUse& use, const std::vector<AutocastRegion>& regions,
                       const Layouts& layouts, ClaimEngine& engine) {
  const std::optional<OpUse> laidOut = layouts.withoutForeign(use);
  const std::optional<OpUse> cast = asAutocastRunsIt(laidOut ? *laidOut : use, regions);
  if (!laidOut && !cast) {
    return engine.claim(use);
  }
  UseClaim claim = engine.claim(cast ? *cast : *laidOut);
  if (cast) {
    claim.caveats.emplace_back(
        "judged with the operands' dtypes after autocast, which the graph does not show");
  }
  if (laidOut && claim.claim == Claim::Depends && use.arg(claim.decidedBy) != nullptr) {
    claim.reason += fmt::format(
        " The strides of {} in the file are a choice of the kernels that made it; the device may "
        "choose others.",
        claim.decidedBy);
  }
  claim.caseIds.clear();
  if (const auto spec = caseOf(use)) {
    claim.caseIds.push_back(spec->id());
  }
  return claim;
}

/// A higher-order operator has no claim: one that nothing is known of leaves the model unknown,
/// whatever the severity of the finding that names it.
void doubtHigherOrder(ModelAssessment& assessment, const Finding& finding) {
  if (finding.rule != "NC209") {
    return;
  }
  assessment.verdict = worst(assessment.verdict, Verdict::Unknown);
  for (const FindingPlace& place : finding.places) {
    assessment.notChecked.push_back({.what = fmt::format("higher-order operator {}", place.op),
                                     .why = finding.message,
                                     .how = finding.remedy});
  }
}

NotChecked nothingToJudge(const Model& model) {
  if (model.operatorFree) {
    return {.what = "the method", .why = "it has no operator to judge", .how = {}};
  }
  return {.what = "the model",
          .why = "no operator was found to judge",
          .how = model.dialect == "none" ? "export the program that uses these tensors"
                                         : "check that this is the program you meant to export"};
}

ModelAssessment assessModel(const Model& model, const Target& target, const Database& database,
                            std::string_view today, ClaimEngine& engine,
                            std::map<std::string, Evidence>& evidence, const ModelTrace* trace) {
  ModelAssessment assessment;
  assessment.model = model.name;
  assessment.verdict = Verdict::Ready;
  assessment.uses.reserve(model.uses.size());
  const std::vector<AutocastRegion> regions = autocastRegions(model);
  const Layouts layouts(model, database);
  for (const OpUse& use : model.uses) {
    const TracedCase* traced = trace == nullptr ? nullptr : trace->of(use.id);
    if (model.approximate) {
      assessment.uses.push_back(claimOfName(use, database, engine));
    } else if (traced != nullptr && traced->notTraced.empty()) {
      assessment.uses.push_back(engine.claim(use, *traced));
    } else {
      assessment.uses.push_back(claimOnDevice(use, regions, layouts, engine));
    }
    doubtLayout(assessment.uses.back(), use);
    const UseClaim& claim = assessment.uses.back();
    ++assessment.counts[claim.claim];
    takeClaim(assessment, claim);
  }
  assessment.notChecked = targetNotes(target, database);  // first: they concern every answer
  std::ranges::move(openInScript(model), std::back_inserter(assessment.notChecked));
  if (trace != nullptr) {
    std::ranges::move(openInTrace(model, *trace), std::back_inserter(assessment.notChecked));
  }
  if (isPartlyRead(model)) {
    assessment.verdict = worst(assessment.verdict, Verdict::Unknown);
  }
  const std::vector<OpUse> hidden = hiddenUses(model);
  for (const OpUse& use : hidden) {
    takeHidden(assessment, use, engine.claim(use));
  }
  if (model.uses.empty() && hidden.empty()) {
    // Nothing was judged, so nothing may look ready.
    assessment.verdict = Verdict::Unknown;
    assessment.weakestConfidence = Confidence::None;
    assessment.notChecked.push_back(nothingToJudge(model));
  }
  RuleResults rules = runRules(model, assessment.uses, target, database, today);
  for (const Finding& finding : rules.findings) {
    assessment.verdict = worst(assessment.verdict, verdictOf(finding.severity));
    doubtHigherOrder(assessment, finding);
  }
  assessment.findings = std::move(rules.findings);
  std::ranges::move(rules.notChecked, std::back_inserter(assessment.notChecked));
  evidence.merge(rules.evidence);
  nameEvidence(assessment, engine.evidence());
  return assessment;
}

}  // namespace

Result<Target> resolveTarget(const Database& database, Target wanted) {
  if (std::ranges::find(kChips, wanted.chip) == kChips.end()) {
    return fail(ErrorCode::Usage,
                fmt::format("unknown chip '{}': one of {}", wanted.chip, fmt::join(kChips, ", ")));
  }
  const std::vector<Release> releases = database.releases(wanted.product);
  if (releases.empty()) {
    return fail(ErrorCode::Usage, fmt::format("the operator database {} has no release of '{}'",
                                              database.path(), wanted.product));
  }
  if (wanted.release.empty()) {
    wanted.release = wanted.answeringRelease = releases.back().name;
    wanted.releaseDefaulted = true;
    wanted.releaseKnown = true;
    return wanted;
  }
  const auto version = VersionNumbers::parse(wanted.release);
  if (!version) {
    return fail(ErrorCode::Usage,
                fmt::format("'{}' is no release of {}: the database has {}", wanted.release,
                            wanted.product, listReleases(releases)));
  }
  const Release* known = knownRelease(releases, wanted.release, *version);
  wanted.releaseDefaulted = false;
  wanted.releaseKnown = known != nullptr;
  wanted.answeringRelease = known != nullptr ? known->name : nearestOlder(releases, *version).name;
  return wanted;
}

Assessment assess(const Inventory& inventory, const Target& target, const Database& database,
                  std::string_view today, const std::vector<ModelTrace>& traces) {
  Assessment assessment;
  assessment.target = target;
  ClaimEngine engine(database, target, std::string(today));
  for (std::size_t i = 0; i < inventory.models.size(); ++i) {
    assessment.models.push_back(assessModel(inventory.models[i], target, database, today, engine,
                                            assessment.evidence,
                                            i < traces.size() ? &traces[i] : nullptr));
  }
  for (const auto& [id, evidence] : engine.evidence()) {
    assessment.evidence.emplace(id, evidence);
  }
  assessment.fileFindings = fileFindings(inventory);
  bool any = false;
  assessment.verdict = Verdict::Ready;
  for (std::size_t i = 0; i < assessment.models.size(); ++i) {
    if (decides(inventory.models[i], assessment.models[i])) {
      any = true;
      assessment.verdict = worst(assessment.verdict, assessment.models[i].verdict);
    }
  }
  if (!any) {
    assessment.verdict = Verdict::Unknown;
  }
  for (const Finding& finding : assessment.fileFindings) {
    assessment.verdict = worst(assessment.verdict, verdictOf(finding.severity));
    for (ModelAssessment& model : assessment.models) {
      model.verdict = worst(model.verdict, verdictOf(finding.severity));
    }
  }
  return assessment;
}

}  // namespace neuroncheck::opdb
