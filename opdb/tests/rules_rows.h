// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opdb/tests/rules_case.h"

namespace neuroncheck::opdb::test {

/// One row of the vendor's compiler rules: arguments on which each of its operators is refused, and
/// on which none is.
struct RowCase {
  std::string code;
  std::string firstTarget;  ///< with `code` the key of the row
  std::string rule;
  Severity severity = Severity::Error;
  InventoryBuilder::Given fires;
  InventoryBuilder::Given near;
  std::string chip;

  /// For rows that refuse an operator whatever its arguments: the near miss is another operator.
  static InventoryBuilder::Given other() { return {{"", NoneValue{}}}; }
  [[nodiscard]] bool nearIsOther() const { return near.contains(""); }
};
std::vector<RowCase> rowCases();
/// Overloads of the catalogue that a row names, out= forms left out.
[[nodiscard]] std::vector<std::string> operatorsOf(const CompilerRule& rule);

}  // namespace neuroncheck::opdb::test
