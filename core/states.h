// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace neuroncheck {

/// What the database claims of one operator use on the target. See docs/claims.md for the rules
/// behind each.
enum class Claim : std::uint8_t {
  NoDeviceWork,     ///< nothing reaches the device (metadata, guards, dropout in eval)
  Native,           ///< a kernel or lowering of the release
  Decomposed,       ///< rewritten into operators that are all native
  CpuFallback,      ///< computed on the CPU, silently by default
  CpuFallbackView,  ///< a view computed by a copy: writes through it are lost
  Unsupported,      ///< raises or is refused
  Depends,          ///< on an argument that is not known; the argument is named
  Unknown,          ///< no evidence either way
};

/// How far the evidence behind a claim can be trusted.
enum class Confidence : std::uint8_t { High, Medium, Low, None };

/// The word of a model, worst wins in this order.
enum class Verdict : std::uint8_t { Ready, ReadyUnconfirmed, RunsWithFallback, Unknown, Blocked };

enum class Severity : std::uint8_t { Note, Warning, Error };

/// State of a conformance case. Only Pass and PassWeak are passes.
enum class CaseState : std::uint8_t {
  Pass,
  PassWeak,
  PassFallback,
  Degraded,
  AsUpstream,
  Mistrusted,
  Mismatch,
  NanInf,
  ShapeDtypeMismatch,
  AliasLost,
  Unsupported,
  CompileError,
  RunError,
  Crash,
  Timeout,
  Oom,
  ReferenceError,
  NotComparable,
  Skip,
  NotRun,
  ExpectedFail,
  UnexpectedPass,
  Flake,
  OrderDependent,
  Missing,
};
inline constexpr std::size_t kCaseStateCount = static_cast<std::size_t>(CaseState::Missing) + 1;

/// One of the four answers about a use: claimed, compiles, runs on the device, numbers agree.
enum class Answer : std::uint8_t { NotChecked, Yes, No, Weak };

/// What a case state says of the three run-time answers.
struct RunAnswers {
  Answer compiles = Answer::NotChecked;
  Answer runsOnDevice = Answer::NotChecked;
  Answer numbersAgree = Answer::NotChecked;
  bool operator==(const RunAnswers&) const = default;
};

[[nodiscard]] std::string_view name(Claim claim);
[[nodiscard]] std::string_view name(Confidence confidence);
[[nodiscard]] std::string_view name(Verdict verdict);
[[nodiscard]] std::string_view name(Severity severity);
[[nodiscard]] std::string_view name(CaseState state);
[[nodiscard]] std::string_view name(Answer answer);
[[nodiscard]] std::optional<Claim> parseClaim(std::string_view text);
[[nodiscard]] std::optional<Confidence> parseConfidence(std::string_view text);
[[nodiscard]] std::optional<Verdict> parseVerdict(std::string_view text);
[[nodiscard]] std::optional<Severity> parseSeverity(std::string_view text);
[[nodiscard]] std::optional<CaseState> parseCaseState(std::string_view text);

/// The verdict one claim alone leads to. `confirmed` is false when its evidence is stale or of low
/// confidence. `Depends` and `Unknown` lead to Unknown, never to a better word.
[[nodiscard]] Verdict verdictOf(Claim claim, bool confirmed);
/// The verdict one finding alone leads to: only Severity::Error lowers it (to Blocked).
[[nodiscard]] Verdict verdictOf(Severity severity);
[[nodiscard]] Verdict worst(Verdict a, Verdict b);
[[nodiscard]] Confidence weakest(Confidence a, Confidence b);
/// The table from case state to the four answers; the claim is a separate answer and not in it.
[[nodiscard]] RunAnswers answersOf(CaseState state);
[[nodiscard]] bool isPass(CaseState state);

}  // namespace neuroncheck
