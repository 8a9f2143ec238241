// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace neuroncheck::scanner {

/// The lines that make an exported program, by what the user has at hand.
[[nodiscard]] std::string_view remedyFromModel();        ///< the Python code of the model
[[nodiscard]] std::string_view remedyFromWeights();      ///< weights of it in a torch.save file
[[nodiscard]] std::string_view remedyFromSafetensors();  ///< weights of it in a safetensors file
[[nodiscard]] std::string_view remedyFromPretrained();   ///< a Hugging Face folder

}  // namespace neuroncheck::scanner
