// SPDX-License-Identifier: Apache-2.0
#include "core/states.h"

#include <algorithm>

#include "core/enum_table.h"

namespace neuroncheck {
namespace {

constexpr EnumWords<8> kClaims{"no-device-work",    "native",      "decomposed", "cpu-fallback",
                               "cpu-fallback-view", "unsupported", "depends",    "unknown"};
constexpr EnumWords<4> kConfidences{"high", "medium", "low", "none"};
constexpr EnumWords<5> kVerdicts{"ready", "ready-unconfirmed", "runs-with-fallback", "unknown",
                                 "blocked"};
constexpr EnumWords<3> kSeverities{"note", "warning", "error"};
constexpr EnumWords<4> kAnswers{"not-checked", "yes", "no", "weak"};

struct CaseStateRow {
  std::string_view word;
  bool pass;
  RunAnswers answers;
};

constexpr Answer kOpen = Answer::NotChecked;
constexpr Answer kYes = Answer::Yes;
constexpr Answer kNo = Answer::No;

// In the order of CaseState: word, is it a pass, and compiles / runs on the device / numbers agree.
// An answer is given only where the state alone proves it: a crash, a timeout or a lack of memory
// may have happened in the compiler or on the device, so "compiles" stays open for them.
constexpr std::array<CaseStateRow, kCaseStateCount> kCaseStates{{
    {"pass", true, {kYes, kYes, kYes}},
    {"pass-weak", true, {kYes, kYes, Answer::Weak}},
    // The numbers came from the CPU: nothing was compiled and the device's own numbers are unknown.
    {"pass-fallback", false, {kOpen, kNo, kOpen}},
    // Explained by a lower precision or by an upstream fault, yet not the right numbers.
    {"degraded", false, {kYes, kYes, kNo}},
    {"as-upstream", false, {kYes, kYes, kNo}},
    {"mistrusted", false, {kYes, kYes, kOpen}},
    {"mismatch", false, {kYes, kYes, kNo}},
    {"nan-inf", false, {kYes, kYes, kNo}},
    {"shape-dtype-mismatch", false, {kYes, kYes, kNo}},
    {"alias-lost", false, {kYes, kYes, kNo}},
    // Refused by the dispatcher or by the backend before anything was compiled.
    {"unsupported", false, {kOpen, kNo, kOpen}},
    {"compile-error", false, {kNo, kOpen, kOpen}},
    {"run-error", false, {kYes, kNo, kOpen}},
    {"crash", false, {kOpen, kNo, kOpen}},
    {"timeout", false, {kOpen, kNo, kOpen}},
    {"oom", false, {kOpen, kNo, kOpen}},
    // The reference failed; what the device did was not looked at.
    {"reference-error", false, {kOpen, kOpen, kOpen}},
    {"not-comparable", false, {kYes, kYes, kOpen}},
    {"skip", false, {kOpen, kOpen, kOpen}},
    {"not-run", false, {kOpen, kOpen, kOpen}},
    // Some failure was expected and came; the word does not say at which stage.
    {"expected-fail", false, {kOpen, kOpen, kOpen}},
    // It ran, but a written expectation says that its numbers cannot be right.
    {"unexpected-pass", false, {kYes, kYes, kOpen}},
    // Two runs disagreed, so at least one of them was wrong.
    {"flake", false, {kOpen, kOpen, kNo}},
    {"order-dependent", false, {kOpen, kOpen, kNo}},
    {"missing", false, {kOpen, kOpen, kOpen}},
}};

const CaseStateRow& row(CaseState state) {
  const auto index = static_cast<std::size_t>(state);
  NEURONCHECK_CHECK(index < kCaseStates.size(), "case state outside the table");
  return kCaseStates.at(index);
}

struct ClaimVerdict {
  Verdict confirmed;
  Verdict unconfirmed;
};

// In the order of Claim. No device work needs no evidence of the device, but what says so may
// itself be weak.
constexpr std::array<ClaimVerdict, 8> kClaimVerdicts{{
    {Verdict::Ready, Verdict::ReadyUnconfirmed},             // NoDeviceWork
    {Verdict::Ready, Verdict::ReadyUnconfirmed},             // Native
    {Verdict::Ready, Verdict::ReadyUnconfirmed},             // Decomposed
    {Verdict::RunsWithFallback, Verdict::RunsWithFallback},  // CpuFallback
    {Verdict::Blocked, Verdict::Blocked},                    // CpuFallbackView
    {Verdict::Blocked, Verdict::Blocked},                    // Unsupported
    {Verdict::Unknown, Verdict::Unknown},                    // Depends
    {Verdict::Unknown, Verdict::Unknown},                    // Unknown
}};

}  // namespace

std::string_view name(Claim claim) { return enumWord(kClaims, claim); }
std::string_view name(Confidence confidence) { return enumWord(kConfidences, confidence); }
std::string_view name(Verdict verdict) { return enumWord(kVerdicts, verdict); }
std::string_view name(Severity severity) { return enumWord(kSeverities, severity); }
std::string_view name(CaseState state) { return row(state).word; }
std::string_view name(Answer answer) { return enumWord(kAnswers, answer); }

std::optional<Claim> parseClaim(std::string_view text) { return enumOf<Claim>(kClaims, text); }
std::optional<Confidence> parseConfidence(std::string_view text) {
  return enumOf<Confidence>(kConfidences, text);
}
std::optional<Verdict> parseVerdict(std::string_view text) {
  return enumOf<Verdict>(kVerdicts, text);
}
std::optional<Severity> parseSeverity(std::string_view text) {
  return enumOf<Severity>(kSeverities, text);
}
std::optional<CaseState> parseCaseState(std::string_view text) {
  const auto* found =
      std::find_if(kCaseStates.begin(), kCaseStates.end(),
                   [text](const CaseStateRow& candidate) { return candidate.word == text; });
  if (found == kCaseStates.end()) {
    return std::nullopt;
  }
  return static_cast<CaseState>(found - kCaseStates.begin());
}

Verdict verdictOf(Claim claim, bool confirmed) {
  const auto index = static_cast<std::size_t>(claim);
  NEURONCHECK_CHECK(index < kClaimVerdicts.size(), "claim outside the table");
  const ClaimVerdict& both = kClaimVerdicts.at(index);
  return confirmed ? both.confirmed : both.unconfirmed;
}

Verdict verdictOf(Severity severity) {
  return severity == Severity::Error ? Verdict::Blocked : Verdict::Ready;
}

Verdict worst(Verdict a, Verdict b) { return std::max(a, b); }

Confidence weakest(Confidence a, Confidence b) { return std::max(a, b); }

RunAnswers answersOf(CaseState state) { return row(state).answers; }

bool isPass(CaseState state) { return row(state).pass; }

}  // namespace neuroncheck
