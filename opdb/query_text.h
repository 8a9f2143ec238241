// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opdb/diff.h"
#include "opdb/query.h"

namespace neuroncheck::opdb {

/// One line an operator: name, then "release mode: status" of its rows.
[[nodiscard]] std::string text(const std::vector<OpSummary>& ops);
/// Everything known of the operators, as `db show` prints it.
[[nodiscard]] std::string text(const std::vector<OpDetails>& ops);
/// Changes grouped by kind, one line each, and their numbers.
[[nodiscard]] std::string text(const std::vector<SupportChange>& changes);

}  // namespace neuroncheck::opdb
