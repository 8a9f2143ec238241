// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opdb/database.h"

namespace neuroncheck::opdb {

/// The name of the JSON form of support rows.
inline constexpr std::string_view kSupportSchema = "neuron-check/support/1";

/// The support rows of a product (empty: all) and release (empty: all), in order of id.
[[nodiscard]] std::vector<SupportRow> exportedRows(const Database& database,
                                                   std::string_view product,
                                                   std::string_view release);
/// The columns of our own data files. `importTable` reads both forms back to equal rows.
[[nodiscard]] std::string exportCsv(const std::vector<SupportRow>& rows);
[[nodiscard]] std::string exportJson(const std::vector<SupportRow>& rows);

}  // namespace neuroncheck::opdb
