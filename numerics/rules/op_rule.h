// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace neuroncheck::numerics {

/// How the output of an operator comes about, which decides what "right" means. The letters are
/// those of docs/numerics-rules.md.
enum class OpClass : std::uint8_t {
  Exact,          ///< A: no rounding; bits must agree, up to the payload of NaN
  Rounded,        ///< B: one exact operation, rounded once: add, mul, div, sqrt
  Elementary,     ///< C: a transcendental function, within a number of ulps
  Compound,       ///< D: an elementwise formula of several steps: gelu, softplus
  Reduction,      ///< E: sum, mean, var, norm, cumsum
  Contraction,    ///< F: matrix products and convolutions
  Normalisation,  ///< G: softmax, layer_norm, batch_norm
  Fused,          ///< H: attention, recurrent cells, optimiser steps
  Factorisation,  ///< I: judged by its residual, not by element
  Random,         ///< J: judged by distribution
  Discontinuous,  ///< K: a decision (index, comparison, floor of a computed quotient)
};
inline constexpr std::size_t kOpClassCount = static_cast<std::size_t>(OpClass::Discontinuous) + 1;

/// 'A' to 'K'.
[[nodiscard]] char letter(OpClass opClass);
[[nodiscard]] std::optional<OpClass> parseOpClass(std::string_view letter);
/// "exact", "rounded", ... for reports.
[[nodiscard]] std::string_view name(OpClass opClass);

/// Why an output has no comparable values, whatever the device did.
enum class NotComparable : std::uint8_t {
  No,             ///< it is compared
  Uninitialised,  ///< empty, resize_: the contents are whatever was there
  NoTensor,       ///< the operator has no tensor output
  Unspecified,    ///< a workspace, mask or state only the backward of the same device reads
  Opaque,         ///< an operand is an object of one backend (packed weights)
  NotDense,       ///< sparse or nested
};
inline constexpr std::size_t kNotComparableCount =
    static_cast<std::size_t>(NotComparable::NotDense) + 1;
/// "uninitialised", "no-tensor", ...; empty for No.
[[nodiscard]] std::string_view name(NotComparable reason);

/// How one output of one operator is judged.
///
///   B_exp = roundings u_t |H| + (coefficient + lambda sqrt(k)) u_acc S + eta
///           + (roundings - 1) u_t S_stored
///
/// with t the output's format, k the `length`, S the magnitude companion `companion`. For class C
/// `coefficient` is in ulps of the accumulator at H. u_acc is fp32's, and fp64's for fp64 outputs.
/// H is of scalar arguments rounded to the accumulator's format, as kernels get them.
/// Class K: the same bound of the quantity that is decided, not of the output; companion "none" is
/// a decision on stored operands. Integer and bool outputs are exact in every class but I, J and K.
struct OutputRule {
  OpClass opClass = OpClass::Exact;
  /// k, the number of terms of the longest sum behind one element: an expression over the operands
  /// (rules/length.h). "1" where there is no sum.
  std::string length = "1";
  /// Which S: a word of companions() (rules/op_rules.h): "none", "value", "operands", ...
  std::string companion = "none";
  /// S of a legal formula that cancels more (Quantity::UnstableMagnitude); empty: there is none.
  std::string unstable;
  /// The magnitude of intermediate tensors that a device may store in t, of which there are
  /// roundings - 1: (roundings - 1) u_t times this companion is added to the bound. |H| is not
  /// enough where they cancel, and S is far too much. Empty: nothing is stored on the way.
  std::string stored;
  double coefficient = 0;
  int roundings = 1;
  /// The truth may be one value throughout: factories and masks.
  bool constantAllowed = false;
  /// NaN for finite operands is part of the operator's definition (log of a negative number).
  bool nanAllowed = false;
  NotComparable notComparable = NotComparable::No;
  bool operator==(const OutputRule&) const = default;
};

/// The rule of an operator, with where it comes from.
struct OpRule {
  std::string op;  ///< packet ("aten::add", all its overloads) or one overload ("aten::max.dim")
  std::vector<OutputRule> outputs;  ///< one per tensor output; the last one stands for all further
  std::string source;               ///< paper, PyTorch file or measurement
  bool operator==(const OpRule&) const = default;
};

}  // namespace neuroncheck::numerics
