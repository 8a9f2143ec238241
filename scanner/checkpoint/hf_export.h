// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "scanner/checkpoint/hf_config.h"

namespace neuroncheck::scanner {

/// The Python lines that export the model of a Hugging Face folder: its own class where its model
/// type is one of transformers that we know, else the auto class for its architecture's name;
/// example inputs of the kind it takes, with sizes from its configuration. Code of the folder is
/// never run by them: where the class is such code, the words say so instead.
///
/// Names from the folder stand in the lines only as identifiers or as string literals.
[[nodiscard]] std::string exportLines(const std::string& folder, const HfConfig& config);

}  // namespace neuroncheck::scanner
