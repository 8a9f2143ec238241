// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/result.h"

namespace neuroncheck::sim {

/// What happens to an operator that is not native.
enum class FallbackPolicy : std::uint8_t { Silent, Warn, WarnAlways, Raise };
/// What neuron_sim_take_log tells: names with counts, names, or nothing.
enum class Lists : std::uint8_t { Counts, Sets, None };
/// What happens when a native operator is refused.
enum class OnFailure : std::uint8_t { Raise, Cpu };
enum class Phase : std::uint8_t { Any, Forward, Backward };
/// Whose strides are ignored.
enum class Side : std::uint8_t { All, Read, Written };
/// The exception that a failure is, as Python shows it.
enum class ErrorType : std::uint8_t {
  Runtime,
  NotImplemented,
  Index,
  Value,
  Type,
  LinAlg,
  OutOfMemory
};

/// README.md of this folder says what each does.
enum class FaultKind : std::uint8_t {
  // Before the operator runs, or in place of it.
  Error,
  LateError,
  FallbackRaises,
  Segv,
  Abort,
  Exit,
  Sigkill,
  StackOverflow,
  Hang,
  HangWithOutput,
  Slow,
  Oom,
  Leak,
  Poison,
  // The operator runs in another way.
  SilentCpu,
  IgnoreStrides,
  NoopInplace,
  BFloat16Inputs,
  Float16Inputs,
  TFloat32Inputs,
  FlushInputs,
  Truncation,
  StochasticRounding,
  IntThroughFloat,
  Int64AsInt32,
  BFloat16Accumulation,
  BFloat16TileAccumulation,
  Float16Accumulation,
  // The result is changed.
  WrongValue,
  WrongOneElement,
  WrongGradient,
  Nan,
  Infinite,
  InfToMax,
  NanSpread,
  Zeros,
  Uninitialised,
  StaleOutput,
  BFloat16Output,
  Float16Output,
  TFloat32Output,
  FlushOutputs,
  Shape0,
  EmptyOutput,
  WrongShape,
  WrongDtype,
  WrongStrides,
  AliasLost,
  AliasOutput,
  MutatesInput,
  // Another kind, at certain times.
  Flaky,
  OrderDependent,
};

[[nodiscard]] std::string_view name(FaultKind kind);
[[nodiscard]] inline bool isBeforeRun(FaultKind kind) { return kind <= FaultKind::Poison; }
[[nodiscard]] inline bool isOtherRun(FaultKind kind) {
  return kind > FaultKind::Poison && kind <= FaultKind::Float16Accumulation;
}

/// Which calls of an operator are meant. Every condition that is set must hold, for one and the
/// same tensor operand.
struct Selector {
  std::string packet;                   ///< "aten::add"
  std::optional<std::string> overload;  ///< empty text is the default overload; absent for any
  std::string dtype;                    ///< torch's name, empty for any
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::int64_t> minRank;
  std::optional<std::pair<std::int64_t, std::int64_t>> dimAtLeast;  ///< dimension, size
  bool noncontiguous = false;

  [[nodiscard]] bool asksOperand() const {
    return !dtype.empty() || shape || minRank || dimAtLeast || noncontiguous;
  }
};

struct Failure {
  std::string message;
  ErrorType type = ErrorType::Runtime;
  bool compiler = false;  ///< the compiler refused, not the runtime
};

struct Refusal {
  Selector calls;
  Failure failure;
};

struct Fault {
  FaultKind kind = FaultKind::WrongValue;  ///< for Flaky and OrderDependent, what `as` says
  Selector calls;
  Phase phase = Phase::Any;
  std::optional<double> probability;
  std::optional<std::int64_t> nth;  ///< counted from 1
  std::string after;                ///< fires only once this operator has run
  bool perProcess = false;          ///< one decision a process, not one a call
  Failure failure;                  ///< for the kinds that raise
  int exitCode = 7;
  std::int64_t milliseconds = 100;
  std::int64_t mebibytes = 512;
  std::int64_t ulps = 0;                ///< 0: far off
  std::optional<std::int64_t> element;  ///< row-major
  Side operands = Side::All;            ///< for ignore-strides
  bool garbage = false;                 ///< a poisoned device gives garbage instead of raising
};

/// What a native element-wise operator gives where its first operand has a special value.
struct SpecialValue {
  enum class When : std::uint8_t { Nan, Infinite, MinusInfinite, Zero };
  Selector calls;
  When when = When::Nan;
  double becomes = 0;
};

struct Profile {
  std::unordered_set<std::string> native;  ///< overloads and packets
  bool allNative = false;
  std::unordered_set<std::string> unsupported;
  FallbackPolicy fallback = FallbackPolicy::Silent;
  bool fallbackCopies = false;
  OnFailure onFailure = OnFailure::Raise;
  std::vector<Refusal> refuse;
  std::vector<Fault> faults;
  std::vector<SpecialValue> specialValues;
  bool narrowInt64 = false;
  bool narrowFloat64 = false;
  bool wideArithmetic = false;
  bool latchAfterCompileError = false;
  bool async = false;
  Lists lists = Lists::Counts;
  std::int64_t seed = 0;
  std::string counterFile;
};

/// Reads a profile (docs/schemas/sim-profile-1.schema.json). Input error that names the field.
[[nodiscard]] Result<Profile> parseProfile(std::string_view json);

}  // namespace neuroncheck::sim
