// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/options.h"
#include "core/result.h"

namespace neuroncheck::cli {

/// Fills options that were not given on the command line from a `neuron-check.toml`. Keys: release,
/// chip, mode, fail-on, format, color, db; `fail-on` may be a list. A missing file changes nothing.
/// A key it does not know, a value of the wrong type, or text that is no TOML is a Usage error that
/// names file, line and key. A relative `db` is relative to the file.
[[nodiscard]] Result<void> applyConfig(const std::string& path, Options& options);

/// The name looked for in the working folder.
inline constexpr const char* kConfigFile = "neuron-check.toml";

}  // namespace neuroncheck::cli
