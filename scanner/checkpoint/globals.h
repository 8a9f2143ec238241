// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/checkpoint.h"

namespace neuroncheck::scanner {

/// Judges a name that a pickle would import. `Data` are the names that torch's weights-only
/// unpickler allows (torch/_weights_only_unpickler.py of torch 2.13), never more.
[[nodiscard]] GlobalRisk riskOf(std::string_view global);

/// Adds names that other pickles of the file ask for to those found in the object's own.
void addGlobals(Checkpoint& checkpoint, const std::set<std::string>& names);

}  // namespace neuroncheck::scanner
