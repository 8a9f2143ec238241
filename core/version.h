// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace neuroncheck {

/// Name and version of the program, as every document and report states it: "neuron-check 0.1.0".
[[nodiscard]] std::string_view toolName();

}  // namespace neuroncheck
