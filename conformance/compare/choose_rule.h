// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "conformance/compare/compare.h"

namespace neuroncheck::conformance {

/// What a tensor is judged by, as the options say.
struct ChosenRule {
  std::optional<numerics::OutputRule> rule;  ///< absent: no rule, `words` says why
  double length = 1;
  bool estimatesMagnitude = false;  ///< S has to be guessed from the results
  bool isIndex = false;             ///< an index output: ties cannot be seen from indices alone
  std::string words;
};

/// Usage error for text that names no operator, and for a sum whose length nobody gave.
[[nodiscard]] Result<ChosenRule> chooseRule(const std::string& tensor,
                                            const CompareOptions& options);

}  // namespace neuroncheck::conformance
