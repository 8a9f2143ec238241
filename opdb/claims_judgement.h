// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/assessment.h"
#include "opdb/database.h"
#include "opdb/lookup.h"

namespace neuroncheck::opdb {

/// An answer inside the engine: a UseClaim before confidence, age and cases are worked out.
struct Judgement {
  Claim claim = Claim::Unknown;
  std::string reason;
  std::string decidedBy;
  std::string remedy;
  std::vector<LeafClaim> leaves;
  std::vector<std::string> used;  ///< ids of the evidence the claim rests on
  std::vector<std::string>
      shown;  ///< ids of evidence that says something else, or less, and is shown beside
  std::vector<std::string> caveats;
};

/// Order in which the worst of several claims is taken: no device work, native, decomposed,
/// cpu-fallback, depends, unknown, cpu-fallback-view, unsupported.
[[nodiscard]] int severity(Claim claim);
/// Claims of equal bucket lead to the same verdict when confirmed: a child that is not worse by
/// bucket changes nothing.
[[nodiscard]] int bucket(Claim claim);
[[nodiscard]] Claim claimOf(SupportStatus status);

/// Adds what `from` rests on to `to`, without repeating anything.
void mergeEvidence(Judgement& to, const Judgement& from);
void addUnique(std::vector<std::string>& list, const std::string& item);

/// Everything the claims given so far rest on, by id.
class EvidenceBook {
 public:
  EvidenceBook(const Database& database, const Target& target, std::string today);

  /// Each enters the evidence (once) and returns its id.
  std::string addRow(const SupportRow& row);
  std::string addFeature(const FeatureRow& feature);
  std::string addExpansion(const OpName& op, std::string_view source);
  /// The statement "this list of registrations is complete and does not have the operator".
  std::string addAbsence(const Release& release);

  [[nodiscard]] const std::map<std::string, Evidence>& all() const { return evidence_; }
  /// Confidence, staleness and age of a claim that rests on `used`; a claim that needs no evidence
  /// is of high confidence unless it is unknown.
  void rate(UseClaim& claim, const std::vector<std::string>& used) const;
  [[nodiscard]] const ReleaseOrder& releases() const { return releases_; }

 private:
  ReleaseOrder releases_;
  std::string catalogue_;
  std::string today_;
  Confidence catalogueConfidence_ = Confidence::High;
  std::map<std::string, Evidence> evidence_;
};

}  // namespace neuroncheck::opdb
