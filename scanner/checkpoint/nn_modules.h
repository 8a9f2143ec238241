// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace neuroncheck::scanner {

/// Operator packets that the forward of a torch.nn class calls, whatever its arguments
/// (torch/nn/modules of torch 2.13); empty for containers and for classes that are not listed. An
/// approximation: what a model's own forward does between its modules is code, and is not in the
/// file.
[[nodiscard]] std::span<const std::string_view> impliedOperators(std::string_view className);

/// Whether the class is one of torch.nn that the list above knows, containers included.
[[nodiscard]] bool isListedModule(std::string_view className);

}  // namespace neuroncheck::scanner
