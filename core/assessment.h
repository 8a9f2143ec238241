// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/inventory.h"
#include "core/states.h"

namespace neuroncheck {

enum class ExecutionMode : std::uint8_t { Eager, Compile };
[[nodiscard]] std::string_view name(ExecutionMode mode);
[[nodiscard]] std::optional<ExecutionMode> parseExecutionMode(std::string_view text);

/// What a model is judged against. Always stated in every report, with what was asked for and what
/// answered.
struct Target {
  std::string product = "torch-neuronx";
  std::string release;           ///< as asked for; empty means the newest of the database
  std::string answeringRelease;  ///< the release whose rows answer first (nearest older one when
                                 ///< `release` is unknown)
  std::string chip = "trn2";     ///< trn1 | trn2 | trn3
  ExecutionMode mode = ExecutionMode::Eager;
  bool releaseKnown = true;  ///< false: the database has no such release, every answer is stale
  bool releaseDefaulted = false;
  bool chipDefaulted = true;
  bool modeDefaulted = true;
};

/// A statement a claim or finding rests on.
struct Evidence {
  std::string id;      ///< stable within one database ("support:42", "rule:NCC_EVRF004",
                       ///< "feature:fused-rnn", "expansion")
  std::string kind;    ///< documented | documented-by-source | measured-by-user | measured |
                       ///< reported-by-user | inferred | conflicting
  std::string source;  ///< file, page or report
  std::string product;
  std::string release;   ///< release it speaks of
  std::string observed;  ///< ISO date, empty when the source has none
  Confidence confidence = Confidence::None;
  bool stale = false;  ///< not of the target release (nor of the same SDK)
  std::string status;  ///< what it says: native, cpu-fallback, ...
  std::string note;
  bool operator==(const Evidence&) const = default;
};

/// One operator the device is really asked for below a use.
struct LeafClaim {
  std::string op;
  std::string times = "1";
  bool always = true;
  Claim claim = Claim::Unknown;
  std::string reason;
  bool operator==(const LeafClaim&) const = default;
};

/// The database's answer for one use.
struct UseClaim {
  std::uint32_t use = 0;  ///< OpUse::id
  Claim claim = Claim::Unknown;
  Confidence confidence = Confidence::None;
  bool stale = false;
  std::int64_t ageDays =
      -1;  ///< age of the weakest evidence at the time of the run; -1 when it has no date
  std::string reason;  ///< one sentence, complete in itself
  std::string
      decidedBy;  ///< for Depends and undecidable predicates: the argument that would decide
  std::string remedy;
  std::vector<LeafClaim> leaves;
  std::vector<std::string> evidence;  ///< Evidence::id
  std::vector<std::string> caveats;   ///< vendor_test and path notes of native rows
  std::vector<std::string> caseIds;   ///< empty while the use is symbolic
};

/// One place a finding points at.
struct FindingPlace {
  std::string model;
  std::string node;
  std::string op;
  SourcePlace source;
  std::string detail;  ///< "input 1 is int64[4, 8]"
  bool operator==(const FindingPlace&) const = default;
};

/// Something to know or do beyond single claims. Ids are stable: NC1xx file, NC2xx operator, NC3xx
/// shape, NC4xx dtype, NC5xx mode or feature, NC6xx source, NC7xx conformance, NC8xx cost
/// (docs/rules.md).
struct Finding {
  std::string rule;
  std::string code;  ///< vendor's code when the rule has one ("NCC_EVRF004")
  Severity severity = Severity::Note;
  std::string title;                 ///< constant per rule
  std::string message;               ///< this occurrence
  std::vector<std::string> targets;  ///< operators concerned
  std::vector<FindingPlace> places;  ///< all places
  std::string remedy;
  std::vector<std::string> evidence;
};

/// A rule of the database that no graph can decide, listed so that it is not taken for passed.
struct NotChecked {
  std::string what;
  std::string why;
  std::string how;  ///< what would check it
  bool operator==(const NotChecked&) const = default;
};

/// Per model: claims of all uses in order of OpUse::id, findings, verdict.
struct ModelAssessment {
  std::string model;
  Verdict verdict = Verdict::Unknown;
  Confidence weakestConfidence = Confidence::High;
  bool anyStale = false;
  std::string decidingEvidence;  ///< Evidence::id of what the verdict rests on: of the claim or
                                 ///< finding that made it what it is; empty when there is none
  std::string weakestEvidence;   ///< Evidence::id of the weakest evidence of any claim; empty when
                                 ///< some claim has none at all
  std::map<Claim, std::int64_t> counts;  ///< uses by claim
  std::vector<UseClaim> uses;
  std::vector<Finding> findings;
  std::vector<NotChecked> notChecked;
};

/// Whether the model's verdict counts for its input. It does not for a method without any operator,
/// unless a finding refuses it.
[[nodiscard]] bool decides(const Model& model, const ModelAssessment& judged);

/// Per input file. `verdict` is the worst of its models that decide, Unknown when none does.
struct Assessment {
  Target target;
  Verdict verdict = Verdict::Unknown;
  std::vector<ModelAssessment> models;
  std::vector<Finding> fileFindings;
  std::map<std::string, Evidence> evidence;
};

}  // namespace neuroncheck
