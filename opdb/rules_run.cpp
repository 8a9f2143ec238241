// SPDX-License-Identifier: Apache-2.0
#include "opdb/rules_run.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

namespace neuroncheck::opdb {
namespace {

const Release* releaseNamed(const std::vector<Release>& releases, std::string_view name) {
  const auto found =
      std::ranges::find_if(releases, [name](const Release& r) { return r.name == name; });
  return found == releases.end() ? nullptr : &*found;
}

bool speaksOf(std::string_view rowMode, ExecutionMode mode) {
  return rowMode.empty() || rowMode == "any" || rowMode == name(mode);
}

// Smaller answers first: the target's own release, then the newest older one, then the oldest newer
// one.
std::pair<int, std::int64_t> rank(RowStanding standing, std::int64_t order) {
  switch (standing) {
    case RowStanding::Current:
      return {0, -order};
    case RowStanding::Stale:
      return {1, -order};
    case RowStanding::Later:
      break;
  }
  return {2, order};
}

void cut(std::string& text, std::size_t limit) {
  if (text.size() <= limit) {
    return;
  }
  std::size_t end = limit;
  // Never within a UTF-8 character: names in files may hold any text.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  text.resize(end);
  text += "...";
}

constexpr std::string_view kTorchsOwn = "torch's own file";

std::string withMark(std::string detail, std::string_view mark) {
  detail += detail.empty() ? "" : ", ";
  return detail.append(mark);
}

/// Without the folder that Python packages are installed in.
SourcePlace withoutFolder(SourcePlace place) {
  if (const std::size_t at = place.file.rfind("-packages/"); at != std::string::npos) {
    place.file.erase(0, place.file.find('/', at) + 1);
  }
  return place;
}

}  // namespace

RuleRun::RuleRun(const Model& model, const std::vector<UseClaim>& claims, const Target& target,
                 const RuleData& data)
    : model_(model),
      claims_(claims),
      target_(target),
      data_(data),
      release_(releaseNamed(data.releases, target.answeringRelease)) {}

const UseClaim* RuleRun::claim(const OpUse& use) const {
  if (use.id < claims_.size() && claims_[use.id].use == use.id) {
    return &claims_[use.id];
  }
  return nullptr;
}

const OpInfo* RuleRun::info(const OpUse& use) const {
  if (data_.schemas == nullptr) {
    return nullptr;
  }
  const std::string key = use.op.str();
  if (const auto known = infos_.find(key); known != infos_.end()) {
    return known->second;
  }
  return infos_[key] = data_.schemas->find(use.op);
}

RowStanding RuleRun::standing(std::string_view release) const {
  const bool known = target_.releaseKnown && release_ != nullptr;
  if (release.empty()) {
    return RowStanding::Current;
  }
  const Release* row = releaseNamed(data_.releases, release);
  if (row == nullptr || release_ == nullptr) {
    return RowStanding::Stale;
  }
  const bool sameSdk = !row->sdk.empty() && row->sdk == release_->sdk;
  if (row == release_ || sameSdk) {
    return known ? RowStanding::Current : RowStanding::Stale;
  }
  return row->order > release_->order ? RowStanding::Later : RowStanding::Stale;
}

std::optional<FeatureAnswer> RuleRun::feature(std::string_view id) {
  const FeatureRow* best = nullptr;
  std::pair<int, std::int64_t> bestRank;
  for (const FeatureRow& row : data_.features) {
    if (row.id != id || !speaksOf(row.mode, target_.mode)) {
      continue;
    }
    const Release* release = releaseNamed(data_.releases, row.release);
    const auto now = rank(standing(row.release), release == nullptr ? 0 : release->order);
    if (best == nullptr || now < bestRank) {
      best = &row;
      bestRank = now;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  FeatureAnswer answer{.row = best, .standing = standing(best->release), .evidence = {}};
  answer.evidence = addEvidence(Evidence{.id = fmt::format("feature:{}", id),
                                         .kind = best->evidence,
                                         .source = best->source,
                                         .product = target_.product,
                                         .release = best->release,
                                         .observed = best->observed,
                                         .confidence = best->confidence,
                                         .stale = answer.standing != RowStanding::Current,
                                         .status = std::string(name(best->status)),
                                         .note = best->message});
  return answer;
}

std::string RuleRun::evidence(std::string_view rule) {
  const BuiltInEvidence* known = builtInEvidence(rule);
  NEURONCHECK_CHECK(known != nullptr, "a rule without a row needs evidence of its own");
  return addEvidence(Evidence{.id = fmt::format("built-in:{}", rule),
                              .kind = std::string(known->kind),
                              .source = std::string(known->source),
                              .product = known->release.empty() ? "" : target_.product,
                              .release = std::string(known->release),
                              .observed = std::string(known->observed),
                              .confidence = known->confidence,
                              .stale = standing(known->release) != RowStanding::Current,
                              .status = {},
                              .note = std::string(ruleInfo(rule).title)});
}

std::string RuleRun::addEvidence(Evidence evidence) {
  std::string id = evidence.id;
  evidence_.insert_or_assign(id, std::move(evidence));
  return id;
}

Finding& RuleRun::finding(std::string_view rule, std::string_view key) {
  const auto [found, isNew] = findings_.try_emplace({std::string(rule), std::string(key)});
  Finding& finding = found->second;
  if (isNew) {
    const RuleInfo& info = ruleInfo(rule);
    finding.rule = info.id;
    finding.code = info.code;
    finding.severity = info.severity;
    finding.title = info.title;
    finding.remedy = info.remedy;
    if (builtInEvidence(rule) != nullptr) {
      finding.evidence.push_back(evidence(rule));
    }
  }
  return finding;
}

bool RuleRun::has(std::string_view rule, std::string_view key) const {
  return findings_.contains({std::string(rule), std::string(key)});
}

FindingPlace RuleRun::place(const OpUse& use, std::string detail) const {
  cut(detail, kMaxDetail);
  if (!use.source.known() && use.lastFrame.known()) {
    detail = withMark(std::move(detail), kTorchsOwn);
  }
  return {.model = model_.name,
          .node = use.node,
          .op = use.op.str(),
          .source = use.source.known() ? use.source : withoutFolder(use.lastFrame),
          .detail = std::move(detail)};
}

const SourcePlace* RuleRun::firstPlaceInside(const HigherOrderUse& use) {
  if (!firstPlaces_) {
    firstPlaces_.emplace();
    for (const OpUse& inner : model_.uses) {
      // Of a graph that is known already, all outer ones are known too.
      std::string graph = inner.source.known() ? inner.graph : std::string();
      while (!graph.empty() && firstPlaces_->try_emplace(graph, &inner.source).second) {
        graph.resize(graph.rfind('/') == std::string::npos ? 0 : graph.rfind('/'));
      }
    }
  }
  for (const Argument& argument : use.args) {
    const auto* graph = std::get_if<GraphRef>(&argument.value);
    const auto found = graph == nullptr ? firstPlaces_->end() : firstPlaces_->find(graph->path);
    if (found != firstPlaces_->end()) {
      return found->second;
    }
  }
  return nullptr;
}

FindingPlace RuleRun::place(const HigherOrderUse& use, std::string detail) {
  cut(detail, kMaxDetail);
  const SourcePlace* inside = use.source.known() ? nullptr : firstPlaceInside(use);
  if (inside != nullptr) {
    detail = withMark(std::move(detail), "the line of the first operator inside");
  }
  return {.model = model_.name,
          .node = use.node,
          .op = use.name,
          .source = inside != nullptr ? *inside : use.source,
          .detail = std::move(detail)};
}

FindingPlace RuleRun::place(const DeviceLiteral& literal, std::string detail) const {
  cut(detail, kMaxDetail);
  return {.model = model_.name,
          .node = literal.node,
          .op = literal.op.str(),
          .source = literal.source,
          .detail = std::move(detail)};
}

FindingPlace RuleRun::place(std::string_view node, std::string detail) const {
  cut(detail, kMaxDetail);
  return {.model = model_.name,
          .node = std::string(node),
          .op = {},
          .source = {},
          .detail = std::move(detail)};
}

void RuleRun::notChecked(std::string what, std::string why, std::string how) {
  if (notCheckedSeen_.insert(what + '\0' + why).second) {
    notChecked_.push_back({.what = std::move(what), .why = std::move(why), .how = std::move(how)});
  }
}

void RuleRun::undecidable(std::string what, std::string why, std::string how) {
  if (notCheckedSeen_.insert(what + '\0' + why).second) {
    undecidable_.push_back({.what = std::move(what), .why = std::move(why), .how = std::move(how)});
  }
}

const std::string& RuleRun::tensorText(const TensorValue& tensor) {
  const auto [found, isNew] = tensorTexts_.try_emplace(&tensor);
  std::string& out = found->second;
  if (!isNew) {
    return out;
  }
  constexpr std::size_t kMaxShown = 8;
  constexpr std::size_t kMaxSize = 40;
  out = name(tensor.spec.dtype);
  if (!tensor.spec.hasShape) {
    out += "[?]";
    return out;
  }
  out += '[';
  for (std::size_t i = 0; i < tensor.spec.sizes.size() && i <= kMaxShown; ++i) {
    out += i == 0 ? "" : ", ";
    const SymInt& one = tensor.spec.sizes[i];
    std::string size = i == kMaxShown ? "..." : one.isSymbolic() ? exprText(one.expr) : one.str();
    cut(size, kMaxSize);
    out += size;
  }
  out += ']';
  return out;
}

const std::string& RuleRun::exprText(const SymExprPtr& expr) {
  const auto [found, isNew] = exprTexts_.try_emplace(expr.get());
  if (isNew) {
    found->second = expr->str();
    cut(found->second, kMaxDetail);
  }
  return found->second;
}

SymRange RuleRun::boundsOf(const SymExprPtr& expr) {
  const auto [found, isNew] = bounds_.try_emplace(expr.get());
  if (isNew) {
    found->second = expr->bounds(model_.ranges);
  }
  return found->second;
}

std::string RuleRun::valueText(const ArgValue& value) {
  std::string out;
  if (const auto* one = std::get_if<SymIntValue>(&value);
      one != nullptr && one->value.isSymbolic()) {
    out = exprText(one->value.expr);
  } else if (const auto* list = std::get_if<std::vector<SymIntValue>>(&value)) {
    for (const SymIntValue& each : *list) {
      out += out.empty() ? "[" : ", ";
      out += each.value.isSymbolic() ? exprText(each.value.expr) : each.value.str();
      if (out.size() > kMaxDetail) {
        break;
      }
    }
    out += out.empty() ? "[]" : "]";
  } else if (const TensorValue* tensor = tensorOf(value)) {
    out = tensorText(*tensor);
  } else if (std::holds_alternative<TensorList>(value)) {
    out = "a list of tensors";
  } else {
    out = text(value);
  }
  cut(out, kMaxDetail);
  return out;
}

void RuleRun::describe(std::string& out, std::string_view name, const TensorValue& tensor) {
  out += fmt::format("{}{} is {}", out.empty() ? "" : ", ", name, tensorText(tensor));
}

RuleResults RuleRun::take() {
  RuleResults results;
  for (auto& [key, finding] : findings_) {
    std::set<std::string> targets(finding.targets.begin(), finding.targets.end());
    for (const FindingPlace& place : finding.places) {
      if (!place.op.empty()) {
        targets.insert(place.op);
      }
    }
    finding.targets.assign(targets.begin(), targets.end());
    std::ranges::sort(finding.evidence);
    const auto repeated = std::ranges::unique(finding.evidence);
    finding.evidence.erase(repeated.begin(), repeated.end());
    results.findings.push_back(std::move(finding));
  }
  findings_.clear();
  std::ranges::stable_sort(results.findings, [](const Finding& a, const Finding& b) {
    return std::tuple(b.severity, std::string_view(a.rule)) <
           std::tuple(a.severity, std::string_view(b.rule));
  });
  results.notChecked = std::move(notChecked_);
  std::ranges::move(undecidable_, std::back_inserter(results.notChecked));
  // Evidence that was looked at but led to nothing is left out.
  std::set<std::string> used;
  for (const Finding& finding : results.findings) {
    used.insert(finding.evidence.begin(), finding.evidence.end());
  }
  for (auto& [id, evidence] : evidence_) {
    if (used.contains(id)) {
      results.evidence.emplace(id, std::move(evidence));
    }
  }
  return results;
}

Severity severityOf(SupportStatus status) {
  switch (status) {
    case SupportStatus::Unsupported:
      return Severity::Error;
    case SupportStatus::Partial:
    case SupportStatus::CpuFallback:
      return Severity::Warning;
    case SupportStatus::Native:
    case SupportStatus::Decomposed:
    case SupportStatus::Unknown:
      break;
  }
  return Severity::Note;
}

Severity capped(Severity severity, RowStanding standing) {
  return standing == RowStanding::Later ? std::min(severity, Severity::Warning) : severity;
}

std::string withoutOp(const std::string& sentence, const OpUse& use) {
  for (const std::string_view end : {" ", ": "}) {
    if (const std::string start = use.op.str() + std::string(end); sentence.starts_with(start)) {
      return sentence.substr(start.size());
    }
  }
  return sentence;
}

bool touchesDevice(OpGroup group) { return isDeviceWork(group) || group == OpGroup::ViewOrCopy; }

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string_view functionalBase(std::string_view base) {
  const bool inPlace = base.size() > 1 && base.ends_with('_') && !base.ends_with("__");
  return inPlace ? base.substr(0, base.size() - 1) : base;
}

const TensorValue* tensorOf(const ArgValue& value) {
  const auto* tensor = std::get_if<TensorPtr>(&value);
  return tensor == nullptr ? nullptr : tensor->get();
}

const TensorValue* tensorOf(const Argument* argument) {
  return argument == nullptr ? nullptr : tensorOf(argument->value);
}

std::optional<bool> contiguity(const TensorSpec& spec) {
  return spec.sizes.size() > kMaxRank ? std::nullopt : spec.isContiguous();
}

std::optional<bool> boolOf(const Argument* argument) {
  const auto* value = argument == nullptr ? nullptr : std::get_if<SymBool>(&argument->value);
  if (value == nullptr || value->expr != nullptr) {
    return std::nullopt;
  }
  return value->value;
}

std::string whereText(const OpUse& use) {
  const std::string node = use.node.empty() ? use.op.str() : use.node;
  if (use.source.known()) {
    return fmt::format("{} ({})", node, withoutFolder(use.source).str());
  }
  return use.lastFrame.known()
             ? fmt::format("{} ({}, {})", node, withoutFolder(use.lastFrame).str(), kTorchsOwn)
             : node;
}

}  // namespace neuroncheck::opdb
