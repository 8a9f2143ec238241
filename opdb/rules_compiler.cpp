// SPDX-License-Identifier: Apache-2.0
// Which rules of the vendor's compiler answer, and how hard.
#include "opdb/rules_compiler.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace neuroncheck::opdb {
namespace {

/// Codes whose refusal can be turned into a lossy computation, so that they never block by
/// themselves.
bool isLossy(std::string_view code) {
  constexpr std::array<std::string_view, 4> kLossy{"NCC_EVRF060", "NCC_EVRF061", "NCC_EVRF062",
                                                   "NCC_EVRF063"};
  return std::ranges::find(kLossy, code) != kLossy.end();
}

/// What to do about one operator where the rule's own remedy does not fit it; empty where it does.
std::string_view ownRemedy(std::string_view code, std::string_view op) {
  if (code == "NCC_EVRF029" && op.find("topk") != std::string_view::npos) {
    return "Users saw top-k refused, because it becomes a sort: try it on the device. If it is "
           "refused, use max or argmax (once for each value of a small k), or compute this part on "
           "the CPU on purpose.";
  }
  return {};
}

bool decomposesComplex(const Release* release) {
  // From torch 2.13 torch.compile may rewrite complex numbers before lowering.
  if (release == nullptr) {
    return false;
  }
  const std::string& torch = release->torch;
  int major = 0;
  int minor = 0;
  const char* const end = torch.data() + torch.size();
  const auto [dot, bad] = std::from_chars(torch.data(), end, major);
  if (bad != std::errc{} || dot == end || *dot != '.' ||
      std::from_chars(dot + 1, end, minor).ec != std::errc{}) {
    return false;
  }
  return major > 2 || (major == 2 && minor >= 13);
}

}  // namespace

const Release* CompilerRules::compilerRelease(const CompilerRule& row) const {
  const auto& all = run_.data().compilers;
  const auto found = std::ranges::find_if(all, [&row](const Release& release) {
    return release.product == row.product && release.name == row.release;
  });
  return found == all.end() ? nullptr : &*found;
}

std::optional<RowStanding> CompilerRules::standing(const CompilerRule& row) const {
  const Release* target = run_.release();
  const std::string compiler = target == nullptr ? std::string() : target->compiler;
  const std::size_t blank = compiler.rfind(' ');
  if (blank == std::string::npos) {
    // The release does not say which compiler it uses: shown, never more than a warning.
    return RowStanding::Later;
  }
  if (compiler.substr(0, blank) != row.product) {
    return std::nullopt;
  }
  const std::string wanted = compiler.substr(blank + 1);
  if (row.release == wanted) {
    return run_.target().releaseKnown ? RowStanding::Current : RowStanding::Stale;
  }
  const auto& all = run_.data().compilers;
  const auto own = std::ranges::find_if(all, [&](const Release& release) {
    return release.product == row.product && release.name == wanted;
  });
  const Release* other = compilerRelease(row);
  const bool later = own != all.end() && other != nullptr && other->order > own->order;
  return later ? RowStanding::Later : RowStanding::Stale;
}

void CompilerRules::select() {
  // Of each code the rows of one release answer: the compiler's own, else the nearest older, else
  // the nearest newer.
  std::map<std::string, std::pair<int, std::int64_t>> best;
  const auto rankOf =
      [this](const CompilerRule& row) -> std::optional<std::pair<int, std::int64_t>> {
    const std::optional<RowStanding> how = standing(row);
    if (!how) {
      return std::nullopt;
    }
    const Release* release = compilerRelease(row);
    const std::int64_t order = release == nullptr ? 0 : release->order;
    return std::pair(static_cast<int>(*how), *how == RowStanding::Later ? order : -order);
  };
  for (const CompilerRule& row : run_.data().rules) {
    if (const auto rank = rankOf(row)) {
      const auto [found, isNew] = best.try_emplace(row.code, *rank);
      found->second = isNew ? *rank : std::min(found->second, *rank);
    }
  }
  for (const CompilerRule& row : run_.data().rules) {
    const auto rank = rankOf(row);
    const bool mode = row.mode.empty() || row.mode == "any" || row.mode == name(run_.target().mode);
    if (rank && mode && *rank == best.at(row.code)) {
      activate(row);
    }
  }
}

void CompilerRules::activate(const CompilerRule& row) {
  const std::string what = fmt::format("{}: {}", row.code, row.title);
  if (!row.machineCheckable || row.targets.empty()) {
    run_.undecidable(what, row.note.empty() ? "no graph decides it" : row.note,
                     "compile the model with the vendor's compiler");
    return;
  }
  const RuleInfo* info = ruleOfCode(row.code);
  if (info != nullptr && info->id == "NC301") {
    return;  // rules_shape.cpp says it once per symbol instead of once per use
  }
  auto predicate = Predicate::parse(row.predicate.empty() ? "true" : row.predicate);
  if (!predicate) {
    run_.undecidable(what, "its condition cannot be read: " + predicate.error().message,
                     "correct the row of the database");
    return;
  }
  const ActiveRule rule{
      .row = &row, .predicate = *std::move(predicate), .standing = standing(row).value()};
  for (const std::string& target : row.targets) {
    if (target == "*") {
      everywhere_.push_back(rule);
    } else if (row.scope == RowScope::Packet) {
      byPacket_[target].push_back(rule);
    } else {
      byOverload_[target].push_back(rule);
    }
  }
}

