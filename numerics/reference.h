// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/dtype.h"
#include "core/result.h"

namespace neuroncheck::numerics {

/// Other arithmetics that would explain a result, in the order they are tried: the smaller
/// deviation from the declared arithmetic first. docs/verdicts.md says what each means and which
/// compiler flag or environment variable changes it.
enum class HypothesisId : std::uint8_t {
  None,
  RoundTowardZero,           ///< the output truncated
  StochasticRounding,        ///< the output rounded up or down by chance
  Float16Output,             ///< the output rounded to fp16 before it was stored
  TFloat32Output,            ///< the output rounded to tf32 before it was stored
  BFloat16Output,            ///< the output rounded to bf16 before it was stored
  FlushSubnormalOutputs,     ///< subnormal results become zero
  FlushSubnormalInputs,      ///< subnormal operands read as zero
  SaturatedInfinity,         ///< the largest finite number instead of infinity
  NanSpread,                 ///< NaN or infinity spread along a row or column by a matrix product
  TFloat32Inputs,            ///< operands rounded to tf32
  BFloat16Inputs,            ///< operands rounded to bf16
  Float16Inputs,             ///< operands rounded to fp16
  Float16Accumulation,       ///< partial sums rounded to fp16
  BFloat16TileAccumulation,  ///< the partial sum of each 128-element tile rounded to bf16 (PSUM)
  BFloat16Accumulation,      ///< every partial sum rounded to bf16
  IntegerThroughFloat32,     ///< integers computed in fp32, exact up to 2^24
  Int64AsInt32,              ///< 64-bit integers narrowed to 32 bits, wrapping
};
inline constexpr std::size_t kHypothesisCount =
    static_cast<std::size_t>(HypothesisId::Int64AsInt32) + 1;

/// What a Reference is asked for. Every quantity has the shape of the output it speaks of; complex
/// outputs as components, with a last dimension of 2.
enum class Quantity : std::uint8_t {
  Truth,      ///< H: the operator evaluated in fp64 on the very input bits the device had
  Magnitude,  ///< S: the operator evaluated on absolute values, what its sums cancel from
  /// S of a legal formula that cancels more than the best one: var as mean(x^2) - mean(x)^2.
  /// Not offered where an operator has one formula only.
  UnstableMagnitude,
  /// Magnitude of the intermediate tensors that a device may store in the output's dtype
  /// (OutputRule::stored); asked for where a rule has more than one rounding.
  StoredMagnitude,
  /// The other legal result of a decision whose operands are closer than their bound (floor of a
  /// quotient next to an integer); NaN where there is one legal result only. Integer outputs: the
  /// truth itself where there is one only.
  Alternative,
  CpuSameDType,     ///< what the CPU returns in the output's dtype; evidence, never a yardstick
  Emulated,         ///< inputs -> fp32 operator -> rounded to the output's dtype
  HypothesisValue,  ///< H of another arithmetic; which one is Request::hypothesis
  /// Largest |value before output rounding - HypothesisValue| it allows: for coarse accumulators
  /// 4 u sqrt(sum of the squares of what is rounded), four deviations, not a worst case. Errors far
  /// smaller than it are no evidence for the hypothesis.
  HypothesisBound,
};

struct Request {
  Quantity what = Quantity::Truth;
  HypothesisId hypothesis{};  ///< for the last two quantities
  bool operator==(const Request&) const = default;
};

/// Where truth comes from: naive kernels in tests, tensors of a file in `compare`, a worker in a
/// run. `numerics/` only sees this. Indices are row-major over the output's sizes (asReal()).
class Reference {
 public:
  Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  virtual ~Reference() = default;

  [[nodiscard]] virtual bool offers(const Request& request) const = 0;
  /// Elements [first, first + out.size()) of a quantity that offers() said yes to. An Error ends
  /// the comparison as `reference-error`.
  [[nodiscard]] virtual Result<void> evaluate(const Request& request, std::int64_t first,
                                              std::span<double> out) = 0;
  /// The same for integer and bool outputs, exact; only Truth, Alternative and
  /// HypothesisValue are asked for.
  /// uint64 by its bits. Fails by default: an operator with integer results offers it.
  [[nodiscard]] virtual Result<void> evaluateIntegers(const Request& request, std::int64_t first,
                                                      std::span<std::int64_t> out);
  /// Elements [first, first + count) of the truth as stored, where it is stored in `dtype`
  /// (complex: the component's): an exact operator is then compared by its bytes. Empty by default.
  [[nodiscard]] virtual std::span<const std::byte> truthBytes(DType dtype, std::int64_t first,
                                                              std::int64_t count);
  /// Another reader of the same values, for another thread; this one must outlive it. Null by
  /// default: one thread reads then.
  [[nodiscard]] virtual std::unique_ptr<Reference> share() const { return nullptr; }
  /// Memory the truth is read from, where it is read from memory: a result in the same place is
  /// compared with itself.
  [[nodiscard]] virtual std::span<const std::byte> storage() const { return {}; }
};

}  // namespace neuroncheck::numerics
