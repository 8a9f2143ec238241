// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The text of datasets/numerics/*.tsv, put into the library by the build (rules/embed.cmake).
namespace neuroncheck::numerics::rule_data {

[[nodiscard]] std::string_view opRulesText();
[[nodiscard]] std::string_view companionsText();

}  // namespace neuroncheck::numerics::rule_data
