// SPDX-License-Identifier: Apache-2.0
#include "opdb/claims_judgement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "opdb/query.h"

namespace neuroncheck::opdb {
namespace {

/// "torch 2.13.0" and "2.10" speak of the same torch when the first two numbers are equal.
bool sameTorch(std::string_view catalogue, std::string_view release) {
  const auto start = catalogue.find_first_of("0123456789");
  if (start == std::string_view::npos) {
    return false;
  }
  const auto a = VersionNumbers::parse(catalogue.substr(start));
  const auto b = VersionNumbers::parse(release);
  return a && b && a->numbers.size() >= 2 && b->numbers.size() >= 2 &&
         a->numbers[0] == b->numbers[0] && a->numbers[1] == b->numbers[1];
}

}  // namespace

int severity(Claim claim) {
  switch (claim) {
    case Claim::NoDeviceWork:
      return 0;
    case Claim::Native:
      return 1;
    case Claim::Decomposed:
      return 2;
    case Claim::CpuFallback:
      return 3;
    case Claim::Depends:
      return 4;
    case Claim::Unknown:
      return 5;
    case Claim::CpuFallbackView:
      return 6;
    case Claim::Unsupported:
      return 7;
  }
  return 7;
}

int bucket(Claim claim) { return static_cast<int>(verdictOf(claim, true)); }

Claim claimOf(SupportStatus status) {
  switch (status) {
    case SupportStatus::Native:
      return Claim::Native;
    case SupportStatus::Decomposed:
      return Claim::Decomposed;
    case SupportStatus::CpuFallback:
      return Claim::CpuFallback;
    case SupportStatus::Unsupported:
      return Claim::Unsupported;
    case SupportStatus::Unknown:
    case SupportStatus::Partial:
      return Claim::Unknown;
  }
  return Claim::Unknown;
}

void addUnique(std::vector<std::string>& list, const std::string& item) {
  if (!item.empty() && std::ranges::find(list, item) == list.end()) {
    list.push_back(item);
  }
}

void mergeEvidence(Judgement& to, const Judgement& from) {
  for (const std::string& id : from.used) {
    addUnique(to.used, id);
  }
  for (const std::string& id : from.shown) {
    addUnique(to.shown, id);
  }
}

EvidenceBook::EvidenceBook(const Database& database, const Target& target, std::string today)
    : releases_(database, target),
      catalogue_(database.catalogueVersion()),
      today_(std::move(today)) {
  const Release* answering = releases_.answering();
  if (answering == nullptr || !sameTorch(catalogue_, answering->torch)) {
    catalogueConfidence_ = Confidence::Medium;
  }
}

std::string EvidenceBook::addRow(const SupportRow& row) {
  std::string id = fmt::format("support:{}", row.id);
  const Release* release = releases_.find(row.release);
  evidence_.try_emplace(
      id, Evidence{
              .id = id,
              .kind = row.evidence,
              .source = row.source,
              .product = row.product,
              .release = row.release,
              .observed = row.observed.empty() && release != nullptr ? release->date : row.observed,
              .confidence = row.confidence,
              .stale = releases_.standing(row.release).stale,
              .status = std::string(name(row.status)),
              .note = row.note});
  return id;
}

std::string EvidenceBook::addFeature(const FeatureRow& feature) {
  std::string id = "feature:" + feature.id;
  const Release* release = releases_.find(feature.release);
  const std::string date = release == nullptr ? std::string() : release->date;
  evidence_.try_emplace(id,
                        Evidence{.id = id,
                                 .kind = feature.evidence,
                                 .source = feature.source,
                                 .product = release == nullptr ? std::string() : release->product,
                                 .release = feature.release,
                                 .observed = feature.observed.empty() ? date : feature.observed,
                                 .confidence = feature.confidence,
                                 .stale = releases_.standing(feature.release).stale,
                                 .status = std::string(name(feature.status)),
                                 .note = feature.message});
  return id;
}

std::string EvidenceBook::addExpansion(const OpName& op, std::string_view source) {
  std::string id = "expansion:" + op.str();
  evidence_.try_emplace(id,
                        Evidence{.id = id,
                                 .kind = "measured",
                                 .source = source.empty() ? "one-level expansions of " + catalogue_
                                                          : std::string(source),
                                 .product = "torch",
                                 .release = catalogue_,
                                 .observed = {},
                                 .confidence = catalogueConfidence_,
                                 .stale = false,
                                 .status = "composite",
                                 .note = "recorded on a backend with no kernels of its own"});
  return id;
}

std::string EvidenceBook::addAbsence(const Release& release) {
  std::string id = "registrations:" + release.name;
  evidence_.try_emplace(id, Evidence{.id = id,
                                     .kind = "inferred",
                                     .source = fmt::format("list of registrations of {} {}",
                                                           release.product, release.name),
                                     .product = release.product,
                                     .release = release.name,
                                     .observed = release.date,
                                     .confidence = Confidence::Low,
                                     .stale = releases_.standing(release.name).stale,
                                     .status = "not registered",
                                     .note = release.note});
  return id;
}

void EvidenceBook::rate(UseClaim& claim, const std::vector<std::string>& used) const {
  claim.stale = false;
  claim.ageDays = -1;
  if (used.empty()) {
    claim.confidence =
        severity(claim.claim) < severity(Claim::Depends) ? Confidence::High : Confidence::None;
    return;
  }
  Confidence least = Confidence::High;
  for (const std::string& id : used) {
    const Evidence& evidence = evidence_.at(id);
    least = weakest(least, evidence.confidence);
    claim.stale = claim.stale || evidence.stale;
  }
  // What an unknown claim looked at decides nothing.
  claim.confidence = claim.claim == Claim::Unknown ? Confidence::None : least;
  // The age is that of the weakest evidence; among equally weak ones the oldest counts.
  for (const std::string& id : used) {
    const Evidence& evidence = evidence_.at(id);
    if (evidence.confidence == least) {
      claim.ageDays = std::max(claim.ageDays, daysBetween(evidence.observed, today_));
    }
  }
}

}  // namespace neuroncheck::opdb
