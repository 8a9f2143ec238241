// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/case_spec.h"
#include "core/schema.h"
#include "numerics/fill/legality_table.h"

namespace neuroncheck::conformance {

/// The arguments of one step by the names of the operator's schema.
class CaseArguments {
 public:
  /// `schema` may be null: then only named arguments have names. Both must outlive this.
  CaseArguments(const CaseStep& step, const FunctionSchema* schema);

  /// The value given for an argument; null when the case leaves it out.
  [[nodiscard]] const CaseValue* find(std::string_view name) const;
  /// An integer (a bool counts as one), from the case or the schema's default.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  /// The same of any real number.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// The sizes of a tensor argument; nullopt for any other.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> sizes(std::string_view name) const;
  /// The name of the argument that was written at a place, empty where it is not known.
  [[nodiscard]] const std::string& argumentName(std::size_t place) const { return names_[place]; }
  /// The argument that each tensor operand belongs to, in the order of OperandLayout; empty where
  /// it is not known.
  [[nodiscard]] const std::vector<std::string>& ofOperands() const { return ofOperands_; }
  [[nodiscard]] numerics::OperandFacts facts() const;

 private:
  void name(const CaseValue& value, const std::string& argument);

  const CaseStep& step_;
  const FunctionSchema* schema_;
  std::vector<std::string> names_;  ///< of step_.args
  std::vector<std::string> ofOperands_;
};

}  // namespace neuroncheck::conformance