std::vector<const ActiveRule*> CompilerRules::rulesFor(const OpName& op) const {
  std::vector<const ActiveRule*> out;
  const auto add = [&out](const auto& map, const std::string& key) {
    if (const auto found = map.find(key); found != map.end()) {
      for (const ActiveRule& rule : found->second) {
        out.push_back(&rule);
      }
    }
  };
  add(byOverload_, op.str());
  add(byPacket_, op.packet());
  const std::string functional = fmt::format("{}::{}", op.ns, functionalBase(op.base));
  if (functional != op.packet()) {
    add(byPacket_, functional);
  }
  return out;
}

Truth CompilerRules::truthFor(std::size_t index, std::bitset<kDTypeCount + 1> types,
                              bool symbolic) {
  // Rules on every operator read only element types, symbolic sizes and the chip, so equal sets of
  // types share an answer.
  const auto key = std::pair(index, types.to_string() + (symbolic ? "s" : ""));
  if (const auto known = truths_.find(key); known != truths_.end()) {
    return known->second;
  }
  PredicateContext context;
  context.chip = run_.target().chip;
  context.results = std::vector<TensorFacts>{};
  ArgumentFacts operands;
  operands.isNone = false;
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    if (types.test(i)) {
      TensorFacts facts;
      if (static_cast<DType>(i) != DType::Unknown) {
        facts.dtype = static_cast<DType>(i);
      }
      facts.rank = 1;
      facts.sizes = std::vector<SymInt>{SymInt(1)};
      if (symbolic) {
        facts.sizes = std::vector<SymInt>{SymInt(SymExpr::makeSymbol("s0"))};
      }
      operands.tensors.push_back(std::move(facts));
    }
  }
  context.arguments.emplace("operands", std::move(operands));
  const Truth truth = everywhere_[index].predicate.evaluate(context).truth;
  truths_.emplace(key, truth);
  return truth;
}

Severity CompilerRules::severityOfHit(const ActiveRule& rule, const UseClaim* claim) const {
  Severity severity = Severity::Error;
  if (isLossy(rule.row->code) || rule.row->confidence == Confidence::Low ||
      rule.row->confidence == Confidence::None) {
    severity = Severity::Warning;
  }
  if (rule.row->code == "NCC_EVRF004" && !run_.eager() && decomposesComplex(run_.release())) {
    severity = Severity::Warning;
  }
  const bool onCpu = claim != nullptr &&
                     (claim->claim == Claim::CpuFallback || claim->claim == Claim::CpuFallbackView);
  if (run_.eager() && onCpu) {
    severity = Severity::Note;  // the compiler is never asked
  }
  return capped(severity, rule.standing);
}

void CompilerRules::hit(const ActiveRule& rule, FindingPlace place, Severity severity,
                        std::string_view op) {
  const CompilerRule& row = *rule.row;
  const RuleInfo* info = ruleOfCode(row.code);
  const std::string_view id = info == nullptr ? std::string_view("NC299") : info->id;
  // Uses that are refused never share a finding, and so a headline, with those that are not.
  const std::string_view own = ownRemedy(row.code, op);
  const std::string key = fmt::format("{} {} {}", info == nullptr ? row.code : std::string(),
                                      static_cast<int>(severity), own);
  const bool isNew = !run_.has(id, key);
  Finding& finding = run_.finding(id, key);
  if (isNew) {
    finding.code = row.code;
    finding.severity = severity;
    const bool hearsay = row.confidence == Confidence::Low || row.confidence == Confidence::None;
    finding.message =
        fmt::format("{} {} this: {} ({}).", row.product,
                    hearsay ? "is reported to refuse" : "refuses", row.title, row.code);
    if (!row.note.empty() && row.note != "as above") {
      finding.message += fmt::format(" Note: {}.", row.note);
    }
    if (op.empty()) {
      finding.message += " Here it only enters the graph: what is done with it decides.";
    }
    finding.remedy = own.empty() ? finding.remedy : own;
    if (severity == Severity::Note) {
      finding.message += " These uses are computed on the CPU, where the compiler never sees them.";
      finding.remedy = "Nothing as long as they stay on the CPU. For the device: " + finding.remedy;
    }
    finding.evidence.push_back(
        run_.addEvidence(Evidence{.id = "rule:" + row.code,
                                  .kind = row.evidence,
                                  .source = row.source,
                                  .product = row.product,
                                  .release = row.release,
                                  .observed = {},
                                  .confidence = row.confidence,
                                  .stale = rule.standing != RowStanding::Current,
                                  .status = "unsupported",
                                  .note = row.title}));
  }
  finding.places.push_back(std::move(place));
}

void runCompilerRules(RuleRun& run) { CompilerRules(run).apply(); }

}  // namespace neuroncheck::opdb
