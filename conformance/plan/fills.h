// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/plan/case_arguments.h"
#include "core/case_operands.h"
#include "core/result.h"
#include "numerics/fill/fill.h"
#include "numerics/rules/op_rule.h"

namespace neuroncheck::conformance {

/// One fill that a case is run with.
struct FillChoice {
  numerics::FillId fill = numerics::FillId::Normal;
  int variant = 0;
  bool exact = false;    ///< every sum of it is exact in the accumulator
  bool special = false;  ///< NaN and infinity are among it on purpose
  /// "G3.0", part of the attempt's seed.
  [[nodiscard]] std::string str() const;
  bool operator==(const FillChoice&) const = default;
};

/// Whether every step but the last moves, makes or copies numbers and rounds none: what the last
/// one had is then known without the device. A cast rounds.
[[nodiscard]] bool movesOnly(const CaseSpec& spec);

/// The fills that the class of an operator needs (docs/numerics.md), the most telling first: exact
/// integers and both signs for sums, specials and domain edges for functions, codes of positions
/// for what moves values. One fill for a case without floating-point operands.
[[nodiscard]] std::vector<FillChoice> fillsFor(const CaseSpec& spec, const numerics::OpRule* rule);

/// Writes the storage of every root operand of a step to where `offsets` says, within `memory`.
/// Elements that no operand reaches are filled with a pattern that shows when it is read: NaN, or
/// the highest integer. Literal values are written as they are. Input error that names the operand
/// when nothing legal can be made.
[[nodiscard]] Result<void> fillOperands(const CaseArguments& arguments, const CaseStep& step,
                                        const OperandLayout& layout,
                                        std::span<const std::uint64_t> offsets,
                                        const FillChoice& choice, std::uint64_t seed,
                                        std::span<std::byte> memory);

}  // namespace neuroncheck::conformance
