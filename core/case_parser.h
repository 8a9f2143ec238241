// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/case_spec.h"

/// Parts of the case codec that its text and JSON forms share, and what builds operands from a
/// case.
namespace neuroncheck::case_detail {

/// Bounds of a case, so that a hostile case file costs little.
inline constexpr std::size_t kMaxText = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSteps = 64;
inline constexpr int kMaxListDepth = 8;

/// Checks what neither form can express by syntax and brings the case into its one canonical form:
/// sizes and strides are not negative, as many strides as sizes, literal values as many as
/// elements, an alias names an earlier operand of its step, a result an earlier step, names occur
/// once; contiguous strides are dropped.
[[nodiscard]] Result<CaseSpec> canonical(CaseSpec spec);

/// Tensor operands of a step in written order, elements of lists included.
[[nodiscard]] std::vector<const CaseTensor*> tensorOperands(const CaseStep& step);
/// The operand number of an alias text ("%12" is 12); nullopt for any other text.
[[nodiscard]] std::optional<std::size_t> aliasOperand(std::string_view alias);
/// Same dtype, sizes, strides and offset.
[[nodiscard]] bool sameGeometry(const CaseTensor& a, const CaseTensor& b);

}  // namespace neuroncheck::case_detail
